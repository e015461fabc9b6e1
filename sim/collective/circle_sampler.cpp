#include "sim/collective/circle_sampler.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/base/group_by_key.hpp"

namespace weft {

CircleSampler::CircleSampler(FabricSample& sample, std::vector<std::uint32_t> weights)
    : sample_(sample), weights_(std::move(weights)) {}

void CircleSampler::add(const RowSurvey& survey, const TreeMove& move, std::uint64_t kind) {
    std::vector<HashSum> loads;  // of one message, by size: on its route, on a detour
    for (std::uint32_t size = 0; size < survey.kinds().sizes().size(); ++size) {
        for (const std::uint64_t detour : {0U, 1U}) {
            loads.push_back(HashSum::of({kind, survey.kinds().hash_of_size(size), detour}));
        }
    }
    for (const RowSurvey::Part& part : survey.parts()) {
        survey.for_each_stretch(part, move, [&](const RowSurvey::Bundle& bundle, const RowSurvey::Stretch& stretch) {
            if (stretch.rest == 0) return;
            stretch.for_each_circle([&](std::uint32_t circle) {
                if (sample_.number_[circle] == FabricSample::nowhere) return;
                const std::uint64_t ways = sample_.circles_.ways(circle);
                for (std::uint32_t i = bundle.first; i < bundle.end; ++i) {
                    const RowSurvey::Passage& passage = part.passages[i];
                    survey.for_each_way(passage, stretch.shift, ways,
                                        [&](std::uint64_t way, std::uint32_t, std::uint32_t detours) {
                                            const HashSum& one = loads[2 * passage.size + (detours > 0 ? 1 : 0)];
                                            add_arc(circle, way, stretch.rest, one * passage.messages);
                                        });
                }
            });
        });
    }
}

void CircleSampler::add_arc(std::uint32_t circle, std::uint64_t way, std::uint64_t length, HashSum load) {
    const std::uint64_t ways = sample_.circles_.ways(circle), end = way + length;
    HashSum less;
    less -= load;
    changes_.push_back({circle, way, load});
    if (end > ways) changes_.push_back({circle, 0, load});
    changes_.push_back({circle, end > ways ? end - ways : end, less});
}

void CircleSampler::take() {
    group_by_key(changes_, sample_.number_.size(), std::mem_fn(&Change::circle));
    sample_.first_spot_.assign(1, 0);
    auto at = changes_.begin();
    for (std::uint32_t circle = 0; circle < sample_.number_.size(); ++circle) {
        const std::uint32_t number = sample_.number_[circle];
        if (number == FabricSample::nowhere) continue;
        const auto end =
            std::find_if(at, changes_.end(), [&](const Change& change) { return change.circle != circle; });
        if (sample_.tree_.parts_ways(sample_.circles_.tier(circle))) {
            std::ranges::sort(at, end, {}, &Change::way);
            take_some(circle, weights_[number], {at, end});
        } else {
            take_all(circle, weights_[number]);
        }
        sample_.first_spot_.push_back(sample_.spots_.size());
        at = end;
    }
}

// Several ways lead over one link: all links, so that each is met on all of its ways.
void CircleSampler::take_all(std::uint32_t circle, std::uint32_t weight) {
    const Circle where = sample_.circles_[circle];
    std::vector<LinkId> links;
    for (std::uint64_t way = 0; way < sample_.circles_.ways(circle); ++way) {
        links.push_back(sample_.tree_.link(where.place, way, where.down));
        sample_.spots_.push_back({way, links.back()});
    }
    std::ranges::sort(links);
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (const LinkId link : links) sample_.weights_.push_back({link, next(link), static_cast<double>(weight)});
}

void CircleSampler::take_some(std::uint32_t circle, std::uint32_t weight, std::span<const Change> changes) {
    const Circle where = sample_.circles_[circle];
    const std::uint64_t ways = sample_.circles_.ways(circle);
    std::unordered_map<HashSum, std::size_t, HashSum::Hash> known;  // only looked up
    HashSum load;
    for (std::uint64_t way = 0; way < ways;) {
        for (; !changes.empty() && changes.front().way == way; changes = changes.subspan(1))
            load += changes.front().more;
        const std::uint64_t end = changes.empty() ? ways : std::min(ways, changes.front().way);
        const auto [spot, is_new] = known.try_emplace(load, sample_.weights_.size());
        if (is_new) {
            const LinkId link = sample_.tree_.link(where.place, way, where.down);
            sample_.spots_.push_back({way, link});
            sample_.weights_.push_back({link, next(link), 0.0});
        }
        sample_.weights_[spot->second].weight += static_cast<double>(weight) * static_cast<double>(end - way);
        way = end;
    }
}

}  // namespace weft
