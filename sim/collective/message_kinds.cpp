#include "sim/collective/message_kinds.hpp"

#include <algorithm>
#include <bit>

namespace weft {

std::uint32_t MessageKinds::look_up(Path path, std::uint32_t channel, const Seat& from, const Seat& to, double share) {
    MessageKind kind{.channel = channel, .from = from.local, .to = to.local};
    if (path == Path::inside) {
        kind.size = size_number({.share = share});
        last_ = {channel, from.local, to.local, share, path, number(kind)};
        return last_.kind;
    }
    const RankId sender = rank(from.node, from.local), receiver = rank(to.node, to.local);
    const Climb climb = tree_.climb(sender, receiver);
    const auto is_like = [&](const Last& last) {
        return channel == last.channel && from.local == last.from && to.local == last.to && share == last.share &&
               path == last.path;
    };
    if (is_like(last_apart_) && size_of(last_apart_.kind).turn == climb.turn) return last_apart_.kind;
    const std::uint32_t found = number(kind, share, climb, detours(sender, receiver));
    const Last last{channel, from.local, to.local, share, path, found};
    if (path == Path::on_leaf && climb.leave == climb.enter) last_ = last;
    if (path == Path::apart && !tree_.has_mesh()) last_apart_ = last;
    return found;
}

std::uint32_t MessageKinds::look_up_moved(const Moved& moved) {
    const MessageKind& first = kinds_[moved.first];
    return number({.channel = first.channel, .from = first.from + moved.by, .to = first.to + moved.by},
                  size_of(moved.first).share, moved.climb, moved.detours);
}

// Of messages to another node: of a kind but for the NICs and the size.
std::uint32_t MessageKinds::number(MessageKind kind, double share, const Climb& climb, std::uint32_t detours) {
    kind.leave = climb.leave;
    kind.enter = climb.enter;
    kind.size = size_number({.share = share, .turn = climb.turn, .detours = detours, .across = true});
    return number(kind);
}

std::uint32_t MessageKinds::number(const MessageKind& kind) {
    const auto [known, is_new] = numbers_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) add(kind);
    return known->second;
}

std::uint32_t MessageKinds::size_number(const MessageSize& size) {
    const auto known = static_cast<std::uint32_t>(std::ranges::find(sizes_, size) - sizes_.begin());
    if (known == sizes_.size()) {
        sizes_.push_back(size);
        size_hashes_.push_back(hash_of({std::bit_cast<std::uint64_t>(size.share), size.turn, size.detours,
                                        static_cast<std::uint64_t>(size.across)}));
    }
    return known;
}

void MessageKinds::add(const MessageKind& kind) {
    enum : std::uint64_t { inside, out, in };
    const std::uint64_t size = size_hashes_[kind.size];
    const bool across = sizes_[kind.size].across;
    kinds_.push_back(kind);
    may_climb_.push_back(across && (sizes_[kind.size].turn > 0 || kind.leave != kind.enter) ? 1 : 0);
    if (across) {
        leaving_.push_back(HashSum::of({out, size, kind.from, kind.leave}));
        entering_.push_back(HashSum::of({in, size, kind.to, kind.enter}));
    } else {
        leaving_.push_back(HashSum::of({inside, size, kind.channel, kind.from, kind.to}));
        entering_.push_back({});
    }
}

std::size_t MessageKinds::Hash::operator()(const MessageKind& kind) const {
    return hash_of({std::uint64_t{kind.channel} << 32U | kind.size, std::uint64_t{kind.from} << 32U | kind.to,
                    std::uint64_t{kind.leave} << 32U | kind.enter});
}

}  // namespace weft
