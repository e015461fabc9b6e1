// Measurements of compute behind a device's fitted constants: published layer or step times, less what in them is not
// kernels, beside what the constants make of the same kernels. Those under "fit" in the device file set the constants;
// those under "check" did not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"

namespace weft {

enum class Use : std::uint8_t { fit, check };
enum class Timed : std::uint8_t { forward, backward, attention_core, forward_backward, forward_twice_backward };

struct Measurement {
    Use use{};
    std::string name;
    std::string source;
    Transformer model;
    Shard shard;
    Precision precision = Precision::fp16;
    Timed timed{};
    std::uint32_t layers = 1;
    bool head = false;     // final norm, logits and loss are in it, forward and backward
    bool dropout = false;  // after attention (on the probabilities where they are materialised) and MLP
    Seconds measured;
    Seconds other;      // of it: communication, pipeline bubble, optimizer, as the source text derives it
    Seconds predicted;  // as written in the file, to two or three digits

    Seconds kernels() const { return measured - other; }
};

// Both lists of a device object; absent lists are empty.
std::vector<Measurement> read_measurements(Field& device);
std::vector<Measurement> device_measurements(std::string_view device);  // of a shipped device; throws ConfigError

// The time of the measured kernels on `device`.
Seconds predict(const Device& device, const Measurement& measurement);

}  // namespace weft
