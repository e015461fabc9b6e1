#include "tools/output/background_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "topologies/queueing.hpp"

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

}  // namespace weft
