#include "tools/output/fabric_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "topologies/fabric.hpp"

namespace weft {

std::string background_text(const Fabric& fabric) {
    std::string text;
    for (const auto& [link_class, share] : fabric.background) {
        text += fmt::format("{}{} {:g} % (a packet waits {:.3g} times its own time)", text.empty() ? "" : ", ",
                            link_class, 100.0 * share, waiting_time(share, largest_packet / Seconds{1.0}).value);
    }
    return text;
}

nlohmann::ordered_json background_json(const Fabric& fabric) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const auto& [link_class, share] : fabric.background) json.push_back({{"class", link_class}, {"share", share}});
    return json;
}

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
