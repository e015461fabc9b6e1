#include "sim/cost/link_loads.hpp"

namespace weft {

void LinkLoads::add(const LinkLoads& other) {
    for (const Page& theirs : other.used()) {
        Page& page = find_or_add(theirs.number);
        page.used |= theirs.used;
        for_each_place(theirs, [&](std::size_t place) {
            for (std::size_t kind = 0; kind < 3; ++kind) {
                page.cells[place].by_kind[kind] += theirs.cells[place].by_kind[kind];
            }
        });
    }
}

void LinkLoads::add_moved(const LinkLoads& other, const LinkMove& move) {
    other.for_each([&](LinkId link, const Cell& cell) {
        Cell& own = touch(move(link));
        for (std::size_t kind = 0; kind < cell.by_kind.size(); ++kind) own.by_kind[kind] += cell.by_kind[kind];
    });
}

std::size_t LinkLoads::links() const {
    std::size_t count = 0;
    for (const Page& page : used()) count += static_cast<std::size_t>(std::popcount(page.used));
    return count;
}

void LinkLoads::clear() {
    for (Page& page : std::span(pages_).first(used_)) {
        for_each_place(page, [&](std::size_t place) { page.cells[place] = {}; });
        places_[page.number] = 0;
    }
    used_ = 0;
}

void LinkLoads::sort() {
    const auto in_use = std::span(pages_).first(used_);
    std::ranges::sort(in_use, {}, &Page::number);
    for (std::uint32_t i = 0; i < used_; ++i) places_[pages_[i].number] = i + 1;
}

LinkLoads::Page& LinkLoads::add_page(std::size_t number) {
    if (used_ == pages_.size()) add_cells();
    Page& page = pages_[used_++];
    page.number = number;
    page.used = 0;
    if (number >= places_.size()) places_.resize(number + 1, 0);
    places_[number] = static_cast<std::uint32_t>(used_);
    return page;
}

// As many again, as long as that is not much.
void LinkLoads::add_cells() {
    const std::size_t pages = std::clamp<std::size_t>(pages_.size(), 1, most_pages_at_a_time);
    Cell* const cells = cells_.emplace_back(std::make_unique<Cell[]>(pages * page_size)).get();
    for (std::size_t i = 0; i < pages; ++i) pages_.push_back({.cells = cells + i * page_size});
}

namespace {

// Of equals the one that rises most; where rounding makes those equal, the one that begins highest: the order of lines
// decides nothing.
const Line& highest(std::span<const Line> lines, double q) {
    return *std::max_element(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
        if (a.at(q) != b.at(q)) return a.at(q) < b.at(q);
        return a.slope != b.slope ? a.slope < b.slope : a.at_zero < b.at_zero;
    });
}

// The height of the lowest point. Of two lines that reach the envelope left and right of it, the crossing is never
// above it; the line that is highest there replaces one of them. Crossings only rise, which rounding must not undo.
double lowest_height(std::span<const Line> lines) {
    Line left = highest(lines, 0.0), right = highest(lines, 1.0);
    if (left.slope >= 0.0) return left.at(0.0);
    if (right.slope <= 0.0) return right.at(1.0);
    for (double height = -1.0;;) {
        const double q = (left.at_zero - right.at_zero) / (right.slope - left.slope);
        const double crossing = std::max(left.at(q), right.at(q));
        if (crossing <= height) return height;
        height = crossing;
        const Line& top = highest(lines, q);
        if (top.slope == 0.0 || top.at(q) <= crossing) return top.at(q);
        (top.slope < 0.0 ? left : right) = top;
    }
}

}  // namespace

double lowest_point(std::span<const Line> lines) {
    constexpr double worth_it = 1e-6;
    const double height = lowest_height(lines);
    double q = 0.0;  // where the last falling line has come down to that height
    for (const Line& line : lines) {
        if (line.slope < 0.0 && line.at_zero > height * (1.0 + worth_it)) {
            q = std::max(q, (line.at_zero - height) / -line.slope);
        }
    }
    return std::min(q, 1.0);
}

namespace {

BytesPerSecond slowest_class(const Topology& topology) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const LinkClass& each : topology.classes) least = std::min(least, each.bandwidth);
    return least;
}

}  // namespace

StraightTraffic::StraightTraffic(const LinkLoads& loads, const Topology& topology) {
    const double slowest = slowest_class(topology).value;
    double relieved_time = 0.0, other_time = 0.0, least = 0.0;
    LinkLoads::Units negligible = 0;  // less busy than both on any link
    loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
        if (cell.straight() <= negligible) return;
        const BytesPerSecond bandwidth = topology.link(id).bandwidth;
        const double time = cell.at(0.0) / bandwidth.value;
        if (time <= least) return;
        // All routes between two ranks use the same links inside nodes and at their ports.
        const bool is_relieved = cell[RouteKind::minimal] > 0.0 && topology.joins_switches(id);
        double& most = is_relieved ? relieved_time : other_time;
        if (time <= most) return;
        most = time;
        (is_relieved ? relieved : other) = {cell, bandwidth};
        least = std::min(relieved_time, other_time);
        negligible = LinkLoads::units_within(least * slowest);
    });
}

BusiestLinks::BusiestLinks(const Topology& topology) : topology_(topology), slowest_(slowest_class(topology)) {}

void BusiestLinks::find(const LinkLoads& loads) {
    links_.clear();
    at_zero_ = at_one_ = 0.0;
    straight_ = detoured_ = 0;
    loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) { add(link, cell); });
}

// The time of a link, (fixed + (1 - q) minimal + q detour) / bandwidth, is a straight line over q: one that is nowhere
// above another from q = 0 to 1 bounds nothing. All are held against one line, the highest so far where it is lowest.
void BusiestLinks::add(LinkId id, const LinkLoads::Cell& cell) {
    if (cell.straight() <= straight_ && cell.detoured() <= detoured_) return;
    const BusyLink link{cell, topology_.link(id).bandwidth};
    const double from = link.time(0.0), to = link.time(1.0);
    if (from <= at_zero_ && to <= at_one_) return;
    links_.push_back(link);
    if (std::min(from, to) <= std::min(at_zero_, at_one_)) return;
    at_zero_ = from, at_one_ = to;
    straight_ = LinkLoads::units_within(from * slowest_.value);
    detoured_ = LinkLoads::units_within(to * slowest_.value);
}

BusiestLinks::Settled BusiestLinks::settle() {
    double share = topology_.routing == Routing::valiant ? 1.0 : 0.0;
    if (topology_.routing == Routing::adaptive) share = best_share();
    return {.detoured = share, .rate = rate(share)};
}

// Of what is left, only lines that are somewhere above each other one, so that the order of links decides nothing.
double BusiestLinks::best_share() {
    if (links_.empty()) return 0.0;
    ends_.clear();
    for (const BusyLink& link : links_) {
        const double minimal = link.cell[RouteKind::minimal], detour = link.cell[RouteKind::detour];
        ends_.emplace_back(link.time(0.0), link.time(1.0), (detour - minimal) / link.bandwidth.value);
    }
    std::ranges::sort(ends_, std::ranges::greater{});
    lines_.clear();
    double most = -1.0;  // at one
    for (const auto& [at_zero, at_one, slope] : ends_) {
        if (at_one <= most) continue;
        most = at_one;
        lines_.push_back({.at_zero = at_zero, .slope = slope});
    }
    return lowest_point(lines_);
}

BytesPerSecond BusiestLinks::rate(double share) const {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const BusyLink& link : links_) least = std::min(least, link.rate(share));
    return least;
}

}  // namespace weft
