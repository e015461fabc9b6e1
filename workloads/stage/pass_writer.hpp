// Writes the passes of micro-batches through the model parts of one stage: computation, and the calls of parallelism
// schemes inside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/framework/expert_balancing.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

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

// A layer cut where its tokens leave for their experts and where they have come back; a dense one around its MLP.

// Pieces in forward order. What calls experts have inside, and the shared ones, belong to `experts`.
struct LayerCut {
    using Pieces = std::vector<const PieceCost*>;

    Pieces ahead;    // attention, norms, router, permutation
    Pieces shared;   // up, down: depend on what is ahead, and only the rest on them
    Pieces experts;  // or the dense MLP
    Pieces rest;     // sums of rows, residual
};

// The layer must outlive the result.
LayerCut cut_at_exchanges(const LayerCosts& layer);

// The calls around experts: tokens or their gradients go there, and back; what else there is stays around the piece.
struct TokenExchange {
    std::vector<Call> there, back;
    Around within;
};
TokenExchange token_exchange(const Around& experts);

// Whether the host waits for losses and gradients to be looked at.
bool checks_for_nan(const Job& job);

// Which gradients a backward slot computes.
enum class Halves : std::uint8_t { both, input, weight };

class PassWriter {
  public:
    PassWriter(const Plan& plan, std::uint32_t stage, DataParallel& data_parallel, Script& script);

    void forward(const Slot& slot);
    void backward(const Slot& slot, Halves halves, Accumulation accumulation);
    // Both as one: each one's tokens travel while the other one computes. When the forward's output is there, and the
    // gradient that the backward hands on.
    struct JointEnds {
        ActionId output = Action::none, gradient = Action::none;
    };
    JointEnds joint(const Slot& forward, const Slot& backward, Accumulation accumulation);
    HostStream& host() { return host_; }

  private:
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

    // What reads the same for all micro-batches, and for several layers, is written once and then
    // repeated (pass_repeats.cpp).
    enum class HostReady : std::uint8_t { before, at_chain };  // what the first launch waits for
    struct Beginning {
        PassAt at;
        Halves halves{};
        std::size_t part = 0;  // a chunk, or one of its layers by kind: index into written_
        HostReady host{};
        Joint joint;
    };
    struct Written {
        Beginning begin;
        Excerpt excerpt;
        Open open;  // at its end
    };
    std::optional<Beginning> beginning(const PassAt& at, Halves halves, std::size_t part) const;
    bool repeat(const Beginning& begin);
    void remember(const Beginning& begin);
    std::size_t layers_part(const At& at) const;
    // Whether the layer's router runs a second time, under recomputation, for its gradients.
    bool routes_again(const At& at) const;
    bool is_open() const { return open_.action != Action::none && script_.actions().size() == open_.actions; }

    void write_forward(const At& here);
    void write_backward(const At& here, Halves halves);
    void begin_forward(const At& here);  // what comes before and after the layers of a pass
    void end_forward(At here);
    void begin_backward(const At& here, Halves halves);
    void end_backward(const At& here, Halves halves);
    void layer(const At& at, Halves halves);
    void repeat_layers_before(const At& here, std::uint32_t i, Halves halves);
    void recompute_group(const At& here, std::uint32_t first, std::uint32_t end);

    // Joint passes (joint_pass.cpp).
    struct Joined {
        std::optional<At> coming;    // layer of the forward whose tokens are coming back
        std::vector<ActionId> back;  // in these calls
        std::optional<At> owing;     // layer of the backward that is yet to compute gradients of weights
    };
    void layer_pair(const std::optional<At>& ahead, const std::optional<At>& behind, Joined& joined);
    std::vector<ActionId> behind_begins(const At& behind, Joined& joined);
    std::vector<ActionId> ahead_begins(const At& ahead, Joined& joined);
    std::vector<ActionId> behind_meets_experts(const At& behind);
    void ahead_meets_experts(const At& ahead, Joined& joined);
    void finish_coming(Joined& joined);
    void settle_weights(Joined& joined);
    void delayed_backward(const At& here);
    // Layers whose shared experts run beside the exchange (shared_beside.cpp).
    void shared_beside_forward(const At& at);
    void shared_beside_backward(const At& at, Halves halves);
    bool shares_beside(LayerKind kind) const;
    // Of layers that are cut at the exchange of tokens.
    const LayerCut& cut(const At& at);
    const TokenExchange& exchange(const At& at, Pass pass);
    std::vector<ActionId> send(const std::vector<Call>& calls, const At& at);
    void forward_pieces(const At& at, const LayerCut::Pieces& pieces);
    void backward_pieces(const At& at, const LayerCut::Pieces& pieces, Halves halves);
    void weights_of(const At& at, const LayerCut::Pieces& pieces);

    void compute(const At& at, Parts part, Seconds duration);
    void compute(const At& at, std::string_view label, Seconds duration);
    void calls(const std::vector<Call>& calls, const At& at);
    void call(const Call& call, const At& at);
    void before(const At& at, std::size_t module);
    void after(const At& at, std::size_t module);

    // Around a piece that uses the parameters of a module of the layer.
    void before(const At& at, const PieceCost& own);
    void after(const At& at, const PieceCost& own);
    std::optional<std::size_t> module_of(const At& at, const PieceCost& cost) const;

    // Layers (layer_writer.cpp): their pieces one after another.
    void layer_forward(const At& at);
    void layer_backward(const At& at, Halves halves);
    void layer_weights(const At& at);
    void repeat_before(const At& at, const PieceCost& piece);
    void piece_forward(const At& at, const PieceCost& own, const Around& around);
    void piece_backward(const At& at, const PieceCost& own, const Around& around, Halves halves);
    const LayerCosts& costs(const At& at) const { return plan_.costs.layers[at.place]; }
    const Around& around(const At& at, Piece piece, Pass pass);
    // The host's wait for counts of tokens (parallelism/experts.hpp).
    enum class Known : std::uint8_t { called, computed };
    void counts_known(const At& at, Piece piece, Known known);
    void wait_for_counts(const At& at);
    void reduce_maxima(const At& at);
    void balance_forward(const At& at, const PieceCost& own);
    void balance_backward(const At& at, const PieceCost& own);
    std::vector<ActionId> issue(const std::vector<Call>& calls, const At& at);
    void wait(const std::vector<ActionId>& issued);
    void weights(const At& at, const PieceCost& own);
    void in_rounds(const At& at, Parts part, Seconds duration, const std::vector<std::vector<Call>>& rounds);
    std::vector<ActionId> overlapped(const At& at, Parts part, Seconds whole, Seconds product, const Around& around);
    bool keeps_results(const At& at) const;
    void operations_again(const At& at, const PieceCost& own, const Around& around);
    void input_gradient(const At& at, const PieceCost& own, const Around& around);
    // Of a map whose output's gradient has come; `part` 0: computation labelled `label`.
    struct Column {
        Seconds weight;
        unsigned part = 0;
        std::string_view label{};
    };
    void sum_gradients(const At& at, const Column& column, const Around& around, Halves halves);

    // Activations that go to the host after a layer has run, and come back before one does (activation_copies.cpp).
    void store_activations(const At& at, const Chunk& chunk, std::uint32_t i);
    void load_activations(const At& at, const Chunk& chunk, std::uint32_t i);
    Seconds copy_time(const Chunk& chunk, std::uint32_t i) const;

    std::size_t end_of_embedding(const At& at) const;
    void embedding_forward(const At& at);
    void embedding_backward(const At& at, Halves halves);
    void head_forward(const At& at);
    void head_backward(const At& at, Halves halves);
    void loss_backward(const At& at, Halves halves);

    // Modules of multi-token prediction around their layer (prediction_writer.cpp).
    bool predicts(const At& at) const;
    void prediction_forward(const At& at);
    void prediction_norm_forward(const At& at);
    void prediction_norm_backward(const At& at, Halves halves);
    void prediction_backward(const At& at, Halves halves);
    std::size_t prediction_norm(const At& at) const;
    bool closes_embedding_copy(const At& at) const;

    At at(const Slot& slot, Pass pass) const;
    At layer_at(At at, const Chunk& chunk, std::uint32_t i) const;
    static Parts part_of(Piece piece);
    static std::string_view label_of(Pass pass, unsigned parts);

    const Plan& plan_;
    const Job& job_;
    const Stage& stage_;
    DataParallel& data_parallel_;
    Script& script_;
    HostStream host_;
    CountsWanted counts_wanted_;
    ActionId counted_ = Action::none;  // what the host waits for before it sends tokens
    Open open_;
    // Forward and backward: around the pieces of layers by place, where these differ, and the exchange of experts.
    template <class Value>
    using ByPass = std::array<std::optional<Value>, 2>;
    std::vector<std::array<ByPass<Around>, static_cast<std::size_t>(Piece::head) + 1>> around_;
    std::vector<ByPass<TokenExchange>> exchanges_;
    std::vector<std::optional<LayerCut>> cuts_;
    std::vector<ActionId> copies_;               // of the layers of the pass that is written
    std::vector<std::vector<Written>> written_;  // of each chunk, and of its layers by place
    LossCalls balancing_;
    std::vector<std::size_t> narrow_products_;  // of each chunk
};

}  // namespace weft
