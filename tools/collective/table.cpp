#include "tools/collective/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

std::string peer_text(Peer peer) {
    if (peer == Peer::all) return "all to all";
    if (peer == Peer::listed) return "listed edges";
    return boost::replace_all_copy(std::string(enumerator_name(peer)), "_", " ");
}

bool has_distance(Peer peer) { return peer != Peer::all && peer != Peer::listed && peer != Peer::chain; }

// Of the phases that one stretch joins.
std::string pattern_text(std::span<const Phase> phases) {
    const auto rounds = sum_of<std::uint32_t>(phases, &Phase::repeat);
    const Phase& first = phases.front();
    std::string text = peer_text(first.peer);
    if (has_distance(first.peer)) text += fmt::format(" by {}", first.distance);
    if (first.span > 0) text += fmt::format(" below {}", first.span);
    if (first.peer == Peer::listed) text = fmt::format("{} {}", first.edges.size(), text);
    return text + fmt::format(", {} round{}", rounds, rounds == 1 ? "" : "s");
}

std::string bottleneck(const Pattern& pattern, const Topology& topology) {
    if (is_unlimited(pattern)) return "";
    std::string name = "cap";
    BytesPerSecond least = pattern.cap;
    for (const LinkLoad& load : pattern.loads) {
        const BytesPerSecond rate = topology.link(load.link).bandwidth / load.load;
        if (!(rate < least)) continue;
        least = rate;
        name = topology.link(load.link).name;
    }
    return name;
}

std::vector<PhaseFacts> explain_phases(CollectiveSet& set, const Topology& topology, const Choice& choice,
                                       Bytes message) {
    const std::vector<Phase> phases =
        set.layout().members() < 2 ? std::vector<Phase>{} : choice.algorithm->phases(set.costs().shape());
    std::vector<PhaseFacts> facts;
    std::size_t first = 0;
    for (const PhaseCost& cost : set.costs().phases(choice)) {
        const bool moves = !is_unlimited(cost.pattern);
        facts.push_back({.pattern = phases.empty() ? "" : pattern_text(std::span(phases).subspan(first, cost.phases)),
                         .launch = cost.launch,
                         .path = cost.critical_path(message),
                         .latency = cost.latency(message),
                         .bytes_time = moves ? cost.bytes(message) / idle_rate(cost.pattern, topology) : Seconds{},
                         .bytes = cost.bytes(message),
                         .bottleneck = bottleneck(cost.pattern, topology)});
        first += cost.phases;
    }
    return facts;
}

// What the host adds to a call.
Seconds host_time(const CollectiveRequest& request) {
    return request.calls == Calls::blocking ? request.library->blocking : Seconds{};
}

// Of the whole call.
Seconds call_time(CollectiveSet& set, const CollectiveRequest& request, const Choice& choice, Bytes message) {
    return set.time(choice, message) + host_time(request);
}

std::vector<CandidateFacts> explain_candidates(CollectiveSet& set, const CollectiveRequest& request,
                                               const Choice& chosen, Bytes message) {
    return list_of<CandidateFacts>(set.costs().candidates(request.op, request.preference), [&](const Choice& choice) {
        return CandidateFacts{.algorithm = choice.protocol->algorithm,
                              .protocol = choice.protocol->protocol,
                              .time = call_time(set, request, choice, message),
                              .standing = choice == chosen                       ? Standing::chosen
                                          : set.costs().carries(choice, message) ? Standing::possible
                                                                                 : Standing::out_of_bounds};
    });
}

void add_links(CollectiveRow& row, CollectiveSet& set, const Topology& topology, const CollectiveRequest& request,
               const Choice& choice, const TrafficListener& listener) {
    for (const CollectiveSet::ClassUse& use : set.utilization(choice, row.message)) {
        row.links.push_back({topology.classes[use.link_class].name, use.utilization});
    }
    if (request.hottest_of_class == 0 && !listener) return;
    const LinkTraffic traffic = set.traffic(choice, row.message);
    row.hottest = hottest_links(topology, traffic.used(), traffic.time, request.hottest_of_class);
    if (listener) listener(topology, row, traffic);
}

CollectiveRow make_row(CollectiveSet& set, const Topology& topology, const CollectiveRequest& request, Bytes message,
                       const TrafficListener& listener) {
    const std::uint32_t members = request.layout.members();
    const Choice choice = choose(set, request, message);
    CollectiveRow row{.size = stated_size(request.op, message, request.convention, members),
                      .message = message,
                      .time = call_time(set, request, choice, message),
                      .algorithm = choice.protocol->algorithm,
                      .protocol = choice.protocol->protocol,
                      .is_tuned = set.costs().is_tuned(request.op, message, request.preference),
                      .channels = set.channels(choice),
                      .shares_ports = set.costs().shares_ports(choice)};
    add_links(row, set, topology, request, choice, listener);
    if (row.time > Seconds{}) row.algorithm_bandwidth = message / row.time;
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(request.op, members);
    if (request.detail == Detail::explained) {
        row.phases = explain_phases(set, topology, choice, message);
        row.candidates = explain_candidates(set, request, choice, message);
    }
    return row;
}

class NoSink final : public ExchangeSink {
  public:
    void add(LinkId /*link*/, ExchangeRoute /*kind*/, double /*messages*/, std::uint32_t /*parts*/) override {}
    void reach(ExchangeRoute /*kind*/, Seconds /*latency*/) override {}
};

bool counts_exchanges(const Topology& topology) {
    NoSink sink;
    const std::vector<RankId> two{RankId{0}, RankId{topology.ranks - 1}};
    return topology.router->add_exchange(two, 0, Router::Routes::straight, sink);
}

// Without symmetry the messages of an all-to-all are routed one by one.
void tell_cost(const CollectiveRequest& request, const Topology& topology) {
    if (request.op != Collective::all_to_all || counts_exchanges(topology)) return;
    constexpr double most_untold = 1e7, each = 1e-6;  // seconds of a message, with its detours, about
    const double members = request.layout.members(), messages = members * (members - 1) * request.layout.groups;
    if (messages < most_untold) return;
    fmt::print(stderr, "{:.3g} messages, each routed by itself, since {}: about {:.0f} s for each channel\n", messages,
               topology.routing == Routing::ecmp ? "hashes choose their ways" : "this network is not alike everywhere",
               messages * each);
}

// Of the calls of the rows, by the same algorithms and protocols, on another fabric.
std::vector<Seconds> times_on(const Fabric& fabric, const CollectiveRequest& request,
                              std::span<const CollectiveRow> rows) {
    const Topology topology = request.machine.topology(request.layout.nodes(), fabric);
    CollectiveSet set(topology, *request.library, request.layout);
    return list_of<Seconds>(rows, [&](const CollectiveRow& row) {
        const Preference same{std::string(row.algorithm), std::string(row.protocol)};
        return call_time(set, request, set.costs().choose(request.op, row.message, same).value(), row.message);
    });
}

// By nearest rank.
TimeQuantiles quantiles(std::vector<Seconds> times) {
    std::ranges::sort(times);
    const auto quantile = [&](double share) {
        return times[static_cast<std::size_t>(std::ceil(share * static_cast<double>(times.size()))) - 1];
    };
    return {quantile(0.50), quantile(0.95), quantile(0.99)};
}

// Where other flows meet: each sample has a seed that is so much above the fabric's as it has samples before it.
void draw_hashes(const CollectiveRequest& request, std::span<CollectiveRow> rows) {
    std::vector<std::vector<Seconds>> times(request.samples);
    ProgressBar progress;
    for_each_in_parallel(
        request.samples, request.jobs,
        [&](std::size_t i) {
            Fabric fabric = request.fabric;
            fabric.routing = RouteChoice(Routing::ecmp, request.routing().seed + i);
            times[i] = times_on(fabric, request, rows);
        },
        [&](std::size_t done, std::size_t all) { progress.show(done, all); });
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r].sampled = quantiles(list_of<Seconds>(times, [&](const auto& sample) { return sample[r]; }));
    }
}

// Where flows of others meet the calls, if anybody sends any.
void meet_others(const CollectiveRequest& request, std::span<CollectiveRow> rows) {
    if (!has_background(request.fabric)) return;
    const auto times = [&](double quantile) {
        Fabric fabric = request.fabric;
        fabric.quantile = quantile;
        return times_on(fabric, request, rows);
    };
    const std::vector<Seconds> p50 = times(0.50), p95 = times(0.95), p99 = times(0.99);
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r].congested = {p50[r], p95[r], p99[r]};
}

std::string described(const CollectiveMeasurement& row) {
    std::string text(name(row.op));
    if (row.ranks > 0) text += fmt::format(" among {} ranks", row.ranks);
    if (row.nodes > 0) text += fmt::format(" on {} node{}", row.nodes, row.nodes == 1 ? "" : "s");
    return text;
}

double nearest_rank(const std::vector<double>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

std::vector<CollectiveRow> predict(const CollectiveRequest& request, const TrafficListener& listener) {
    check_preference(*request.library, request.op, request.preference);
    const Topology topology = request.machine.topology(request.layout.nodes(), request.fabric);
    tell_cost(request, topology);
    CollectiveSet set(topology, *request.library, request.layout);
    auto rows = list_of<CollectiveRow>(
        request.messages, [&](Bytes message) { return make_row(set, topology, request, message, listener); });
    if (request.samples > 0) draw_hashes(request, rows);
    meet_others(request, rows);
    return rows;
}

ErrorSummary summarize(std::vector<double> errors) {
    if (errors.empty()) return {};
    ErrorSummary summary{.rows = errors.size(), .bias = median(errors)};
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    summary.median = median(errors);
    summary.percentile_90 = nearest_rank(errors, 0.9);
    summary.largest = errors.back();
    return summary;
}

std::vector<CollectiveMeasurement> matching(const MeasurementTable& table, const CollectiveRequest& request) {
    std::vector<CollectiveMeasurement> rows;
    std::set<std::string> there;
    for (const CollectiveMeasurement& row : table.rows) {
        there.insert(described(row));
        const bool same_ranks = row.ranks == 0 || row.ranks == request.layout.members();
        const bool same_nodes = row.nodes == 0 || row.nodes == request.layout.nodes();
        if (row.op == request.op && same_ranks && same_nodes) rows.push_back(row);
    }
    if (rows.empty()) {
        refuse_file(table.file,
                    fmt::format("nothing measured of {} among {} ranks on {} nodes; the table has: {}",
                                name(request.op), request.layout.members(), request.layout.nodes(), listing(there)));
    }
    return of_one_kind(table, std::move(rows), request.library->name);
}

Comparison compare(std::span<const CollectiveMeasurement> measurements, std::span<const CollectiveRow> rows) {
    Comparison comparison;
    std::vector<double> errors;
    for (const CollectiveMeasurement& measured : measurements) {
        const auto row = std::ranges::find(rows, measured.size, &CollectiveRow::message);
        WEFT_CHECK(row != rows.end(), "every size measured is predicted");
        comparison.rows.push_back({.message = measured.size,
                                   .measured = measured.time,
                                   .predicted = row->time,
                                   .algorithm = row->algorithm,
                                   .protocol = row->protocol,
                                   .line = measured.line});
        errors.push_back(comparison.rows.back().error());
    }
    comparison.summary = summarize(std::move(errors));
    return comparison;
}

}  // namespace weft
