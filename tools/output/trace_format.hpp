// How the timeline of a run is written as a trace: a format is told of processes, threads and slices, in this order,
// and of counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>

#include "sim/base/instant.hpp"
#include "sim/program/program.hpp"

namespace weft {

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

}  // namespace weft
