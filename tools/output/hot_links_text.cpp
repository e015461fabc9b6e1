#include "tools/output/hot_links_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace weft {

nlohmann::ordered_json hot_links_json(std::span<const HotLink> links) {
    auto json = nlohmann::ordered_json::array();
    for (const HotLink& link : links) {
        json.push_back({{"from", link.from},
                        {"to", link.to},
                        {"class", link.link_class},
                        {"load_bytes", link.bytes.value},
                        {"utilization", link.busy},
                        {"links_alike", link.links}});
    }
    return json;
}

std::string hot_link_text(const HotLink& link) {
    const std::string text = fmt::format("{} -> {}", link.from, link.to);
    return link.links == 1 ? text : fmt::format("{} and {} more alike", text, link.links - 1);
}

}  // namespace weft
