#include "topologies/blocks/link_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/io/sourced.hpp"

namespace weft {

namespace {

LinkClass read_class(Field field, std::string name) {
    LinkClass result;
    result.name = std::move(name);
    Field bandwidth = field.object("bandwidth");
    result.nominal = bandwidth.bandwidth("nominal");
    const double efficiency = bandwidth.number("efficiency");
    bandwidth.text("source", "");
    if (bandwidth.is_number("efficiency") && !(efficiency > 0.0 && efficiency <= 1.0)) {
        bandwidth.error("efficiency", fmt::format("expected a number above 0 and at most 1, got {}", efficiency));
    }
    if (bandwidth.is_text("nominal") && result.nominal <= BytesPerSecond{})
        bandwidth.error("nominal", "expected more than 0");
    bandwidth.done();
    result.bandwidth = result.nominal * efficiency;

    result.latency = sourced_duration(field, "latency");
    field.done();
    return result;
}

}  // namespace

LinkClasses::LinkClasses(Field links) {
    names_ = links.keys();
    if (names_.size() > std::numeric_limits<std::underlying_type_t<LinkClassId>>::max()) {
        links.error("", fmt::format("{} link classes are more than a topology can number", names_.size()));
        names_.clear();
    }
    for (const std::string& name : names_) table_.push_back(read_class(links.object(name), name));
}

LinkClassId LinkClasses::read(Field& block, std::string_view key) const { return find(block, key, block.text(key)); }

LinkClassId LinkClasses::find(Field& block, std::string_view key, std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return LinkClassId(static_cast<std::uint8_t>(found - names_.begin()));
    if (!name.empty()) {  // an absent or mistyped key has been recorded already
        block.error(key, fmt::format("no link class is called \"{}\"{}", name, suggestion(name, names_)));
    }
    return LinkClassId{};
}

}  // namespace weft
