// A platform's text, imported as a machine that is otherwise like a shipped one.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

inline Import import_platform(std::string_view format, std::string text, std::string like) {
    const std::array files{SourceFile{"platform", std::move(text)}};
    const Format& found = format_of(files, "");
    EXPECT_EQ(found.name, format);
    FormatOptions options;
    options.like = std::move(like);
    return import_files(found, files, options);
}

inline Machine machine_of(const Import& import) { return Machine::read(import.object.document("platform")); }

// What it is refused with.
inline std::string platform_refusal(std::string_view format, std::string text, std::string like = "dgx-h100") {
    try {
        import_platform(format, std::move(text), std::move(like));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "taken";
}

inline double latency_between(const Topology& topology, std::uint32_t a, std::uint32_t b) {
    double latency = 0;
    const Route route = topology.route(RankId{a}, RankId{b});
    for (const LinkId link : route.links()) latency += topology.link(link).latency.value;
    return latency;
}

// One-way bandwidth and latency of a class of link.
inline LinkClass link_class_of(const Topology& topology, std::string_view name) {
    for (const LinkClass& each : topology.classes) {
        if (each.name == name) return each;
    }
    ADD_FAILURE() << "no class " << name;
    return {};
}

}  // namespace weft
