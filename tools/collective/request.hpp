// What `weft collective` is asked, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "tools/collective/jitter.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/fabric.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

// Whether the host waits for each call before it issues the next.
enum class Calls : std::uint8_t { blocking, queued };

// How members go on: all together from round to round, or each as soon as its own messages let it.
enum class Pace : std::uint8_t { lock_step, message_by_message };

// Whether the phases and the candidates of each row are told.
enum class Detail : std::uint8_t { plain, explained };

struct CollectiveRequest {
    Machine machine;
    const Library* library = nullptr;  // of `machine`
    Collective op{};
    SetLayout layout{};
    Fabric fabric{};
    Preference preference{};
    Calls calls = Calls::blocking;
    Pace pace = Pace::lock_step;
    Detail detail = Detail::plain;
    SizeConvention convention = SizeConvention::nccl;
    std::vector<Bytes> messages{};     // full buffers
    std::size_t hottest_of_class = 0;  // rows of links that are named of each class
    JitterTerms jitter{};

    RouteChoice routing() const { return fabric.routing.value_or(machine.info().routing); }
    // Whether each sample has hashes of its own: with a seed that is so much above the fabric's as it has samples
    // before it.
    bool draws_hashes() const { return jitter.samples > 0 && routing().routing == Routing::ecmp; }
};

// The library's choice, or a po::error that says what there is instead.
Choice choose(CollectiveSet& set, const CollectiveRequest& request, Bytes message);

// Throws po::error for names that the library's table does not have for `op` (for any, if it is absent).
void check_preference(const Library& library, Collective op, const Preference& preference);

}  // namespace weft
