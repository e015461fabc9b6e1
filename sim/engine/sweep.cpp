#include "sim/engine/sweep.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {

Sweep::Sweep(std::size_t lanes, std::size_t kinds)
    : lanes_(lanes), places_(lanes + 1), ticks_(lanes + 1, 0), kind_ticks_(kinds, 0) {}

void Sweep::clear() {
    for (std::vector<Added>& lane : lanes_) lane.clear();
    added_ = 0;
    std::ranges::fill(places_, Place{});
    std::ranges::fill(ticks_, 0);
    std::ranges::fill(kind_ticks_, 0);
}

Seconds Sweep::run(Instant end) {
    std::vector<Head> heads = find_heads();
    Instant now;
    std::int64_t idle = 0;
    while (!heads.empty()) {
        const Instant at = std::ranges::min(heads, {}, &Head::at).at;
        WEFT_CHECK(at >= now, "what follows on a lane begins before");
        idle += give(at.femtoseconds - now.femtoseconds);
        now = at;
        for (std::size_t i = 0; i < heads.size();) {
            if (move_on(heads[i], now)) {
                ++i;
            } else {
                heads[i] = heads.back();
                heads.pop_back();
            }
        }
    }
    idle += give(end.femtoseconds - now.femtoseconds);
    return since_start({idle});
}

std::vector<Sweep::Head> Sweep::find_heads() const {
    std::vector<Head> heads;
    for (const std::vector<Added>& lane : lanes_) {
        if (lane.empty()) continue;
        heads.push_back({lane.front().stretch.begin, lane.data(), lane.data() + lane.size(), false});
    }
    return heads;
}

// Does all that happens on a lane until `now`; returns whether anything is left.
bool Sweep::move_on(Head& head, Instant now) {
    while (head.at == now) {
        if (!head.has_begun) {
            begin(*head.next);
            head.at = head.next->stretch.end;
        } else {
            --places_[head.next->stretch.place].under_way;
            if (++head.next == head.last) return false;
            head.at = head.next->stretch.begin;
        }
        head.has_begun = !head.has_begun;
    }
    return true;
}

// Lanes that share a place reach one instant in any order.
void Sweep::begin(const Added& what) {
    Place& place = places_[what.stretch.place];
    ++place.under_way;
    if (place.began == what.stretch.begin && what.order < place.order) return;
    place.began = what.stretch.begin;
    place.order = what.order;
    place.kind = what.stretch.kind;
}

// Returns what of it nobody had.
std::int64_t Sweep::give(std::int64_t ticks) {
    const auto first = std::ranges::find_if(places_, [](const Place& place) { return place.under_way > 0; });
    if (first == places_.end()) return ticks;
    const auto place = static_cast<std::size_t>(first - places_.begin());
    ticks_[place] += ticks;
    if (place > 0 && place + 1 < places_.size()) kind_ticks_[first->kind] += ticks;
    return 0;
}

}  // namespace weft
