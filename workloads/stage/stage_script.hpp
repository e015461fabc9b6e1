// The script of a stage: slots of the schedule with what stages hand over between them, layers with their calls inside
// them, data parallelism around all.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {

// One step as a rank of `stage` runs it: the first of a run, or one like all later ones.
Script step_script(const Plan& plan, std::uint32_t stage, StepKind kind);

// What the framework sends once, before the first step.
Script start_up_script(const Plan& plan, std::uint32_t stage);

// Writes the script of one stage: its slots in order, and what it hands over to the stages beside it.

class StageWriter {
  public:
    StageWriter(const Plan& plan, std::uint32_t stage, StepKind kind);
    Script step();
    Script start_up();

  private:
    using Calls = std::vector<Call>;

    // Boundary tensors, direction and peer filled in.
    Calls sends(const Slot& slot);
    Calls receives(const Slot& slot);
    Calls exchanged(const Slot& slot, Direction direction, Pass pass);

    void blocking(const Calls& calls, const Slot& slot);
    void hand_over(const Slot* done, const Slot* next);
    void find_neighbours_turns();
    bool receives_first(const Slot& done, const Slot& next) const;
    Accumulation accumulation(const Slot& slot) const;
    using Cell = std::span<const Slot>;  // slots that run as one
    Cell cell_at(std::size_t first) const;
    void run(const Slot& slot);
    PassWriter::JointEnds run(Cell cell);
    void blocking_slots();
    void slots_beside();
    bool hands_over_in_batches() const;
    void batched_slots();
    void exchange(std::span<const Slot> done, std::span<const Slot> next);
    std::size_t end_of_unit(std::size_t first) const;
    void step_calls(const Calls& calls);
    void reduce_shared_gradients();
    void update();
    void finish();

    const Plan& plan_;
    const Job& job_;
    const Stage& stage_;
    std::uint32_t index_;
    StepKind kind_;
    Script script_;
    std::unique_ptr<DataParallel> data_parallel_;
    PassWriter passes_;
    std::vector<const Slot*> last_;  // of each chunk, that computes weights' gradients
    struct Turns {
        std::size_t forward = 0, backward = 0;  // index of the slot
    };
    std::vector<Turns> turns_;               // of the next stage, by micro-batch; only under blocking hand-over
    std::vector<std::vector<Place>> paths_;  // of the micro-batches that visit each chunk
    // Peer, port and direction: set up at start-up, used in this step.
    std::set<std::tuple<std::uint32_t, std::uint32_t, Direction>> connected_, used_;
};

}  // namespace weft
