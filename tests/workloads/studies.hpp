// Jobs for tests, from JSON text.
#pragma once

#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/refusal.hpp"
#include "workloads/job/job.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft::test {

// A small job on Frontier, where all machines are alike and the host is never in the way; `overrides` as on the command
// line.
inline Study small_study(const std::vector<std::string>& overrides = {}, Purpose purpose = Purpose::simulation,
                         const StudySources& sources = StudySources()) {
    Document document = Document::parse("small.json", R"({
        "machine": "frontier",
        "model": {"layers": 8, "hidden": 1024, "heads": 16, "vocabulary": 50257},
        "framework": "megatron",
        "layout": {"tensor": 2, "pipeline": 4, "data": 2},
        "batch": {"sequence": 1024, "micro": 1, "global": 32},
        "precision": "fp16",
        "faults": {"spread": 0}
    })");
    for (const std::string& assignment : overrides) document.assign(assignment);
    Study study = read_study(std::move(document), purpose, sources);
    study.device.host_launch = {};
    return study;
}

// What is wrong with the small job under one more assignment; empty if nothing is.
inline std::string mistakes(const std::string& assignment) {
    return refusal_of([&] { small_study({assignment}); });
}

// What is wrong at a key of the small job with these; empty if nothing is.
inline std::string mistake_at(const std::vector<std::string>& overrides, const std::string& key) {
    try {
        small_study(overrides);
    } catch (const ConfigError& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            if (diagnostic.key == key) return diagnostic.message;
        }
    }
    return "";
}

}  // namespace weft::test
