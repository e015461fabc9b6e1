#include "sim/engine/attribution.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

Attribution::Attribution(std::size_t lanes, std::size_t kinds)
    : lanes_(lanes), places_(lanes + 1), under_way_(lanes / 64 + 1, 0), ticks_(lanes + 1, 0), kind_ticks_(kinds, 0) {}

void Attribution::clear() {
    for (std::vector<Added>& lane : lanes_) lane.clear();
    added_ = 0;
    passed_ = 0;
    std::ranges::fill(places_, Place{});
    std::ranges::fill(under_way_, 0U);
    std::ranges::fill(ticks_, 0);
    std::ranges::fill(kind_ticks_, 0);
}

Seconds Attribution::run(Instant end) {
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

std::vector<Attribution::Head> Attribution::find_heads() const {
    std::vector<Head> heads;
    for (const std::vector<Added>& lane : lanes_) {
        if (lane.empty()) continue;
        heads.push_back({lane.front().activity.begin, lane.data(), lane.data() + lane.size(), false});
    }
    return heads;
}

// Does all that happens on a lane until `now`; returns whether anything is left.
bool Attribution::move_on(Head& head, Instant now) {
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
void Attribution::begin(const Added& what) {
    Place& place = places_[what.activity.place];
    count_in(what.activity.place);
    if (place.began == what.activity.begin && what.order < place.order) return;
    place.began = what.activity.begin;
    place.order = what.order;
    place.kind = what.activity.kind;
}

void Attribution::count_in(std::uint32_t place) {
    if (places_[place].under_way++ == 0) under_way_[place / 64] |= std::uint64_t{1} << place % 64;
}

void Attribution::count_out(std::uint32_t place) {
    if (--places_[place].under_way == 0) under_way_[place / 64] &= ~(std::uint64_t{1} << place % 64);
}

// Past the last place if nothing is.
std::size_t Attribution::first_under_way() const {
    for (std::size_t word = 0; word < under_way_.size(); ++word) {
        if (under_way_[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(under_way_[word]));
    }
    return places_.size();
}

// Returns what of it nobody had.
std::int64_t Attribution::give(std::int64_t ticks) {
    const std::size_t place = first_under_way();
    if (place == places_.size()) return ticks;
    take(place, places_[place].kind, ticks);
    return 0;
}

void Attribution::pass(std::uint32_t place, std::uint32_t kind, std::int64_t ticks) {
    take(place, kind, ticks);
    passed_ += ticks;
}

void Attribution::take(std::size_t place, std::uint32_t kind, std::int64_t ticks) {
    ticks_[place] += ticks;
    if (place > 0 && place + 1 < places_.size()) kind_ticks_[kind] += ticks;
}

}  // namespace weft
