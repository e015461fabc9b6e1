#include "sim/collective/fabric_sample.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "sim/collective/circle_sampler.hpp"

namespace weft {
namespace {

constexpr std::uint64_t unknown = ~std::uint64_t{0};

using Numbers = std::unordered_map<HashSum, std::uint32_t, HashSum::Hash>;  // only looked up

// Gives memory back, which an assignment of {} does not.
template <class T>
void release(std::vector<T>& values) {
    std::vector<T>().swap(values);
}

}  // namespace

FabricSample::FabricSample(const Topology& topology)
    : topology_(topology),
      tree_(*topology.fabric()),
      circles_(tree_),
      change_(tree_.subtrees(0) + 1),
      passing_(circles_.size()),
      origin_(circles_.size(), unknown) {
    for (std::uint32_t tier = 0; tier < tree_.tiers(); ++tier)
        parts_ways_.push_back(tier > 0 && tree_.parts_ways(tier));
}

void FabricSample::count(const RowSurvey& survey, const TreeMove& move) {
    const std::uint64_t kind = counted_.size();
    counted_.push_back({&survey, move});
    if (tree_.has_mesh()) count_mesh(survey, kind);
    std::vector<HashSum> contents;  // of this kind
    for (const HashSum& content : survey.contents()) contents.push_back(HashSum::of({kind, content.a, content.b}));
    for (const RowSurvey::Part& part : survey.parts()) {
        count_stretches(survey, part, kind);
        for (const NodeRun run : part.groups.moves) {
            HashSum* const first = &change_[run.first + move.nodes];
            for (std::size_t place = 0; place < part.contents.size(); ++place) {
                if (part.contents[place] == 0) continue;
                HashSum* const of_node = first + survey.nodes()[place];
                of_node[0] += contents[part.contents[place]];
                of_node[run.count] -= contents[part.contents[place]];
            }
        }
    }
}

void FabricSample::count_stretches(const RowSurvey& survey, const RowSurvey::Part& part, std::uint64_t kind) {
    struct Known {
        std::uint64_t groups = 0, start = 0;
        HashSum hash{};
    };
    std::array<Known, 16> known{};  // mostly one of few
    const auto count = [&](const RowSurvey::Bundle& bundle, const RowSurvey::Stretch& stretch) {
        const std::uint64_t groups = std::uint64_t{stretch.turns} << 32U | stretch.rest;
        const auto passing_from = [&](std::uint64_t start) {
            Known& like = known[start % known.size()];
            if (like.groups != groups || like.start != start) {
                like = {groups, start, HashSum::of({kind, groups, start})};
            }
            return bundle.passing * like.hash;
        };
        if (stretch.rest == 0) {  // from any: all ways are taken equally often
            const HashSum passing = passing_from(unknown);
            stretch.for_each_circle([&](std::uint32_t circle) { passing_[circle] += passing; });
            return;
        }
        const std::uint32_t tier = circles_.tier(stretch.circle);
        const std::uint64_t ways = circles_.ways_of_tier(tier);
        const std::uint64_t way = (bundle.way + stretch.shift) % ways;
        stretch.for_each_circle([&](std::uint32_t circle) {
            std::uint64_t& origin = origin_[circle];
            if (origin == unknown) origin = parts_ways_[tier] ? way : 0;
            passing_[circle] += passing_from(way >= origin ? way - origin : way + ways - origin);
        });
    };
    survey.for_each_stretch(part, counted_[kind].move, count);
}

void FabricSample::count_mesh(const RowSurvey& survey, std::uint64_t kind) {
    const RouteTree::Range mesh = tree_.mesh();
    if (on_mesh_.empty()) on_mesh_.resize(index(mesh.end) - index(mesh.first));
    for (const LinkPasses& each : survey.mesh().of_all) {
        on_mesh_[index(each.link) - index(mesh.first)] += HashSum::of(
            {kind, survey.kinds().hash_of_size(each.size), std::uint64_t{each.routes} << 32U | each.detours});
    }
}

void FabricSample::choose() {
    choose_nodes();
    choose_mesh_links();
    CircleSampler sampler(*this, choose_circles());
    for (std::size_t kind = 0; kind < counted_.size(); ++kind) {
        sampler.add(*counted_[kind].survey, counted_[kind].move, kind);
    }
    sampler.take();
    release(counted_);
    release(passing_);
    release(origin_);
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
    release(change_);
}

// Links of other classes are others.
void FabricSample::choose_mesh_links() {
    Numbers known;
    Table<LinkClassId, HashSum> classes;
    for (std::uint64_t i = 0; i < topology_.classes.size(); ++i) classes.push_back(HashSum::of({i}));
    const RouteTree::Range mesh = tree_.mesh();
    for (std::size_t i = 0; i < on_mesh_.size(); ++i) {
        if (on_mesh_[i] == HashSum{}) continue;
        const LinkId link{static_cast<std::uint32_t>(index(mesh.first) + i)};
        HashSum loads = on_mesh_[i];
        loads += classes[topology_.link_class(link)];
        const auto [place, is_new] = known.try_emplace(loads, static_cast<std::uint32_t>(weights_.size()));
        if (is_new) {
            mesh_links_.push_back(link);
            weights_.push_back({link, next(link), 0.0});
        }
        weights_[place->second].weight += 1.0;
    }
    release(on_mesh_);
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
