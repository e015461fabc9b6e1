// The timeline of a run as a trace for viewers: by the name of its file in Chrome's format (.json, .json.gz) or in
// Perfetto's (.pftrace), a third as large. What stands in it:
//
//   process  a rank class (pid = index + 1), its threads the lanes; last, "network" with the links' utilization
//   slice    an operation (args of a call: what carried it, and its bus bandwidth), or, named "wait", the time that it
//            was ready but its partners were not
//   flow     an arrow from a send to its receive
//   counter  utilization per link class, and the caller's series per rank class
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/network/link_traffic.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "tools/output/text_stream.hpp"
#include "topologies/vertex_names.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// A quantity of one rank class over time: from each point until the next.
struct CounterSeries {
    struct Point {
        Instant at;
        double value = 0.0;
    };
    RankClassId rank_class{};
    std::string name{};  // "memory"
    std::string unit{};  // "bytes"
    std::vector<Point> points{};
};

struct TraceOptions {
    std::string title{};                    // of the run, for the reader's information page
    std::vector<CounterSeries> counters{};  // besides the links' utilization
    std::vector<RankClassId> classes{};     // to show; empty: all
    std::size_t most_slices = 2'000'000;    // browsers cope with a few million
};

// Times are microseconds with three decimals. Instants are rounded to nanoseconds, durations are their differences:
// slices of a lane that touch still touch and none overlap, not even where ts and dur are added as doubles. Operations
// that round to no time have no slice.
//
// Writes the trace as it is made, compressed if the name ends in .gz: it may be larger than memory. Returns a warning
// for the user, empty if nothing was left out. Throws std::runtime_error if the file cannot be written.
std::string write_trace(const std::filesystem::path& path, const Program& program, const Timeline& timeline,
                        const Topology& topology, const TraceOptions& options = {});

// How the timeline of a run is written as a trace: a format is told of processes, threads and slices, in this order,
// and of counters.

// An operation of the program, or a wait before one. Times in nanoseconds.
struct TraceSlice {
    static constexpr std::uint32_t no_communication = std::numeric_limits<std::uint32_t>::max();
    // Of a communication from one to another, which leaves from one slice and arrives in another.
    enum class Message : std::uint8_t { none, leaves, arrives };

    std::size_t process = 0, thread = 0;
    LaneId lane{};
    std::size_t label = 0;  // of the program; past its last one: a wait
    std::int64_t begin = 0, end = 0;
    std::uint32_t micro_batch = 0, layer = 0;
    std::int64_t waited = 0;          // before it, for others
    std::uint64_t bus_bandwidth = 0;  // in bytes per second; 0: it carries nothing
    std::uint32_t communication = no_communication;
    Message message = Message::none;
    std::size_t exchange = 0;  // which carries the message
};

class TraceFormat {
  public:
    virtual ~TraceFormat() = default;
    // Numbers are unique among processes and threads together.
    virtual void process(std::size_t number, std::string_view name) = 0;
    virtual void thread(std::size_t process, std::size_t number, LaneId lane) = 0;
    virtual void slice(const TraceSlice& slice) = 0;
    virtual void end_slices() {}
    virtual void counter(std::size_t process, Instant at, std::string_view name, std::string_view unit,
                         double value) = 0;
    // Without it nothing is written. Throws std::runtime_error if the file cannot be.
    virtual void commit() = 0;
};

std::unique_ptr<TraceFormat> chrome_format(const std::filesystem::path& path, const Program& program,
                                           std::string_view title);
std::unique_ptr<TraceFormat> perfetto_format(const std::filesystem::path& path, const Program& program);

// A simulated step and a replayed program as files to look at: traces for viewers.

std::vector<RankClassId> first_classes(const Step& step);  // of each stage, by stage

// Chrome trace (.json or .json.gz) with the memory of each stage over time. Warns on stderr if slices were left out.
void write_step_trace(const Simulation& simulation, const std::filesystem::path& path);

// Those of `count` nodes from `first` on that take time, as they begin.
std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count);

// The timeline of every rank in Chrome's Trace Event format, packed if the name ends in .gz: a process each, a thread
// for each of its units, and as many for communication, waiting for others included, as goes on at once.
void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run);

// What links carried, as comma-separated values, a row for each.
//
//   from, to                the vertices that it joins (VertexNames)
//   cable                   0, or its number among the links from one of them to the other
//   class, bandwidth_bytes_per_s
//   load_bytes, busy        the bytes that crossed it and the flags between them, on links of nodes and of their ports
//                           divided by what the library reaches of these (sim/cost/protocol_limits.hpp); and
//                           load_bytes / (bandwidth x time)

class LinkFile {
  public:
    // `before`: headings of the columns that come first, each followed by a comma. Compressed if the name ends in .gz.
    LinkFile(const std::filesystem::path& path, const Topology& topology, std::string_view before = {});

    // In the order of their numbers; with `whole`, only those that carried anything in its time. `before`: cells of the
    // first columns, likewise.
    void add(const LinkTraffic& traffic, std::string_view before, const LinkTraffic* whole = nullptr);
    // Without it nothing is written. Throws std::runtime_error.
    void commit() { out_.commit(); }

  private:
    const Topology& topology_;
    VertexNames names_;
    Table<LinkId, std::uint16_t> cable_;
    TextStream out_;
};

// A LinkFile of all links of the machine's part that was built, each by itself, however the step was folded. In slices,
// if the step has them: columns "slice,begin_s,end_s" come first, and only links that carry anything in the step are
// there, in every slice.
void write_step_links(const Simulation& run, const std::filesystem::path& path);

}  // namespace weft
