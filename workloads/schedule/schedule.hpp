// A pipeline schedule as pure functions: where the parts of a model sit, and for each stage the order of its slots.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class SlotKind : std::uint8_t {
    forward,
    backward,        // both gradients
    input_backward,  // gradients of the activations only, where a schedule takes the weights' apart
    weight_backward,
};

struct Slot {
    SlotKind kind;
    std::uint32_t micro_batch;
    std::uint32_t chunk = 0;  // which of the stage's model parts
    // A forward that runs as one with the backward that follows it: both begin when what either needs is there.
    enum class Runs : std::uint8_t { alone, with_next } runs = Runs::alone;
    bool operator==(const Slot&) const = default;
};

// Whether the forward of one micro-batch and the backward of another are run as one where a schedule lets them.
enum class PassOrder : std::uint8_t { in_turn, joint };

struct PipelineShape {
    std::uint32_t stages = 1;
    std::uint32_t micro_batches = 1;
    std::uint32_t chunks = 1;  // model parts per stage: the schedule's, or the job's where the schedule leaves it open
    PassOrder passes = PassOrder::in_turn;
};

// One place on a micro-batch's path through the pipeline.
struct Place {
    std::uint32_t stage = 0, chunk = 0;
    bool operator==(const Place&) const = default;
};

// What a schedule asks of the framework that runs it, beyond a forward and a backward of each micro-batch in turn on
// the last stage; and what a framework offers.
struct ScheduleNeeds {
    bool forwards_ahead = false;   // several forwards before the first backward, even there
    bool weights_apart = false;    // the weights' gradients apart from the activations', and later
    bool several_parts = false;    // more than one model part per stage
    bool both_directions = false;  // micro-batches that enter at either end: stages hold two copies of model parts
};
// In words, what of it a framework lacks.
std::vector<std::string_view> missing(const ScheduleNeeds& needs, const ScheduleNeeds& offers);

std::string no_obstacle(const PipelineShape& shape);  // every shape runs
// Places in stage order, the path of a schedule with one chunk per stage.
std::vector<Place> straight_path(const PipelineShape& shape, std::uint32_t micro_batch);

// In a file of workloads/schedule; `key` is its name in a job file.
struct Schedule {
    std::string_view key;
    std::string_view summary;
    std::uint32_t chunks = 1;  // model parts per stage; 0: as many as the job asks for (`layout.virtual`)
    // Copies of every model part: 2 where micro-batches travel in both directions.
    std::uint32_t copies = 1;
    // Whether boundary tensors travel beside computation, each slot waiting only for what it needs.
    enum class Handover : std::uint8_t { blocking, beside } handover = Handover::blocking;
    ScheduleNeeds needs{};
    // Whether it has joint passes (Slot::Runs::with_next).
    enum class Joins : std::uint8_t { never, without_pipeline, always } joins = Joins::never;
    // Why the schedule cannot run a shape, with the numbers; empty if it can.
    std::string (*obstacle)(const PipelineShape& shape) = no_obstacle;
    // The places that a micro-batch passes, forward; the place at position i holds model part i. Backward reverses it.
    std::vector<Place> (*path)(const PipelineShape& shape, std::uint32_t micro_batch) = straight_path;
    // Slots of `stage`: every micro-batch once forward and once backward (whole, or as both halves) on each of its
    // places on this stage.
    std::vector<Slot> (*slots)(const PipelineShape& shape, std::uint32_t stage);
};

namespace schedule {
std::span<const Schedule* const> all();
}

// Of a job that names none, and without a pipeline.
inline constexpr std::string_view plain_schedule = "1f1b";

const Schedule* find_schedule(std::string_view key);  // nullptr if unknown
std::vector<std::string> schedule_keys();

// When the activations that a stage keeps may be the most, whatever each of its model parts keeps.

struct Moment {
    SlotKind kind = SlotKind::forward;  // forward: one has just been done. backward: one on `chunk` is at work
    std::uint32_t chunk = 0;
    std::vector<std::uint32_t> alive;  // micro-batches whose activations are kept, by chunk
    // Of a backward that runs as one with a forward: the chunk of that, whose micro-batch is not among those alive.
    std::optional<std::uint32_t> ahead{};
    auto operator<=>(const Moment&) const = default;
};

// Of the slots of a stage with so many model parts, in their order: those moments that no other one of the same kind
// and chunk has at least as much alive as on every chunk. Backward slots that leave the weights out count, weights'
// gradients alone do not.
std::vector<Moment> fullest_moments(std::span<const Slot> slots, std::size_t chunks);

}  // namespace weft
