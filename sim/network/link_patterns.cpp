#include "sim/network/link_patterns.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// A number for each link of a machine, 0 at first. They come in pages, of which those that were asked for are kept; or
// in one, where so many are asked for that it costs no more.
class LinkNumbers {
  public:
    // Somebody asks `times` times.
    LinkNumbers(std::size_t links, std::size_t times)
        : page_bits_(times < links / 8 ? 7U : std::bit_width(links)), places_((links >> page_bits_) + 1, 0) {}

    // Calls visit(load, number of its link) for each of `loads`, which are sorted by link.
    template <class Visit>
    void for_each_of(std::span<const LinkLoad> loads, Visit visit) {
        const std::size_t bits = page_bits_, last = page_size() - 1;
        for (std::size_t i = 0; i < loads.size();) {
            const std::size_t page = index(loads[i].link) >> bits;
            std::uint32_t* const numbers = find_or_add(page);
            for (; i < loads.size() && index(loads[i].link) >> bits == page; ++i) {
                visit(loads[i], numbers[index(loads[i].link) & last]);
            }
        }
    }
    // Calls visit(link, number) in ascending order for every number that is not 0.
    template <class Visit>
    void for_each(Visit visit) {
        for (std::size_t page = 0; page < places_.size(); ++page) {
            if (places_[page] == 0) continue;
            std::uint32_t* const numbers = find_or_add(page);
            for (std::size_t i = 0; i < page_size(); ++i) {
                if (numbers[i] != 0) visit(LinkId(static_cast<std::uint32_t>((page << page_bits_) + i)), numbers[i]);
            }
        }
    }
    std::size_t size() const { return numbers_.size(); }  // those of pages that are kept

  private:
    std::size_t page_size() const { return std::size_t{1} << page_bits_; }
    std::uint32_t* find_or_add(std::size_t page) {
        WEFT_CHECK(page < places_.size(), "a pattern names an unknown link");
        if (places_[page] == 0) {
            places_[page] = static_cast<std::uint32_t>((numbers_.size() >> page_bits_) + 1);
            numbers_.resize(numbers_.size() + page_size(), 0);
        }
        return numbers_.data() + (std::size_t{places_[page] - 1} << page_bits_);
    }

    std::size_t page_bits_ = 0;
    std::vector<std::uint32_t> places_;   // by page: 1 + place among those in numbers_, or 0
    std::vector<std::uint32_t> numbers_;  // page by page
};

}  // namespace

LinkPatterns::LinkPatterns(const Topology& topology, const Table<PatternId, Pattern>& patterns) {
    std::size_t total = 0;
    for (const Pattern& pattern : patterns) total += pattern.loads.size();
    WEFT_CHECK(total < std::numeric_limits<std::uint32_t>::max(), "too many links in patterns");
    LinkNumbers numbers(topology.links(), total);
    for (const Pattern& pattern : patterns) {
        numbers.for_each_of(pattern.loads, [&](const LinkLoad&, std::uint32_t& number) { ++number; });
    }
    const std::size_t most = std::min(total, numbers.size());
    links_.reserve(most);
    start_.reserve(most + 1);
    // What was a link's number of crossings is then where its next one goes.
    std::uint32_t end = 0;
    numbers.for_each([&](LinkId link, std::uint32_t& number) {
        links_.push_back(link);
        start_.push_back(end);
        end += std::exchange(number, end);
    });
    start_.push_back(end);
    WEFT_CHECK(links_.empty() || index(links_.back()) < topology.links(), "a pattern names an unknown link");
    crossings_.resize(total);
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        numbers.for_each_of(patterns[id].loads, [&](const LinkLoad& load, std::uint32_t& number) {
            crossings_[number++] = {id, load.load};
        });
    }
}

}  // namespace weft
