#include "tools/traffic/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

using boost::program_options::error;

class Pairs {
  public:
    Pairs(std::uint32_t ranks, Bytes size) : ranks_(ranks), size_(size) {}

    void shift(std::uint64_t by) {
        for (std::uint64_t rank = 0; rank < ranks_; ++rank) add(rank, (rank + by) % ranks_);
    }
    // A cycle through all ranks, each as likely as any other (Sattolo, Inf. Process. Lett. 22 (1986) 315-317).
    void permutation(std::uint64_t seed) {
        std::vector<std::uint32_t> to(ranks_);
        std::iota(to.begin(), to.end(), 0U);
        for (std::uint32_t i = ranks_ - 1; i > 0; --i) std::swap(to[i], to[hash_of({seed, i}) % i]);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) add(rank, to[rank]);
    }
    void incast(std::uint64_t senders) {
        for (std::uint64_t rank = 1; rank <= senders; ++rank) add(rank, 0);
    }
    void neighbors() {
        for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
            add(rank, (rank + ranks_ - 1) % ranks_);
            if (ranks_ > 2) add(rank, (rank + 1) % ranks_);
        }
    }
    void uniform() {
        for (std::uint64_t by = 1; by < ranks_; ++by) shift(by);
    }

    std::vector<RankMessage> messages() && { return std::move(messages_); }

  private:
    void add(std::uint64_t from, std::uint64_t to) {
        if (messages_.size() == most_rank_messages) refuse_so_many();
        messages_.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), size_, {}});
    }

    std::uint32_t ranks_;
    Bytes size_;
    std::vector<RankMessage> messages_;
};

// What stands after the colon.
std::uint64_t number_of(std::string_view pattern, std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool read = code == std::errc{} && end == text.data() + text.size();
    if (read && number >= least && number <= most) return number;
    throw error(
        fmt::format("{}: expected a number from {} to {} after the colon, got \"{}\"", pattern, least, most, text));
}

}  // namespace

void refuse_so_many() {
    throw error(fmt::format("more messages than the {} that are run one by one at most", most_rank_messages));
}

std::vector<std::string> traffic_pattern_names() {
    return {"shift", "permutation", "incast", "neighbors", "bisection", "uniform"};
}

std::vector<RankMessage> traffic_pattern(std::string_view text, std::uint32_t ranks, Bytes size) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, colon);
    const bool has_number = colon < text.size();
    const std::vector<std::string> known = traffic_pattern_names();
    if (std::ranges::find(known, name) == known.end()) {
        throw error(fmt::format("no pattern of traffic is called \"{}\"{} (known: {})", name, suggestion(name, known),
                                fmt::join(known, ", ")));
    }
    if (ranks < 2) throw error(fmt::format("{}: expected at least 2 ranks, got {}", name, ranks));
    const auto number = [&](std::uint64_t otherwise, std::uint64_t least, std::uint64_t most) {
        return has_number ? number_of(name, text.substr(colon + 1), least, most) : otherwise;
    };
    Pairs pairs(ranks, size);
    if (name == "shift") {
        pairs.shift(number(1, 1, ranks - 1));
    } else if (name == "permutation") {
        pairs.permutation(number(0, 0, std::numeric_limits<std::uint64_t>::max()));
    } else if (name == "incast") {
        pairs.incast(number(ranks - 1, 1, ranks - 1));
    } else if (has_number) {
        throw error(fmt::format("{}: takes no number, got \"{}\"", name, text));
    } else if (name == "neighbors") {
        pairs.neighbors();
    } else if (name == "bisection") {
        if (ranks % 2 != 0) throw error(fmt::format("bisection: expected an even number of ranks, got {}", ranks));
        pairs.shift(ranks / 2);
    } else {
        pairs.uniform();
    }
    return std::move(pairs).messages();
}

}  // namespace weft
