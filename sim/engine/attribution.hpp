// Gives every moment of a rank class to one thing that it does: computing, one of several communications, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"

namespace weft {

class Attribution {
  public:
    // Something under way. Of all that is, the lowest place has the moment; there, the call that began last, and of
    // those that began at one instant, the one added last.
    struct Activity {
        Instant begin, end;
        std::uint32_t place = 0;
        std::uint32_t kind = 0;  // of call
    };

    // Place 0 is computation on the compute lane, place `lanes` computation beside it; those between have calls.
    Attribution(std::size_t lanes, std::size_t kinds);

    void clear();
    // Those of one lane come in order of time and do not overlap: they are merged, never sorted.
    void add(LaneId lane, const Activity& activity) { lanes_[lane].push_back({activity, added_++}); }
    // So many ticks of a place (and a kind of call) besides, in which nothing that was added is under way.
    void pass(std::uint32_t place, std::uint32_t kind, std::int64_t ticks);
    // From 0 to `end`, all that was added; returns what is left over. Counted in ticks, so that the parts add up.
    Seconds run(Instant end);

    Seconds busy() const { return since_start({ticks_.front() + ticks_.back()}); }
    Seconds busy_beside() const { return since_start({ticks_.back()}); }  // of it, on other lanes alone
    Seconds exposed_at(std::uint32_t place) const { return since_start({ticks_[place]}); }
    Seconds exposed(std::uint32_t kind) const { return since_start({kind_ticks_[kind]}); }

  private:
    struct Added {
        Activity activity;
        std::uint32_t order;
    };
    // The next change on a lane: `next` begins or, if it has begun, ends.
    struct Head {
        Instant at;
        const Added* next;
        const Added* last;  // past the end
        bool has_begun;
    };
    struct Place {
        std::uint32_t under_way = 0;
        std::uint32_t kind = 0;  // of the call that began last
        std::uint32_t order = 0;
        Instant began;
    };

    std::vector<Head> find_heads() const;
    void count_in(std::uint32_t place);
    void count_out(std::uint32_t place);
    std::size_t first_under_way() const;
    bool move_on(Head& head, Instant now);
    void begin(const Added& what);
    std::int64_t give(std::int64_t ticks);
    void take(std::size_t place, std::uint32_t kind, std::int64_t ticks);

    Table<LaneId, std::vector<Added>> lanes_;
    std::uint32_t added_ = 0;
    std::vector<Place> places_;
    std::vector<std::uint64_t> under_way_;  // bit p: whether anything is at place p
    std::int64_t passed_ = 0;               // ticks
    std::vector<std::int64_t> ticks_;       // given to each place
    std::vector<std::int64_t> kind_ticks_;  // of them, to each kind of call
};

}  // namespace weft
