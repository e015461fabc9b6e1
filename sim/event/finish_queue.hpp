// When each of what is under way will finish. An indexed heap: whatever comes to finish at another instant moves in
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/event/heap.hpp"

namespace weft {

// Of flows, of what rank classes do, ...: whatever has a dense id.
template <class Id>
class FinishQueue {
  public:
    void reserve(std::size_t ids) {
        entries_.reserve(ids);
        position_.reserve(ids);
    }

    // Instant::never() if nothing is under way.
    Instant next() const { return entries_.empty() ? Instant::never() : entries_.front().at; }

    bool contains(Id id) const { return index(id) < position_.size() && position_[id] != absent; }
    // Of one that is under way.
    Instant of(Id id) const { return entries_[position_[id]].at; }

    // Enters it, or moves it to a new instant.
    void set(Id id, Instant at) {
        while (index(id) >= position_.size()) position_.push_back(absent);
        const Entry entry{at, id};
        if (position_[id] == absent) {
            entries_.push_back(entry);
            heap::sift_up(entries_, entries_.size() - 1, entry, earlier, tracked());
        } else {
            place(entry, position_[id]);
        }
    }

    // What finishes first, of equals the one with the lowest id. There must be one.
    Id pop() {
        const Id first = entries_.front().id;
        remove(first);
        return first;
    }

    // Takes out one that is under way.
    void remove(Id id) {
        const std::size_t hole = position_[id];
        const Entry last = entries_.back();
        entries_.pop_back();
        position_[id] = absent;
        if (hole < entries_.size()) place(last, hole);
    }

  private:
    struct Entry {
        Instant at;
        Id id{};
    };
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
    static constexpr auto earlier = [](const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at < b.at : a.id < b.id;
    };
    struct Tracker {
        Table<Id, std::uint32_t>& position;
        void operator()(const Entry& entry, std::size_t at) const {
            position[entry.id] = static_cast<std::uint32_t>(at);
        }
    };
    Tracker tracked() { return {position_}; }

    // Puts an entry at a position that is free, or its own, or where it belongs from there.
    void place(const Entry& entry, std::size_t hole) {
        if (hole > 0 && earlier(entry, entries_[(hole - 1) / heap::arity])) {
            heap::sift_up(entries_, hole, entry, earlier, tracked());
        } else {
            heap::sift_down(entries_, hole, entry, earlier, tracked());
        }
    }

    std::vector<Entry> entries_;
    Table<Id, std::uint32_t> position_;
};

}  // namespace weft
