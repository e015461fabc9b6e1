// Every kind of input that weft reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::test {

enum class Syntax : std::uint8_t { json, text };

struct InputKind {
    std::string name;  // "job"
    Syntax syntax{};
    std::vector<std::string> seeds;  // that can be read
    // Reads it and goes on with what was read as far as that is cheap. Throws ConfigError, RangeError and
    // std::invalid_argument to refuse it; whatever else it throws is a fault.
    std::function<void(const std::string& text)> read;
    std::size_t weight = 1;  // how often it is drawn
};

// Of a machine or a model file, as InputKind::read.
void read_machine(const std::string& text);
void read_model(const std::string& text);

std::vector<InputKind> job_inputs();      // jobs, overrides, what is posted to a server
std::vector<InputKind> machine_inputs();  // machines, devices, models, tuners
std::vector<InputKind> table_inputs();    // measurements, node lists, sweeps and their rows, validation sets
std::vector<InputKind> foreign_inputs();  // files of other tools

}  // namespace weft::test
