// What `weft collective` is asked, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cost/group_costs.hpp"
#include "sim/network/link_traffic.hpp"
#include "tools/command.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/fabric.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {

struct TimeQuantiles {
    Seconds p50, p95, p99;
};

// Whether the host waits for each call before it issues the next.
enum class Calls : std::uint8_t { blocking, queued };

// Whether the phases and the candidates of each row are told.
enum class Detail : std::uint8_t { plain, explained };

struct CollectiveRequest {
    Machine machine;
    const Library* library = nullptr;  // of `machine`
    Collective op{};
    SetLayout layout{};
    Fabric fabric{};
    Preference preference{};
    Calls calls = Calls::blocking;
    Detail detail = Detail::plain;
    SizeConvention convention = SizeConvention::nccl;
    std::vector<Bytes> messages{};     // full buffers
    std::size_t hottest_of_class = 0;  // rows of links that are named of each class
    std::uint32_t samples = 0;         // of calls routed by ECMP; 0: none asked
    unsigned jobs = 1;                 // threads for them; the result is the same for any number

    RouteChoice routing() const { return fabric.routing.value_or(machine.info().routing); }
};

// The library's choice, or an OptionError that says what there is instead.
Choice choose(CollectiveSet& set, const CollectiveRequest& request, Bytes message);

// Throws OptionError for names that the library's table does not have for `op` (for any, if it is absent).
void check_preference(const Library& library, Collective op, const Preference& preference);

// The command line of `weft collective`.

// "8:1G:2": from 8 bytes to 1 GiB, each twice the one before; "8,64K,1M": just these. Suffixes K, M, G and T (also KiB,
// and so on) are powers of 1024. Throws OptionError, which names `option`.
std::vector<Bytes> parse_sizes(std::string_view text, std::string_view option);

// Throws OptionError, or ConfigError for the machine file.
CollectiveRequest collective_request(const po::variables_map& arguments);

// For the tables of measurements that --compare (and `weft calibrate`) reads.
MeasurementHints measurement_hints(const po::variables_map& arguments);

// --calls blocking|queued. Throws OptionError for another word.
Calls calls_option(const po::variables_map& arguments);

// --ranks-per-node, or all accelerators of a node. Throws OptionError for more than it has.
std::uint32_t ranks_per_node_option(const po::variables_map& arguments, const MachineInfo& machine);

// One group of so many ranks. Throws OptionError where they need more nodes than the machine has.
SetLayout layout_of(std::uint32_t ranks, std::uint32_t ranks_per_node, const MachineInfo& machine);

// Of the machine: the one of that name, or its default if it is empty. Throws OptionError, with the nearest names.
const Library& library_named(const MachineInfo& machine, const std::string& name);

// The rows that `weft collective` prints, as values, and beside measurements.

struct ClassUtilization {
    std::string link_class;
    double utilization = 0.0;  // of the busiest link of the class
};

// A stretch of the algorithm on the wire.
struct PhaseFacts {
    std::string pattern;                        // "shift by 1, 126 rounds"
    Seconds launch, path, latency, bytes_time;  // latency: launch and what of the path the bytes do not hide
    Bytes bytes;                                // that one sender moves to one peer
    std::string bottleneck;  // link class; "cap" where the algorithm's own pace limits; "" for no traffic
};

enum class Standing : std::uint8_t { chosen, possible, out_of_bounds };  // the last: not made for messages of this size

struct CandidateFacts {
    std::string_view algorithm, protocol;
    Seconds time;  // as the row's, if this one were taken
    Standing standing{};
};

struct CollectiveRow {
    Bytes size;     // as the convention counts it
    Bytes message;  // the full buffer
    Seconds time;
    BytesPerSecond algorithm_bandwidth{}, bus_bandwidth{};
    std::string_view algorithm, protocol;
    bool is_tuned = false;  // whether the library's tuner chose them
    std::uint32_t channels = 0;
    bool shares_ports = false;  // groups go through the same NICs
    std::vector<ClassUtilization> links{};
    std::vector<HotLink> hottest{};            // as many as the request asks for
    std::optional<TimeQuantiles> sampled{};    // of the time, where hashes are drawn
    std::optional<TimeQuantiles> congested{};  // of the time, as flows of others meet the call at random
    std::vector<PhaseFacts> phases{};          // if explained
    std::vector<CandidateFacts> candidates{};  // if explained: in the order of the library's table
};

// Hears what each link carries in the call of a row. Not of messages sent one by one.
using TrafficListener = std::function<void(const Topology& topology, const CollectiveRow& row, const LinkTraffic&)>;

// Throws OptionError for what cannot run.
std::vector<CollectiveRow> predict(const CollectiveRequest& request, const TrafficListener& listener = {});

// Predictions beside measurements.

struct ComparedRow {
    Bytes message;  // full buffer
    Seconds measured, predicted;
    std::string_view algorithm, protocol;
    int line = 0;  // of the file

    double error() const { return predicted / measured - 1.0; }
};

struct ErrorSummary {
    std::size_t rows = 0;
    double median = 0.0, percentile_90 = 0.0, largest = 0.0;  // of |error|; percentiles by nearest rank
    double bias = 0.0;                                        // median of error
};

ErrorSummary summarize(std::vector<double> errors);

struct Comparison {
    std::vector<ComparedRow> rows;
    ErrorSummary summary;
};

// The measurements of the request's operation, ranks and nodes (where the table tells) and library (where it tells of
// several). Throws ConfigError if there are none, or if they are of several variants.
std::vector<CollectiveMeasurement> matching(const MeasurementTable& table, const CollectiveRequest& request);

// `rows` are predictions of at least the sizes of `measurements`.
Comparison compare(std::span<const CollectiveMeasurement> measurements, std::span<const CollectiveRow> rows);

}  // namespace weft
