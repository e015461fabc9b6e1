// What a rank of a stage does in the passes of micro-batches, one computation or call at a time. Writers build on one
// another: a rank's computations and calls, pieces of layers (piece_writer.hpp), layers (layer_writer.hpp), what stands
// before and after them (end_writer.hpp), passes (pass_writer.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/stage/pass_names.hpp"

namespace weft {

// The host of a rank launches kernels and calls one after another, ahead of the device until it waits for it. Where it
// launches slower than the device works, computation goes at its pace: a pass ends no earlier than its last launch.

class HostStream {
  public:
    HostStream(const Plan& plan, Script& script) : plan_(plan), script_(script) {}

    // The host waits for all that was asked of the device so far.
    void synchronise() {
        if (plan_.host_bound) ready_ = script_.now();
    }
    // A pass begins; operations are issued in it, and the calls that the script gets; it ends.
    void begin() {
        operations_ = 0;
        first_ = script_.actions().size();
    }
    void issue(double operations) { operations_ += operations; }
    void end(Where where) {
        if (!plan_.host_bound) return;
        double launches = operations_;
        for (std::size_t i = first_; i < script_.actions().size(); ++i) {
            const Action::Kind kind = script_.actions()[i].kind;
            if (kind == Action::Kind::call || kind == Action::Kind::issue) launches += 1;
        }
        script_.wait(script_.launch("launch", plan_.device.host_launch * launches, where, ready_));
        ready_ = Action::none;  // from here on the host's own order says it
    }
    // Inside a pass: what follows is issued once the host has seen what was computed by `result`, a now() of the
    // script.
    void wait_for_results(ActionId result, Where where) {
        if (!plan_.host_bound) return;
        end(where);
        ready_ = result;
        begin();
    }
    // What the next launch waits for beyond the host's own order; Action::none where there is nothing.
    ActionId ready() const { return ready_; }
    // A pass was written again, which ended with launches.
    void repeat() { ready_ = Action::none; }

  private:
    const Plan& plan_;
    Script& script_;
    ActionId ready_ = Action::none;  // the end of what the host waited for last
    double operations_ = 0;          // of the pass, since it began or waited
    std::size_t first_ = 0;          // action since then
};

class RankWriter {
  protected:
    RankWriter(const Plan& plan, std::uint32_t stage, DataParallel& data_parallel, Script& script)
        : plan_(plan),
          job_(plan.job),
          stage_(plan.stages[stage]),
          data_parallel_(data_parallel),
          script_(script),
          host_(plan, script),
          around_(job_.layer_places()) {}

    // A layer, or what stands before or after them, in one pass.
    struct At {
        PassAt pass;
        LayerKind kind = LayerKind::dense;
        std::size_t module = 0;  // first of the layer
        std::size_t place = 0;   // Job::layer_place()
    };
    // What an operation is made of; operations of one layer that follow one another without a call become one.
    enum Parts : std::uint8_t { attention = 1, mlp = 2, experts = 4, weights_alone = 8 };
    // The compute action written last, while it may still be extended.
    struct Open {
        ActionId action = Action::none;
        std::size_t actions = 0;  // of the script when it was written
        Pass pass{};
        Where where;
        unsigned parts = 0;
    };
    bool is_open() const { return open_.action != Action::none && script_.actions().size() == open_.actions; }

    At at(const Slot& slot, Pass pass) const {
        const Chunk& chunk = stage_.chunks[slot.chunk];
        return {.pass = {.pass = pass, .where = {slot.micro_batch, chunk.first_layer}, .chunk = slot.chunk},
                .module = chunk.first_module};
    }
    At layer_at(At at, const Chunk& chunk, std::uint32_t i) const {
        at.pass.where.layer = chunk.first_layer + i;
        at.kind = layer_kind(job_.model, at.pass.where.layer);
        at.place = job_.layer_place(at.pass.where.layer);
        at.module = chunk.layer_module[i];
        return at;
    }
    const LayerCosts& costs(const At& at) const { return plan_.costs.layers[at.place]; }
    static Parts part_of(Piece piece) {
        switch (piece) {
            case Piece::input_norm:
            case Piece::qkv:
            case Piece::core:
            case Piece::projection:
                return attention;
            case Piece::experts:
                return experts;
            default:
                return mlp;
        }
    }
    std::string_view label_of(const At& at, unsigned parts) const {
        if (parts == weights_alone) return "backward weights";
        parts &= ~unsigned{weights_alone};
        const Layer& layer = layer_of(job_.model, at.kind);
        const bool mixes = parts == attention && !is_recurrent(layer.mixer);
        const PassNames& names = layer.of == LayerOf::language && mixes               ? pass_names::attention
                                 : parts == mlp || parts == (unsigned{mlp} | experts) ? pass_names::mlp
                                 : parts == experts                                   ? pass_names::experts
                                                                                      : names_of(layer);
        return at.pass.pass == Pass::forward     ? names.forward
               : at.pass.pass == Pass::recompute ? names.recompute
                                                 : names.backward;
    }

    void compute(const At& at, Parts part, Seconds duration) {
        const bool extends =
            is_open() && open_.pass == at.pass.pass && open_.where == at.pass.where && !script_.waited();
        if (!extends) {
            open_ = {.action = script_.compute(label_of(at, part), duration, at.pass.where),
                     .actions = script_.actions().size(),
                     .pass = at.pass.pass,
                     .where = at.pass.where,
                     .parts = part};
            return;
        }
        open_.parts |= part;
        script_.extend(open_.action, duration, label_of(at, open_.parts));
    }
    void compute(const At& at, std::string_view label, Seconds duration) {
        script_.compute(label, duration, at.pass.where);
        open_.action = Action::none;
    }
    void calls(const std::vector<Call>& calls, const At& at) {
        for (std::size_t i = 0; i < calls.size();) {
            std::size_t end = i + 1;  // of those that start together
            while (end < calls.size() && calls[end].start == Start::with_previous) ++end;
            std::vector<ActionId> beside;
            for (std::size_t other = i + 1; other < end; ++other) {
                beside.push_back(script_.issue(calls[other], at.pass.where, script_.now()));
            }
            script_.call(calls[i], at.pass.where);
            wait(beside);
            i = end;
        }
    }
    std::vector<ActionId> issue(const std::vector<Call>& calls, const At& at) {
        std::vector<ActionId> issued;
        for (const Call& one : calls) issued.push_back(script_.issue(one, at.pass.where, script_.now()));
        return issued;
    }
    void wait(const std::vector<ActionId>& issued) {
        for (const ActionId one : issued) script_.wait(one);
    }

    void before(const At& at, std::size_t module) { data_parallel_.before(script_, at.pass, module); }
    void after(const At& at, std::size_t module) { data_parallel_.after(script_, at.pass, module); }
    // Around a piece that uses the parameters of a module of the layer.
    void before(const At& at, const PieceCost& own) {
        if (const auto module = module_of(at, own)) before(at, *module);
    }
    void after(const At& at, const PieceCost& own) {
        if (const auto module = module_of(at, own)) after(at, *module);
    }
    std::optional<std::size_t> module_of(const At& at, const PieceCost& cost) const {
        if (cost.module.empty()) return std::nullopt;
        std::size_t module = at.module;
        while (stage_.modules[module].name != cost.module) {
            ++module;
            WEFT_CHECK(module < stage_.modules.size(), "a piece names no module of its layer");
        }
        return module;
    }

    // Asked once for each piece and pass, and of experts for each place.
    const Around& around(const At& at, Piece piece, Pass pass) {
        const bool backward = pass == Pass::backward;
        const bool apart = !job_.model.kinds.empty() || (piece == Piece::experts && !job_.experts.by_layer.empty());
        ByPass<Around>& both = around_[apart ? at.place : 0][static_cast<std::size_t>(piece)];
        std::optional<Around>& known = both[backward ? 1 : 0];
        if (known) return *known;
        known.emplace();
        const std::optional<Job> own = apart ? std::optional(job_.of_layer(at.pass.where.layer)) : std::nullopt;
        for (const Scheme* scheme : parallelism::all()) {
            if (scheme->around == nullptr) continue;
            scheme->around(own ? *own : job_, piece, backward ? Pass::backward : Pass::forward, *known);
        }
        return *known;
    }

    const Plan& plan_;
    const Job& job_;
    const Stage& stage_;
    DataParallel& data_parallel_;
    Script& script_;
    HostStream host_;
    Open open_;
    // Forward and backward: around the pieces of layers by place, where these differ, and the exchange of experts.
    template <class Value>
    using ByPass = std::array<std::optional<Value>, 2>;
    std::vector<std::array<ByPass<Around>, static_cast<std::size_t>(Piece::head) + 1>> around_;
};

}  // namespace weft
