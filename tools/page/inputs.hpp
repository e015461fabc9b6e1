// What a job was made from, and where the constants in it come from.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// The job as it was asked for.
struct JobInput {
    std::string command;                 // "weft simulate JOB --set ..."
    std::string text;                    // JSON, overrides applied
    std::filesystem::path folder = {};   // from which it names files
    std::vector<FormatNote> notes = {};  // on a file of another tool that it was read from
};

struct Source {
    std::string file;  // "topologies/machines/frontier.json", or the path that the job names
    std::string what;  // "links.slingshot.nic.latency"; empty: the file as a whole
    std::string text;
};

// As a list under a line; nothing where there are none. HTML.
std::string note_list(std::span<const FormatNote> notes);

// Every "source" in the files of the machine, the device and the model that the job names, in the files' order. Of
// files that have none, and of a model inside the job, nothing.
std::vector<Source> sources(const JobInput& job, const Plan& plan);

// What a simulation was made from: the job, the resolved inputs, and where their constants come from.
std::string input_tables(const Simulation& simulation, const JobInput& input);  // HTML

}  // namespace weft
