// Where the links of routes lie after all ranks have moved by as much, on a fabric that looks the same from there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"

namespace weft {

class LinkMove {
  public:
    explicit LinkMove(std::int32_t ranks) : ranks_(ranks) {}

    // Links from `first` on, up to the next stretch, move by `by`, and link first + i besides by each[i % each.size()].
    // Stretches are added in ascending order, the first from link 0 on.
    void add_stretch(LinkId first, std::int64_t by, std::span<const std::int32_t> each = {}) {
        WEFT_CHECK(stretches_ < stretch_.size(), "more stretches of links than LinkMove holds");
        stretch_[stretches_++] = {.first = first,
                                  .begin = static_cast<std::uint32_t>(each_.size()),
                                  .period = static_cast<std::uint32_t>(each.size()),
                                  .by = by};
        each_.insert(each_.end(), each.begin(), each.end());
    }
    // Both, where each tells of links that the other does not ask for, or moves them equally: one may have more
    // stretches than the other. False where they differ; this is then as it was.
    bool join(const LinkMove& other) {
        const std::size_t common = std::min(stretches_, other.stretches_);
        for (std::size_t i = 0; i < common; ++i) {
            const Stretch &a = stretch_[i], &b = other.stretch_[i];
            if (a.first != b.first || a.by != b.by || !std::ranges::equal(each(a), other.each(b))) return false;
        }
        if (ranks_ != other.ranks_) return false;
        for (std::size_t i = common; i < other.stretches_; ++i) {
            const Stretch& more = other.stretch_[i];
            add_stretch(more.first, more.by, other.each(more));
        }
        return true;
    }

    RankId operator()(RankId rank) const { return moved(rank, ranks_); }
    LinkId operator()(LinkId link) const {
        const Stretch* stretch = &stretch_[stretches_ - 1];
        while (link < stretch->first) --stretch;
        if (stretch->period == 0) return moved(link, stretch->by);
        const auto place = static_cast<std::uint32_t>(index(link) - index(stretch->first)) % stretch->period;
        return moved(link, stretch->by + each_[stretch->begin + place]);
    }
    // Whether links in ascending order are so after the move.
    bool keeps_order() const { return each_.empty(); }

  private:
    struct Stretch {
        LinkId first{};
        std::uint32_t begin = 0, period = 0;  // in each_
        std::int64_t by = 0;
    };

    template <class Id>
    static Id moved(Id id, std::int64_t by) {
        return Id(static_cast<std::uint32_t>(static_cast<std::int64_t>(index(id)) + by));
    }
    std::span<const std::int32_t> each(const Stretch& stretch) const {
        return std::span(each_).subspan(stretch.begin, stretch.period);
    }

    std::int32_t ranks_ = 0;
    std::array<Stretch, 6> stretch_{};  // inside nodes, ports, and the levels of a network
    std::size_t stretches_ = 0;
    std::vector<std::int32_t> each_;
};

}  // namespace weft
