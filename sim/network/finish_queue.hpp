// When each flow under way will finish. An indexed heap: a flow whose rate changes moves in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/event/heap.hpp"

namespace weft {

class FinishQueue {
  public:
    void reserve(std::size_t flows) {
        entries_.reserve(flows);
        position_.reserve(flows);
    }

    // Instant::never() if no flow is under way.
    Instant next() const { return entries_.empty() ? Instant::never() : entries_.front().at; }

    bool contains(FlowId flow) const { return index(flow) < position_.size() && position_[flow] != absent; }

    // Enters the flow, or moves it to a new instant.
    void set(FlowId flow, Instant at) {
        while (index(flow) >= position_.size()) position_.push_back(absent);
        const Entry entry{at, flow};
        if (position_[flow] == absent) {
            entries_.push_back(entry);
            heap::sift_up(entries_, entries_.size() - 1, entry, earlier, tracked());
        } else if (const std::size_t hole = position_[flow]; earlier(entry, entries_[hole])) {
            heap::sift_up(entries_, hole, entry, earlier, tracked());
        } else {
            heap::sift_down(entries_, hole, entry, earlier, tracked());
        }
    }

    // The flow that finishes first, of equals the one with the lowest id. There must be one.
    FlowId pop() {
        const FlowId first = entries_.front().flow;
        const Entry last = entries_.back();
        entries_.pop_back();
        if (!entries_.empty()) heap::sift_down(entries_, 0, last, earlier, tracked());
        position_[first] = absent;
        return first;
    }

  private:
    struct Entry {
        Instant at;
        FlowId flow{};
    };
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
    static constexpr auto earlier = [](const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at < b.at : a.flow < b.flow;
    };
    struct Tracker {
        Table<FlowId, std::uint32_t>& position;
        void operator()(const Entry& entry, std::size_t at) const {
            position[entry.flow] = static_cast<std::uint32_t>(at);
        }
    };
    Tracker tracked() { return {position_}; }

    std::vector<Entry> entries_;
    Table<FlowId, std::uint32_t> position_;
};

}  // namespace weft
