#include "sim/engine/routine_parts.hpp"

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// What a part begins with, above its flags: how many ops it has.
enum Flag : unsigned {
    disturbed = 1,
    elsewhere = 2,  // it does not begin with the op after the part before: with this one
    apart = 4,      // nor when that was over: so many ticks later
    waited = 8,     // it was posted so many ticks before it began
};
constexpr unsigned flag_bits = 4;
constexpr std::size_t most_bytes = 5 + 4 + 3 * 8;

class Writer {
  public:
    // Seven bits a byte, the lowest first; the highest bit of a byte says that more follow.
    void small(std::uint64_t number) {
        for (; number >= 0x80U; number >>= 7U) bytes_[size_++] = static_cast<std::uint8_t>(number | 0x80U);
        bytes_[size_++] = static_cast<std::uint8_t>(number);
    }
    template <class Number>
    void whole(Number number) {
        std::memcpy(bytes_.data() + size_, &number, sizeof(number));
        size_ += sizeof(number);
    }
    std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }

  private:
    std::array<std::uint8_t, most_bytes> bytes_;
    std::size_t size_ = 0;
};

template <class Number>
Number read(const std::uint8_t*& at) {
    Number number;
    std::memcpy(&number, at, sizeof(number));
    at += sizeof(number);
    return number;
}

std::uint64_t read_small(const std::uint8_t*& at) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7U) {
        const std::uint8_t byte = *at++;
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80U) return number;
    }
}

}  // namespace

void RoutineParts::add(const RoutinePart& part) {
    if (last_.ops > 0) store(last_);
    last_ = part;
}

void RoutineParts::add_before_last(const RoutinePart& part) {
    WEFT_CHECK(last_.ops > 0, "there is no last part");
    store(part);
}

void RoutineParts::store(const RoutinePart& part) {
    unsigned flags = part.beside == Disturbance::transfer ? disturbed : 0U;
    if (part.first != stored_.end()) flags |= elsewhere;
    if (part.begin != stored_.over) flags |= apart;
    if (part.posted != part.begin) flags |= waited;
    Writer writer;
    writer.small(std::uint64_t{part.ops} << flag_bits | flags);
    if (flags & elsewhere) writer.whole(part.first);
    if (flags & apart) writer.whole(part.begin.femtoseconds - stored_.over.femtoseconds);
    if (flags & waited) writer.whole(part.begin.femtoseconds - part.posted.femtoseconds);
    writer.whole(part.over.femtoseconds - part.begin.femtoseconds);
    bytes_.insert(bytes_.end(), writer.bytes().begin(), writer.bytes().end());
    stored_ = part;
}

RoutinePart RoutineParts::Reader::next() {
    if (at_ == end_) {
        WEFT_CHECK(last_ != nullptr && last_->ops > 0, "no part is left");
        return *std::exchange(last_, nullptr);
    }
    const std::uint64_t head = read_small(at_);
    const auto flags = static_cast<unsigned>(head) & ((1U << flag_bits) - 1);
    RoutinePart part{.first = flags & elsewhere ? read<std::uint32_t>(at_) : before_.end(),
                     .ops = static_cast<std::uint32_t>(head >> flag_bits),
                     .beside = flags & disturbed ? Disturbance::transfer : Disturbance::none,
                     .posted = {},
                     .begin = before_.over,
                     .over = {}};
    if (flags & apart) part.begin.femtoseconds += read<std::int64_t>(at_);
    part.posted = part.begin;
    if (flags & waited) part.posted.femtoseconds -= read<std::int64_t>(at_);
    part.over = {part.begin.femtoseconds + read<std::int64_t>(at_)};
    before_ = part;
    return part;
}

}  // namespace weft
