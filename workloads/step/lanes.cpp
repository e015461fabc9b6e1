#include "workloads/step/lanes.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft::lanes {
namespace {

struct Lane {
    std::string name;
    RankGroups groups;
};

std::vector<Lane> all_lanes() {
    std::vector<Lane> all{
        {"compute", {}},
        {"tensor", {"tensor"}},
        {"context", {"context"}},                        // ranks that share each sequence
        {"data", copy_axes()},                           // ranks that hold the same dense parameters
        {"data inner", RankGroups::inner(copy_axes())},  // of hybrid sharding, hpZ, and qgZ inside a node
        {"data outer", RankGroups::outer({"data"})},
        {"expert", {"expert"}},                           // ranks that share the experts of a layer
        {"expert inner", RankGroups::inner({"expert"})},  // those of a node
        {"expert outer", RankGroups::outer({"expert"})},
        {"experts whole", {"expert_tensor", "expert"}},
        {"expert tensor", {"expert_tensor"}},                       // the tensor ranks of one expert
        {"expert data", {"expert_data"}},                           // ranks that hold the same experts
        {"expert data inner", RankGroups::inner({"expert_data"})},  // of hybrid sharding
        {"expert data outer", RankGroups::outer({"expert_data"})},
        {"tensor and context", {"tensor", "context"}},  // ranks that have the tokens of one sequence
        {"stage", stage_axes()},
        {"model", part_axes()},  // all ranks of one replica that share its sequences
        {"stages", {"pipeline"}},
        {"embedding", RankGroups::embedding()},
        {"mirror", RankGroups::mirror()},
        {"pipeline send", RankGroups::boundary()},
        {"pipeline receive", {}}};
    for (std::uint32_t port = 0; port < most_ports; ++port) {
        all.push_back({"pipeline send " + std::to_string(port), {}});
        all.push_back({"pipeline receive " + std::to_string(port), {}});
    }
    all.insert(all.end(), {{"host", {}}, {"to host", {}}, {"from host", {}}});
    for (const std::string& axis : further_axes()) all.push_back({axis, {axis}});
    WEFT_CHECK(all[index(pipeline_send)].groups == RankGroups::boundary(), "lanes are numbered otherwise");
    return all;
}

const std::vector<Lane>& table() {
    static const std::vector<Lane> all = all_lanes();
    return all;
}

}  // namespace

LaneId of(RankGroups groups) {
    const auto found = std::ranges::find(table(), groups, &Lane::groups);
    WEFT_CHECK(found != table().end(), "groups that no lane is named after");
    return lane(static_cast<std::size_t>(found - table().begin()));
}

RankGroups groups(LaneId lane) { return table().at(index(lane)).groups; }

bool is_inside_layers(LaneId lane) {
    const Axes axes = groups(lane).axes();
    return axes != Axes{} && !axes.has("data") && !axes.has("expert_data") && !axes.has("pipeline");
}

const std::vector<std::string>& names() {
    static const std::vector<std::string> names = [] { return list_of<std::string>(table(), &Lane::name); }();
    return names;
}

std::string dimension_name(LaneId lane) {
    return is_pipeline(lane) || groups(lane) == RankGroups{"pipeline"} ? "pipeline" : names()[index(lane)];
}

std::string operation_name(Collective op, LaneId lane) {
    if (op != Collective::point_to_point) return std::string(name(op));
    return is_send(lane) ? "send" : "recv";
}

}  // namespace weft::lanes
