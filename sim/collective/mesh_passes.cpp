#include "sim/collective/mesh_passes.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/base/hash_sum.hpp"
#include "sim/base/paged_rows.hpp"
#include "sim/collective/critical_path.hpp"
#include "sim/collective/row_survey.hpp"

namespace weft {
namespace {

// What passes a link by messages of one size.
struct Cell {
    std::uint32_t group = 0;                        // the last that passes it, by number from 1; 0: none
    std::uint32_t routes = 0, detours = 0;          // by messages of that group
    std::uint32_t all_routes = 0, all_detours = 0;  // of all groups
};

// Links are counted from the first of the mesh.
class MeshReader {
  public:
    MeshReader(const Topology& topology, const RowSurvey& survey)
        : topology_(topology),
          tree_(*topology.fabric()),
          survey_(survey),
          kinds_(survey.kinds()),
          first_(index(tree_.mesh().first)),
          links_(index(tree_.mesh().end) - first_),
          is_in_order_(in_order(survey.phase())),
          sizes_(sizes_on_mesh(survey)),
          cells_(links_, sizes_.size()) {}

    MeshPasses read() {
        const auto parts = static_cast<std::uint32_t>(survey_.parts().size());
        for (part_ = 0; part_ < parts; ++part_) read(survey_.parts()[part_]);
        cells_.for_each([&](std::size_t link, std::size_t i, const Cell& cell) {
            if (cell.group != 0) add(link, sizes_[i], cell.all_routes, cell.all_detours, found_.of_all);
        });
        return std::move(found_);
    }

  private:
    static std::vector<std::uint32_t> sizes_on_mesh(const RowSurvey& survey) {
        std::vector<std::uint32_t> found;
        for (std::uint32_t size = 0; size < survey.kinds().sizes().size(); ++size) {
            if (survey.kinds().sizes()[size].turn > 0) found.push_back(size);
        }
        return found;
    }
    void add(std::size_t link, std::uint32_t size, std::uint32_t routes, std::uint32_t detours,
             std::vector<LinkPasses>& passes) const {
        passes.push_back(
            {LinkId{static_cast<std::uint32_t>(first_ + link)}, LinkPasses::several, size, routes, detours});
    }

    // Groups of a part moved inside their nodes so that their messages take the same NICs: by GroupRow::within.
    using Alike = std::vector<std::uint32_t>;

    void read(const RowSurvey::Part& part) {
        known_.assign(survey_.row().within.size(), {});
        const std::vector<Alike> all = alike(part);
        if (part.climbing.empty()) return add_loads(all.front());
        for (const NodeRun run : part.groups.moves) {
            for (std::uint32_t i = 0; i < run.count; ++i) {
                const std::uint32_t by = (run.first + i - part.groups.first()) * topology_.ranks_per_node;
                for (const Alike& within : all) read(part, by, within);
            }
        }
    }

    std::vector<Alike> alike(const RowSurvey::Part& part) const {
        std::vector<Alike> all;
        for (std::uint32_t i = 0; i < survey_.row().within.size(); ++i) {
            const auto is_like = [&](const Alike& others) { return take_same_nics(part, others.front(), i); };
            const auto known = std::ranges::find_if(all, is_like);
            if (known == all.end()) {
                all.push_back({i});
            } else {
                known->push_back(i);
            }
        }
        return all;
    }

    bool take_same_nics(const RowSurvey::Part& part, std::uint32_t i, std::uint32_t j) const {
        for (std::size_t at = 0; at < part.climbing.size(); ++at) {
            const MessageKind &a = kinds_[survey_.moved_kind(part, at, i)],
                              &b = kinds_[survey_.moved_kind(part, at, j)];
            if (a.leave != b.leave || a.enter != b.enter || a.size != b.size) return false;
        }
        return true;
    }

    // The groups moved by so many ranks from the part's first, and inside their nodes.
    void read(const RowSurvey::Part& part, std::uint32_t by, const Alike& within) {
        ++group_;
        delays_.resize(within.size());
        for (std::vector<Seconds>& each : delays_) each.clear();
        for (std::size_t at = 0; at < part.climbing.size(); ++at) {
            const RowSurvey::Message& message = part.messages[part.climbing[at]].first;
            const MessageKind& first = kinds_[message.kind];
            const RankId from = moved(survey_.rank(part, message.from, first.from), by),
                         to = moved(survey_.rank(part, message.to, first.to), by);
            for (std::size_t i = 0; i < within.size(); ++i) {
                const std::uint32_t inside = survey_.row().within[within[i]];
                const std::uint32_t kind = survey_.moved_kind(part, at, within[i]);
                if (i == 0) pass(moved(from, inside), moved(to, inside), kinds_[kind]);
                add_delay(delays_[i], kind, moved(from, inside), moved(to, inside));
            }
        }
        add_loads(within);
        for (std::size_t i = 0; i < within.size(); ++i) add_delays(within[i], delays_[i]);
    }

    void pass(RankId from, RankId to, const MessageKind& kind) {
        const std::uint32_t detours = kinds_.sizes()[kind.size].detours;
        place_ = static_cast<std::size_t>(std::ranges::find(sizes_, kind.size) - sizes_.begin());
        const Route route = topology_.route(from, to, kind.channel);
        ways_ = 0;
        add_way(route);
        for (const LinkId link : route.links()) pass(link, 1, 0);
        if (topology_.routing == Routing::valiant) {
            for (std::uint32_t i = 0; i < detours; ++i) {
                const Route detour = topology_.router->detour(from, to, kind.channel, i);
                add_way(detour);
                for (const LinkId link : detour.links()) pass(link, 0, 1);
            }
        } else if (detours > 0) {
            detours_.clear();
            topology_.router->add_detours(from, to, kind.channel, detours_);
            for (const LinkTimes& each : detours_) pass(each.link, 0, each.times);
        }
    }

    void pass(LinkId id, std::uint32_t routes, std::uint32_t detours) {
        const std::size_t link = index(id) - first_;
        if (link >= links_) return;  // of a node
        const std::span<Cell> cells = cells_[link];
        const auto is_met = [&](const Cell& cell) { return cell.group == group_; };
        if (!is_met(cells[place_])) {
            if (std::ranges::none_of(cells, is_met)) touched_.push_back(static_cast<std::uint32_t>(link));
            cells[place_].group = group_;
            cells[place_].routes = cells[place_].detours = 0;
        }
        cells[place_].routes += routes;
        cells[place_].detours += detours;
    }

    void add_way(const Route& route) {
        if (ways_ == way_.size()) way_.emplace_back();
        std::vector<LinkClassId>& way = way_[ways_++];
        way.clear();
        for (const LinkId link : route.links()) {
            if (index(link) - first_ < links_) way.push_back(topology_.link_class(link));
        }
    }

    // Of a message of a kind that takes the ways last passed.
    void add_delay(std::vector<Seconds>& delays, std::uint32_t kind, RankId from, RankId to) {
        Seconds longest;
        for (const std::vector<LinkClassId>& way : std::span(way_).first(ways_)) {
            std::uint64_t hash = kind;
            for (const LinkClassId each : way) hash = hash_of({hash, static_cast<std::uint64_t>(each)});
            const auto [known, is_new] = known_ways_.try_emplace(hash);
            if (is_new) known->second = delay(way, from, to);
            longest = std::max(longest, known->second);
        }
        if (is_in_order_ || delays.empty()) {
            delays.push_back(longest);
        } else {
            delays.front() = std::max(delays.front(), longest);
        }
    }

    // Summed up along the way, as that of any route.
    Seconds delay(std::span<const LinkClassId> way, RankId from, RankId to) const {
        Seconds sum;
        const Route leaving = tree_.leaving(from, to), entering = tree_.entering(from, to);
        for (const LinkId link : leaving.links()) sum += topology_.link(link).latency;
        for (const LinkClassId each : way) sum += topology_.classes[each].latency;
        for (const LinkId link : entering.links()) sum += topology_.link(link).latency;
        return sum;
    }

    // What the groups at hand load: in sum, and each, unless another of the part does so.
    void add_loads(const Alike& within) {
        const auto groups = static_cast<std::uint32_t>(within.size());
        HashSum loads;
        firsts_.clear();
        for (const std::uint32_t link : touched_) {
            const std::span<Cell> cells = cells_[link];
            for (Cell& cell : cells) {
                if (cell.group != group_) continue;
                cell.all_routes += groups * cell.routes;
                cell.all_detours += groups * cell.detours;
            }
            const std::uint32_t number = load_number(link, cells);
            if (met_load_[number] == group_) continue;
            met_load_[number] = group_;
            loads += load_hashes_[number];
            firsts_.push_back(link);
        }
        touched_.clear();
        std::vector<LinkPasses> passes;
        for (const std::uint32_t i : within) {
            if (!known_[i].loads.insert(loads).second) continue;
            if (passes.empty()) passes = passes_of(firsts_);
            found_.alike.push_back({.part = part_, .within = i, .passes = passes});
        }
    }

    // Of what the group at hand passes a link with: equal for equal loads of links of one class. Mostly it is little.
    std::uint32_t load_number(std::uint32_t link, std::span<const Cell> cells) {
        const LinkClassId link_class = topology_.link_class(LinkId{static_cast<std::uint32_t>(first_ + link)});
        const Cell& only = cells.front();
        if (cells.size() > 1 || only.routes >= few || only.detours >= few) return look_up(cells, link_class);
        const std::size_t place = (static_cast<std::size_t>(link_class) * few + only.routes) * few + only.detours;
        if (place >= numbers_of_few_.size()) numbers_of_few_.resize(place + 1, unknown);
        if (numbers_of_few_[place] == unknown) numbers_of_few_[place] = look_up(cells, link_class);
        return numbers_of_few_[place];
    }

    std::uint32_t look_up(std::span<const Cell> cells, LinkClassId link_class) {
        HashSum load = HashSum::of({static_cast<std::uint64_t>(link_class)});
        for (std::uint64_t i = 0; i < cells.size(); ++i) {
            const Cell& cell = cells[i];
            if (cell.group == group_) load += HashSum::of({i, std::uint64_t{cell.routes} << 32U | cell.detours});
        }
        const auto [known, is_new] = load_numbers_.try_emplace(load, static_cast<std::uint32_t>(load_hashes_.size()));
        if (is_new) {
            load_hashes_.push_back(HashSum::of({load.a, load.b}));
            met_load_.push_back(0);
        }
        return known->second;
    }

    std::vector<LinkPasses> passes_of(std::span<const std::uint32_t> links) {
        std::vector<LinkPasses> passes;
        for (const std::uint32_t link : links) {
            const std::span<const Cell> cells = cells_[link];
            for (std::size_t i = 0; i < cells.size(); ++i) {
                if (cells[i].group == group_) add(link, sizes_[i], cells[i].routes, cells[i].detours, passes);
            }
        }
        return passes;
    }

    void add_delays(std::uint32_t within, const std::vector<Seconds>& delays) {
        HashSum all;
        std::uint64_t place = 0;
        for (const Seconds delay : delays) all += HashSum::of({place++, std::bit_cast<std::uint64_t>(delay.value)});
        if (!known_[within].delays.insert(all).second) return;
        found_.delays.push_back({.part = part_, .within = within, .climbing = delays});
    }

    const Topology& topology_;
    const RouteTree& tree_;
    const RowSurvey& survey_;
    const MessageKinds& kinds_;
    std::size_t first_, links_;
    bool is_in_order_;
    std::vector<std::uint32_t> sizes_;  // of messages that pass the mesh
    MeshPasses found_;
    PagedRows<Cell> cells_;  // of each link one for each of these
    std::uint32_t part_ = 0;
    std::uint32_t group_ = 0;             // at hand
    std::vector<std::uint32_t> touched_;  // links that it passes
    std::vector<std::vector<Seconds>> delays_;
    std::size_t place_ = 0;                                  // in sizes_, of the message last passed
    std::vector<std::vector<LinkClassId>> way_;              // of links between switches that it passes
    std::size_t ways_ = 0;                                   // so many of these
    std::unordered_map<std::uint64_t, Seconds> known_ways_;  // by kind and way; only looked up
    std::vector<LinkTimes> detours_;
    std::vector<std::uint32_t> firsts_;  // links, one of each load of the group at hand
    static constexpr std::uint32_t few = 16, unknown = 0xffffffff;
    std::vector<std::uint32_t> numbers_of_few_;  // by class, routes and detours, of messages of an only size
    std::unordered_map<HashSum, std::uint32_t, HashSum::Hash> load_numbers_;  // only looked up
    std::vector<HashSum> load_hashes_;                                        // by number
    std::vector<std::uint32_t> met_load_;                                     // likewise: the last group that has it
    using Hashes = std::unordered_set<HashSum, HashSum::Hash>;                // only looked up
    struct Known {
        Hashes loads, delays;
    };
    std::vector<Known> known_;  // of the part's groups, by GroupRow::within
};

}  // namespace

MeshPasses mesh_passes(const Topology& topology, const RowSurvey& survey) {
    return MeshReader(topology, survey).read();
}

}  // namespace weft
