#include "tools/plan/proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

// Whether some layout can be, of the search with one more override.
bool is_possible(PlanRequest request, std::string assignment, Searched searched) {
    request.overrides.push_back(std::move(assignment));
    try {
        const SearchSpace space = read_space(request).space;
        return std::ranges::any_of(space.candidates(), [&](const Candidate& candidate) {
            return objections(space.study(candidate).job, space.machine(), searched).empty();
        });
    } catch (const ConfigError&) {
        return false;
    }
}

// What data ranks that the batch can be dealt to leave for the model: tensor and pipeline ranks are mostly powers of
// two.
bool may_divide(std::uint64_t ranks, std::uint64_t batch) {
    return ranks > 0 && batch > 0 && std::has_single_bit(ranks / std::gcd(ranks, batch));
}

// The nearest of `from` - k x unit and `from` + k x unit that may be and are, k > 0; a few tries each.
template <class May>
void add_nearest(const PlanRequest& request, Searched searched, std::string_view key, std::int64_t from,
                 std::int64_t unit, May may, std::vector<std::string>& found) {
    constexpr int reach = 256, most_tries = 3;
    for (const int direction : {-1, 1}) {
        int tries = 0;
        for (int k = 1; k < reach && tries < most_tries; ++k) {
            const std::int64_t value = from + direction * k * unit;
            if (value <= 0 || !may(static_cast<std::uint64_t>(value))) continue;
            ++tries;
            std::string assignment = fmt::format("{}={}", key, value);
            if (!is_possible(request, assignment, searched)) continue;
            found.push_back(std::move(assignment));
            break;
        }
    }
}

}  // namespace

PlanResult find_layouts(const PlanRequest& request, const SearchOptions& options) {
    PlanSpace space = read_space(request);
    PlanResult result = search_layouts(std::move(space.space), std::move(space.base_assignments), options);
    if (result.count(Verdict::refused) == result.candidates.size()) result.proposals = proposals(request, result);
    return result;
}

std::vector<std::string> proposals(const PlanRequest& request, const PlanResult& result) {
    const Study& base = result.space.bases().front();
    const std::uint64_t ranks = result.space.accelerators(), batch = base.job.batch.global;
    const std::uint32_t part = std::bit_floor(base.machine.info().accelerators_per_node);
    const auto unit = static_cast<std::int64_t>(std::min<std::uint64_t>(part, std::bit_floor(ranks)));
    PlanRequest free = request;
    free.overrides.emplace_back("nodes=null");
    std::vector<std::string> found;
    add_nearest(
        free, result.searched, "gpus", static_cast<std::int64_t>(ranks / part * part), unit,
        [&](std::uint64_t gpus) { return may_divide(gpus, batch); }, found);
    const std::uint64_t dealt = ranks / std::gcd<std::uint64_t>(ranks, 16);  // to data ranks of 16 or fewer each
    add_nearest(
        request, result.searched, "batch.global", static_cast<std::int64_t>(batch / dealt * dealt),
        static_cast<std::int64_t>(dealt), [&](std::uint64_t) { return true; }, found);
    return found;
}

}  // namespace weft
