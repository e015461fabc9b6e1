// Gives every moment of a rank class to one thing that it does: computing, one of several communications, or nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
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
    Attribution(std::size_t lanes, std::size_t kinds)
        : lanes_(lanes),
          places_(lanes + 1),
          under_way_(lanes / 64 + 1, 0),
          ticks_(lanes + 1, 0),
          kind_ticks_(kinds, 0) {}

    void clear() {
        for (std::vector<Added>& lane : lanes_) lane.clear();
        added_ = 0;
        passed_ = 0;
        std::ranges::fill(places_, Place{});
        std::ranges::fill(under_way_, 0U);
        std::ranges::fill(ticks_, 0);
        std::ranges::fill(kind_ticks_, 0);
    }

    // Those of one lane come in order of time and do not overlap: they are merged, never sorted.
    void add(LaneId lane, const Activity& activity) { lanes_[lane].push_back({activity, added_++}); }
    // So many ticks of a place (and a kind of call) besides, in which nothing that was added is under way.
    void pass(std::uint32_t place, std::uint32_t kind, std::int64_t ticks) {
        take(place, kind, ticks);
        passed_ += ticks;
    }

    // From 0 to `end`, all that was added; returns what is left over. Counted in ticks, so that the parts add up.
    Seconds run(Instant end) {
        std::vector<Head> heads = find_heads();
        Instant now;
        Instant at = heads.empty() ? Instant::never() : std::ranges::min(heads, {}, &Head::at).at;
        std::int64_t idle = 0;
        while (!heads.empty()) {
            WEFT_CHECK(at >= now, "what follows on a lane begins before");
            idle += give(at.femtoseconds - now.femtoseconds);
            now = std::exchange(at, Instant::never());
            for (std::size_t i = 0; i < heads.size();) {
                if (move_on(heads[i], now)) {
                    at = std::min(at, heads[i++].at);
                } else {
                    heads[i] = heads.back();
                    heads.pop_back();
                }
            }
        }
        idle += give(end.femtoseconds - now.femtoseconds);
        return since_start({idle - passed_});
    }

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

    std::vector<Head> find_heads() const {
        std::vector<Head> heads;
        for (const std::vector<Added>& lane : lanes_) {
            if (lane.empty()) continue;
            heads.push_back({lane.front().activity.begin, lane.data(), lane.data() + lane.size(), false});
        }
        return heads;
    }

    void count_in(std::uint32_t place) {
        if (places_[place].under_way++ == 0) under_way_[place / 64] |= std::uint64_t{1} << place % 64;
    }
    void count_out(std::uint32_t place) {
        if (--places_[place].under_way == 0) under_way_[place / 64] &= ~(std::uint64_t{1} << place % 64);
    }
    // Past the last place if nothing is.
    std::size_t first_under_way() const {
        for (std::size_t word = 0; word < under_way_.size(); ++word) {
            if (under_way_[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(under_way_[word]));
        }
        return places_.size();
    }

    // Does all that happens on a lane until `now`; returns whether anything is left.
    bool move_on(Head& head, Instant now) {
        while (head.at == now) {
            if (!head.has_begun) {
                begin(*head.next);
                head.at = head.next->activity.end;
            } else {
                count_out(head.next->activity.place);
                if (++head.next == head.last) return false;
                head.at = head.next->activity.begin;
            }
            head.has_begun = !head.has_begun;
        }
        return true;
    }

    // Lanes that share a place reach one instant in any order.
    void begin(const Added& what) {
        Place& place = places_[what.activity.place];
        count_in(what.activity.place);
        if (place.began == what.activity.begin && what.order < place.order) return;
        place.began = what.activity.begin;
        place.order = what.order;
        place.kind = what.activity.kind;
    }

    // Returns what of it nobody had.
    std::int64_t give(std::int64_t ticks) {
        const std::size_t place = first_under_way();
        if (place == places_.size()) return ticks;
        take(place, places_[place].kind, ticks);
        return 0;
    }
    void take(std::size_t place, std::uint32_t kind, std::int64_t ticks) {
        ticks_[place] += ticks;
        if (place > 0 && place + 1 < places_.size()) kind_ticks_[kind] += ticks;
    }

    Table<LaneId, std::vector<Added>> lanes_;
    std::uint32_t added_ = 0;
    std::vector<Place> places_;
    std::vector<std::uint64_t> under_way_;  // bit p: whether anything is at place p
    std::int64_t passed_ = 0;               // ticks
    std::vector<std::int64_t> ticks_;       // given to each place
    std::vector<std::int64_t> kind_ticks_;  // of them, to each kind of call
};

}  // namespace weft
