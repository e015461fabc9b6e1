#include <algorithm>
#include <span>
#include <vector>

#include "sim/collective/row_passes.hpp"

namespace weft {
namespace {

class CirclePasses {
  public:
    CirclePasses(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes)
        : sample_(row.sample), survey_(row.survey), move_(row.move), part_(part), passes_(passes) {}

    // The stretches that pass circles of the sample, circle by circle.
    void add() {
        struct Sampled {
            std::uint32_t circle = 0;
            const RowSurvey::Bundle* bundle = nullptr;
            RowSurvey::Stretch stretch{};
        };
        std::vector<Sampled> sampled;
        survey_.for_each_stretch(part_, move_, [&](const RowSurvey::Bundle& bundle, const RowSurvey::Stretch& stretch) {
            stretch.for_each_circle([&](std::uint32_t circle) {
                if (sample_.has_spots(circle)) sampled.push_back({circle, &bundle, stretch});
            });
        });
        std::ranges::sort(sampled, {}, &Sampled::circle);
        for (auto at = sampled.begin(); at != sampled.end();) {
            const std::uint32_t circle = at->circle;
            const std::uint64_t ways = sample_.circles().ways(circle);
            const std::span<const FabricSample::Spot> spots = sample_.spots(circle);
            changes_.assign(2 * survey_.kinds().sizes().size() * (spots.size() + 1), 0);
            for (; at != sampled.end() && at->circle == circle; ++at) add(*at->bundle, at->stretch, spots, ways);
            take_changes(spots);
        }
    }

  private:
    void add(const RowSurvey::Bundle& bundle, const RowSurvey::Stretch& stretch,
             std::span<const FabricSample::Spot> spots, std::uint64_t ways) {
        for (std::uint32_t i = bundle.first; i < bundle.end; ++i) {
            const RowSurvey::Passage& passage = part_.passages[i];
            std::uint32_t* const changes = &changes_[2 * passage.size * (spots.size() + 1)];
            changes[0] += stretch.turns * passage.messages;
            changes[spots.size() + 1] +=
                stretch.turns * passage.messages * survey_.kinds().sizes()[passage.size].detours;
            if (stretch.rest == 0) continue;
            survey_.for_each_way(passage, stretch.shift, ways,
                                 [&](std::uint64_t way, std::uint32_t routes, std::uint32_t) {
                                     std::uint32_t* const of = changes + (routes > 0 ? 0 : spots.size() + 1);
                                     const auto change = [&](std::uint64_t first, std::uint64_t end) {
                                         of[place(spots, first)] += passage.messages;
                                         of[place(spots, end)] -= passage.messages;
                                     };
                                     change(way, std::min(way + stretch.rest, ways));
                                     if (way + stretch.rest > ways) change(0, way + stretch.rest - ways);
                                 });
        }
    }

    // The first spot from a way on.
    static std::size_t place(std::span<const FabricSample::Spot> spots, std::uint64_t way) {
        const auto at = std::ranges::lower_bound(spots, way, {}, &FabricSample::Spot::way);
        return static_cast<std::size_t>(at - spots.begin());
    }

    void take_changes(std::span<const FabricSample::Spot> spots) {
        for (std::uint32_t size = 0; size < survey_.kinds().sizes().size(); ++size) {
            const std::uint32_t* const changes = &changes_[2 * size * (spots.size() + 1)];
            std::uint32_t routes = 0, detours = 0;
            for (std::size_t i = 0; i < spots.size(); ++i) {
                routes += changes[i];
                detours += changes[spots.size() + 1 + i];
                if (routes == 0 && detours == 0) continue;
                passes_.push_back({spots[i].link, LinkPasses::several, size, routes, detours});
            }
        }
    }

    const FabricSample& sample_;
    const RowSurvey& survey_;
    const TreeMove& move_;
    const RowSurvey::Part& part_;
    std::vector<LinkPasses>& passes_;
    // Of the passes of one circle, from spot to spot: size by size, on routes and then on detours.
    std::vector<std::uint32_t> changes_{};
};

}  // namespace

void add_circle_passes(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes) {
    CirclePasses(row, part, passes).add();
}

}  // namespace weft
