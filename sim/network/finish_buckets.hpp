// When each flow under way will finish, for runs in which many finish at one instant: flows of an instant share a
// bucket, and only buckets are ordered, in an indexed heap. Where no two flows share an instant this is FinishQueue.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/event/heap.hpp"

namespace weft {

class FinishBuckets {
  public:
    // Instant::never() if no flow is under way.
    Instant next() const { return order_.empty() ? Instant::never() : order_.front().at; }

    // Enters the flow, or moves it to a new instant.
    void set(FlowId flow, Instant at) {
        while (index(flow) >= place_.size()) place_.push_back({});
        if (place_[flow].bucket != nowhere) {
            if (buckets_[place_[flow].bucket].at == at) return;
            remove(flow);
        }
        const std::uint32_t bucket = bucket_at(at);
        std::vector<FlowId>& flows = buckets_[bucket].flows;
        place_[flow] = {bucket, static_cast<std::uint32_t>(flows.size())};
        flows.push_back(flow);
    }

    // Appends the flows that finish at next(), in FlowId order, and forgets them.
    void take_first(std::vector<FlowId>& done) {
        const auto first = static_cast<std::ptrdiff_t>(done.size());
        for (const Instant now = next(); !order_.empty() && order_.front().at == now;) {
            const std::uint32_t bucket = order_.front().bucket;
            for (const FlowId flow : buckets_[bucket].flows) place_[flow].bucket = nowhere;
            done.insert(done.end(), buckets_[bucket].flows.begin(), buckets_[bucket].flows.end());
            discard(bucket);
        }
        // Ids are used again last in, first out: flows that start one after another often have descending ids.
        const auto begin = done.begin() + first;
        if (std::is_sorted(begin, done.end())) return;
        if (std::is_sorted(begin, done.end(), std::greater<>())) {
            std::reverse(begin, done.end());
        } else {
            std::sort(begin, done.end());
        }
    }

  private:
    struct Bucket {
        Instant at;
        std::uint32_t position = 0;  // in the heap
        std::vector<FlowId> flows{};
    };
    struct Entry {
        Instant at;
        std::uint32_t bucket = 0;
    };
    struct Place {
        std::uint32_t bucket = nowhere;
        std::uint32_t index = 0;
    };
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
    static constexpr auto earlier = [](const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at < b.at : a.bucket < b.bucket;
    };
    struct Tracker {
        std::vector<Bucket>& buckets;
        void operator()(const Entry& entry, std::size_t at) const {
            buckets[entry.bucket].position = static_cast<std::uint32_t>(at);
        }
    };

    // A bucket with that instant: one of those used lately, or a new one. Two may have the same instant.
    std::uint32_t bucket_at(Instant at) {
        std::uint32_t& recent = recent_[static_cast<std::size_t>(at.femtoseconds) % recent_.size()];
        if (recent < buckets_.size() && buckets_[recent].at == at && !buckets_[recent].flows.empty()) return recent;
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(buckets_.size()));
            buckets_.emplace_back();
        }
        recent = free_.back();
        free_.pop_back();
        buckets_[recent].at = at;
        order_.push_back({});
        heap::sift_up(order_, order_.size() - 1, Entry{at, recent}, earlier, Tracker{buckets_});
        return recent;
    }

    void remove(FlowId flow) {
        const Place place = place_[flow];
        std::vector<FlowId>& flows = buckets_[place.bucket].flows;
        const FlowId last = flows[place.index] = flows.back();
        place_[last].index = place.index;
        place_[flow].bucket = nowhere;
        flows.pop_back();
        if (flows.empty()) discard(place.bucket);
    }

    void discard(std::uint32_t bucket) {
        buckets_[bucket].flows.clear();
        free_.push_back(bucket);
        const std::size_t hole = buckets_[bucket].position;
        const Entry last = order_.back();
        order_.pop_back();
        if (hole == order_.size()) return;
        if (hole > 0 && earlier(last, order_[(hole - 1) / heap::arity])) {
            heap::sift_up(order_, hole, last, earlier, Tracker{buckets_});
        } else {
            heap::sift_down(order_, hole, last, earlier, Tracker{buckets_});
        }
    }

    std::vector<Bucket> buckets_;
    std::vector<Entry> order_;         // a heap
    std::vector<std::uint32_t> free_;  // buckets
    Table<FlowId, Place> place_;
    std::array<std::uint32_t, 64> recent_{};  // buckets by instant
};

}  // namespace weft
