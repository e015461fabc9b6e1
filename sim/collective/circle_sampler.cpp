#include "sim/collective/circle_sampler.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace weft {

CircleSampler::CircleSampler(FabricSample& sample, std::vector<std::uint32_t> weights)
    : sample_(sample), weights_(std::move(weights)) {}

void CircleSampler::add(const RowSurvey& survey, const TreeMove& move, std::uint64_t kind) {
    for (const RowSurvey::Part& part : survey.parts()) {
        for (const RowSurvey::Stretch& stretch : part.stretches) {
            const std::uint32_t circle = move.circle(sample_.circles_, stretch.circle);
            if (sample_.number_[circle] == FabricSample::nowhere || stretch.rest == 0) continue;
            const std::uint64_t ways = sample_.circles_.ways(circle);
            const RowSurvey::Bundle& bundle = part.bundles[stretch.bundle];
            for (std::uint32_t i = bundle.first; i < bundle.end; ++i) {
                const RowSurvey::Passage& passage = part.passages[i];
                const std::uint64_t hash = survey.kinds().hash_of_size(passage.size) + passage.messages;
                survey.for_each_way(
                    passage, stretch.shift + move.ways, ways,
                    [&](std::uint64_t way, std::uint32_t, std::uint32_t detours) {
                        const HashSum load = HashSum::of({kind, hash, detours > 0 ? 1U : 0U});
                        if (part.is_one()) {
                            marks_.push_back({circle, way, kind, part.first_group + bundle.group, load});
                        } else {
                            add_arc(circle, way, stretch.rest, load);
                        }
                    });
            }
        }
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
    std::ranges::sort(marks_, {}, [](const Mark& m) { return std::tuple(m.circle, m.way, m.kind, m.group); });
    std::ranges::sort(changes_, {}, [](const Change& c) { return std::pair(c.circle, c.way); });
    sample_.first_spot_.assign(1, 0);
    for (std::uint32_t circle = 0; circle < sample_.number_.size(); ++circle) {
        const std::uint32_t number = sample_.number_[circle];
        if (number == FabricSample::nowhere) continue;
        if (sample_.tree_.parts_ways(sample_.circles_.tier(circle))) {
            take_some(circle, weights_[number]);
        } else {
            take_all(circle, weights_[number]);
        }
        while (mark_ < marks_.size() && marks_[mark_].circle == circle) ++mark_;
        while (change_ < changes_.size() && changes_[change_].circle == circle) ++change_;
        sample_.first_spot_.push_back(sample_.spots_.size());
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

void CircleSampler::take_some(std::uint32_t circle, std::uint32_t weight) {
    const Circle where = sample_.circles_[circle];
    const std::uint64_t ways = sample_.circles_.ways(circle);
    std::unordered_map<HashSum, std::size_t, HashSum::Hash> known;  // only looked up
    HashSum steady;                                                 // of arcs
    for (std::uint64_t way = 0; way < ways;) {
        for (; change_ < changes_.size() && changes_[change_].circle == circle && changes_[change_].way == way;
             ++change_) {
            steady += changes_[change_].more;
        }
        HashSum load = steady;
        std::uint64_t end = ways;
        if (mark_ < marks_.size() && marks_[mark_].circle == circle && marks_[mark_].way == way) {
            load += marks_at(way);
            end = way + 1;
        } else if (mark_ < marks_.size() && marks_[mark_].circle == circle) {
            end = marks_[mark_].way;
        }
        if (change_ < changes_.size() && changes_[change_].circle == circle) {
            end = std::min(end, changes_[change_].way);
        }
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

// What single messages load on a way, group by group, which tells what each loads alone.
HashSum CircleSampler::marks_at(std::uint64_t way) {
    HashSum all;
    const std::uint32_t circle = marks_[mark_].circle;
    while (mark_ < marks_.size() && marks_[mark_].circle == circle && marks_[mark_].way == way) {
        const Mark& first = marks_[mark_];
        HashSum own;
        for (; mark_ < marks_.size() && marks_[mark_].circle == circle && marks_[mark_].way == way &&
               marks_[mark_].kind == first.kind && marks_[mark_].group == first.group;
             ++mark_) {
            own += marks_[mark_].load;
        }
        all += HashSum::of({first.kind, own.a, own.b});
    }
    return all;
}

}  // namespace weft
