#include "sim/collective/fabric_sample.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sim/collective/circle_sampler.hpp"

namespace weft {
namespace {

constexpr std::uint64_t unknown = ~std::uint64_t{0};

using Numbers = std::unordered_map<HashSum, std::uint32_t, HashSum::Hash>;  // only looked up

}  // namespace

FabricSample::FabricSample(const Topology& topology)
    : tree_(*topology.router->tree()),
      circles_(tree_),
      change_(tree_.subtrees(0) + 1),
      passing_(circles_.size()),
      origin_(circles_.size(), unknown) {}

void FabricSample::count(const RowSurvey& survey, const TreeMove& move) {
    const std::uint64_t kind = counted_.size();
    counted_.push_back({&survey, move});
    for (const RowSurvey::Part& part : survey.parts()) {
        HashSum last{}, passing{};  // nodes are mostly passed as the one before
        for (const RowSurvey::OnNode& on : part.nodes) {
            if (on.passing != last) passing = HashSum::of({kind, on.passing.a, on.passing.b});
            last = on.passing;
            if (last == HashSum{}) continue;
            for (const NodeRun run : part.groups.moves) {
                const std::uint32_t first = on.node - part.groups.first() + run.first + move.nodes;
                change_[first] += passing;
                change_[first + run.count] -= passing;
            }
        }
        count_stretches(part, move, kind);
    }
}

void FabricSample::count_stretches(const RowSurvey::Part& part, const TreeMove& move, std::uint64_t kind) {
    struct Last {
        const RowSurvey::Bundle* bundle = nullptr;
        std::uint64_t groups = 0, start = 0;
        HashSum passing{};
    };
    Last last;
    for (const RowSurvey::Stretch& stretch : part.stretches) {
        const std::uint32_t circle = move.circle(circles_, stretch.circle);
        const RowSurvey::Bundle& bundle = part.bundles[stretch.bundle];
        std::uint64_t start = unknown;  // any: all ways are taken equally often
        if (stretch.rest > 0) {
            const std::uint32_t tier = circles_.tier(circle);
            const std::uint64_t ways = tree_.ways(tier);
            const std::uint64_t way = (part.passages[bundle.first].way + stretch.shift + move.ways) % ways;
            if (origin_[circle] == unknown) origin_[circle] = tree_.parts_ways(tier) ? way : 0;
            start = (way + ways - origin_[circle]) % ways;
        }
        const std::uint64_t groups = std::uint64_t{stretch.turns} << 32U | stretch.rest;
        if (last.bundle != &bundle || last.groups != groups || last.start != start) {
            last = {&bundle, groups, start, HashSum::of({kind, bundle.passing.a, bundle.passing.b, groups, start})};
        }
        passing_[circle] += last.passing;
    }
}

void FabricSample::choose() {
    choose_nodes();
    CircleSampler sampler(*this, choose_circles());
    for (std::size_t kind = 0; kind < counted_.size(); ++kind) {
        sampler.add(*counted_[kind].survey, counted_[kind].move, kind);
    }
    sampler.take();
    counted_.clear();
    passing_.clear();
    origin_.clear();
}

void FabricSample::choose_nodes() {
    Numbers first(64);
    weight_.assign(tree_.subtrees(0), 0);
    HashSum passing;
    std::uint32_t* like_before = nullptr;
    for (std::uint32_t node = 0; node < weight_.size(); ++node) {
        if (node == 0 || change_[node] != HashSum{}) {
            passing += change_[node];
            like_before = nullptr;
            if (passing != HashSum{}) like_before = &weight_[first.try_emplace(passing, node).first->second];
        }
        if (like_before == nullptr) continue;
        if (++*like_before == 1) nodes_.push_back(node);
    }
    change_.clear();
}

// The weights of those taken, by number.
std::vector<std::uint32_t> FabricSample::choose_circles() {
    std::vector<std::uint32_t> weights;
    number_.assign(circles_.size(), nowhere);
    std::vector<Numbers> known(tree_.tiers());
    for (std::uint32_t circle = 0; circle < circles_.size(); ++circle) {
        if (passing_[circle] == HashSum{}) continue;
        const auto [number, is_new] =
            known[circles_.tier(circle)].try_emplace(passing_[circle], static_cast<std::uint32_t>(weights.size()));
        if (is_new) {
            number_[circle] = number->second;
            weights.push_back(0);
        }
        ++weights[number->second];
    }
    return weights;
}

LinkWeights FabricSample::link_weights() const {
    std::vector<LinkWeights::Range> ranges = weights_;
    for (const std::uint32_t node : nodes_) {
        for (const RouteTree::Range links : tree_.links({0, node})) {
            ranges.push_back({links.first, links.end, static_cast<double>(weight_[node])});
        }
    }
    std::ranges::sort(ranges, {}, &LinkWeights::Range::first);
    return LinkWeights(std::move(ranges));
}

}  // namespace weft
