// When each flow under way will finish, for runs in which many finish at one instant: flows of an instant share a
// bucket, and only buckets are ordered. Where no two flows share an instant this is FinishQueue.
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
#include "sim/event/finish_queue.hpp"

namespace weft {

class FinishBuckets {
  public:
    // Instant::never() if no flow is under way.
    Instant next() const { return order_.next(); }

    // Enters the flow, or moves it to a new instant.
    void set(FlowId flow, Instant at) {
        while (index(flow) >= place_.size()) place_.push_back({});
        if (place_[flow].bucket != nowhere) {
            if (buckets_[place_[flow].bucket].at == at) return;
            remove(flow);
        }
        const BucketId bucket = bucket_at(at);
        std::vector<FlowId>& flows = buckets_[bucket].flows;
        place_[flow] = {bucket, static_cast<std::uint32_t>(flows.size())};
        flows.push_back(flow);
    }

    // Appends the flows that finish at next(), in FlowId order, and forgets them.
    void take_first(std::vector<FlowId>& done) {
        const auto first = static_cast<std::ptrdiff_t>(done.size());
        for (const Instant now = next(); now != Instant::never() && next() == now;) {
            const BucketId bucket = order_.pop();
            std::vector<FlowId>& flows = buckets_[bucket].flows;
            for (const FlowId flow : flows) place_[flow].bucket = nowhere;
            done.insert(done.end(), flows.begin(), flows.end());
            flows.clear();
            free_.push_back(bucket);
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
    enum class BucketId : std::uint32_t {};
    static constexpr BucketId nowhere{std::numeric_limits<std::uint32_t>::max()};
    struct Bucket {
        Instant at;
        std::vector<FlowId> flows{};
    };
    struct Place {
        BucketId bucket = nowhere;
        std::uint32_t index = 0;
    };

    // A bucket with that instant: one of those used lately, or a new one. Two may have the same instant.
    BucketId bucket_at(Instant at) {
        BucketId& recent = recent_[static_cast<std::size_t>(at.femtoseconds) % recent_.size()];
        if (recent < buckets_.end_id() && buckets_[recent].at == at && !buckets_[recent].flows.empty()) return recent;
        if (free_.empty()) free_.push_back(buckets_.push_back({}));
        recent = free_.back();
        free_.pop_back();
        buckets_[recent].at = at;
        order_.set(recent, at);
        return recent;
    }

    void remove(FlowId flow) {
        const Place place = place_[flow];
        std::vector<FlowId>& flows = buckets_[place.bucket].flows;
        const FlowId last = flows[place.index] = flows.back();
        place_[last].index = place.index;
        place_[flow].bucket = nowhere;
        flows.pop_back();
        if (!flows.empty()) return;
        free_.push_back(place.bucket);
        order_.remove(place.bucket);
    }

    Table<BucketId, Bucket> buckets_;
    FinishQueue<BucketId> order_;
    std::vector<BucketId> free_;
    Table<FlowId, Place> place_;
    std::array<BucketId, 64> recent_{};  // by instant
};

}  // namespace weft
