#include "tools/output/fabric_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/output/columns.hpp"

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
    using Json = nlohmann::ordered_json;
    return json_list<Json>(fabric.background, [](const auto& each) {
        return Json{{"class", each.first}, {"share", each.second}};
    });
}

ResultTable hot_links_table(std::span<const HotLink> links) {
    return table_of<HotLink>(links, {{"from", "<from", &HotLink::from},
                                     {"to", "<to", &HotLink::to},
                                     {"class", "<class", &HotLink::link_class},
                                     {"load_bytes", "carried", &HotLink::bytes},
                                     {"utilization", "utilization", as<Share>(&HotLink::busy)},
                                     {"links_alike", "alike", &HotLink::links}});
}

std::string hot_link_text(const HotLink& link) {
    const std::string text = fmt::format("{} -> {}", link.from, link.to);
    return link.links == 1 ? text : fmt::format("{} and {} more alike", text, link.links - 1);
}

}  // namespace weft
