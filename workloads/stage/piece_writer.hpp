// The pieces of layers, with the calls that parallelism schemes have around them.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "workloads/framework/framework.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/stage/rank_writer.hpp"

namespace weft {

// Which gradients a backward slot computes.
enum class Halves : std::uint8_t { both, input, weight };

class PieceWriter : protected RankWriter {
  protected:
    using RankWriter::RankWriter;

    // The host's wait for counts of tokens (parallelism/experts.hpp).
    enum class Known : std::uint8_t { called, computed };

    // Where a piece's calls are over, or it is computed.
    void counts_known(const At& at, Piece piece, Known known) {
        const auto wants = [&](CountsWanted when) { return counts_wanted_ == when; };
        const bool called = known == Known::called, indexes = wants(CountsWanted::to_send_and_index);
        if (piece == Piece::permute &&
            (called ? wants(CountsWanted::to_send) || indexes : wants(CountsWanted::to_send_in_order))) {
            counted_ = script_.now();
        }
        if (called && ((piece == Piece::permute && wants(CountsWanted::to_permute)) ||
                       (piece == Piece::experts && (wants(CountsWanted::to_compute) || indexes)))) {
            host_.wait_for_results(script_.now(), at.pass.where);
        }
    }
    void wait_for_counts(const At& at) {
        const ActionId counted = std::exchange(counted_, Action::none);
        if (counted != Action::none) host_.wait_for_results(counted, at.pass.where);
    }

    // Whether the layer's router runs a second time, under recomputation, for its gradients.
    bool routes_again(const At& at) const {
        if (job_.recompute.of_layer(at.pass.where.layer - stage_.chunks[at.pass.chunk].first_layer) ==
            Recompute::full) {
            return true;
        }
        const LayerCosts& costs = this->costs(at);
        return std::ranges::any_of(costs.repeats, [&](const PieceRepeat& repeat) {
            if (repeat.of != PieceRepeat::Of::pieces) return false;
            const std::span<const PieceCost> pieces =
                std::span(costs.pieces).subspan(repeat.first, repeat.last + 1 - repeat.first);
            return std::ranges::find(pieces, Piece::router, &PieceCost::piece) != pieces.end();
        });
    }
    void balance_forward(const At& at, const PieceCost& own) {
        if (own.piece != Piece::router) return;
        if (at.pass.pass == Pass::forward && balancing_.once == Setting::on && routes_again(at)) return;
        calls(balancing_.forward, at);
    }
    void balance_backward(const At& at, const PieceCost& own) {
        if (own.piece == Piece::router) calls(balancing_.backward, at);
    }
    // Of a layer that runs again, among them what was copied to the host.
    bool keeps_results(const At& at) const {
        return at.pass.pass == Pass::recompute && job_.recompute == Recompute::operations;
    }
    void weights(const At& at, const PieceCost& own) {
        host_.issue(own.host.weight_backward);
        if (own.weight_backward.value > 0) compute(at, weights_alone, own.weight_backward);
    }
    void in_rounds(const At& at, Parts part, Seconds duration, const std::vector<std::vector<Call>>& rounds) {
        if (rounds.empty()) return compute(at, part, duration);
        for (const std::vector<Call>& round : rounds) {
            const std::vector<ActionId> issued = issue(round, at);
            compute(at, part, duration / static_cast<double>(rounds.size()));
            wait(issued);
        }
    }

    // A piece of which `product` uses parameters: a share of it runs beside the calls before the piece, or beside those
    // after it, which are then yet to be waited for.
    std::vector<ActionId> overlapped(const At& at, Parts part, Seconds whole, Seconds product, const Around& around) {
        const Seconds beside = product * around.overlap;
        if (around.before.empty()) {
            compute(at, part, whole - beside);
            std::vector<ActionId> issued = issue(around.after, at);
            compute(at, part, beside);
            return issued;
        }
        const std::vector<ActionId> issued = issue(around.before, at);
        compute(at, part, beside);
        wait(issued);
        compute(at, part, whole - beside);
        return issue(around.after, at);
    }

    // The results of reduce-scatters and all-to-alls are kept; gathers and sums run again.
    void operations_again(const At& at, const PieceCost& own, const Around& around) {
        const auto again = [&](std::vector<Call> some) {
            std::erase_if(some, [](const Call& call) {
                return call.op == Collective::reduce_scatter || call.op == Collective::all_to_all;
            });
            calls(some, at);
        };
        again(around.before);
        host_.issue(own.host.forward);
        before(at, own);
        if (own.discarded.value > 0) compute(at, part_of(own.piece), own.discarded);
        after(at, own);
        again(around.after);
    }
    void input_gradient(const At& at, const PieceCost& own, const Around& around) {
        const std::vector<ActionId> issued = issue(around.beside, at);
        in_rounds(at, part_of(own.piece), own.input_backward, around.rounds);
        wait(issued);
    }

    // Of a map whose output's gradient has come; `part` 0: computation labelled `label`.
    struct Column {
        Seconds weight;
        unsigned part = 0;
        std::string_view label{};
    };

    // The weights' gradient, which may follow at once, and sums of the input's.
    void sum_gradients(const At& at, const Column& column, const Around& around, Halves halves) {
        const auto weights = [&](bool alone) {
            if (halves != Halves::both || column.weight.value == 0) return;
            if (column.part != 0 && !alone) return compute(at, static_cast<Parts>(column.part), column.weight);
            compute(at, column.part != 0 ? "backward weight gradient" : column.label, column.weight);
        };
        const bool under = job_.framework->input_reduction(job_) == InputReduction::under_weight_gradient;
        if (!under || around.sums.empty()) {
            weights(false);
            return calls(around.sums, at);
        }
        const std::vector<ActionId> issued = issue(around.sums, at);
        weights(true);
        wait(issued);
    }

    void piece_forward(const At& at, const PieceCost& own, const Around& around) {
        const Parts part = part_of(own.piece);
        if (keeps_results(at)) return operations_again(at, own, around);
        if (own.piece == Piece::experts) wait_for_counts(at);
        if (around.overlap > 0) {
            host_.issue(own.host.forward);
            before(at, own);
            const std::vector<ActionId> issued = overlapped(at, part, own.forward, own.forward_product, around);
            after(at, own);
            return wait(issued);
        }
        calls(around.before, at);
        counts_known(at, own.piece, Known::called);
        host_.issue(own.host.forward);
        before(at, own);
        in_rounds(at, part, own.forward, around.rounds);
        counts_known(at, own.piece, Known::computed);
        after(at, own);
        calls(around.after, at);
        balance_forward(at, own);
    }

    void piece_backward(const At& at, const PieceCost& own, const Around& around, Halves halves) {
        balance_backward(at, own);
        host_.issue(own.host.input_backward + (halves == Halves::both ? own.host.weight_backward : 0));
        std::vector<ActionId> issued;
        if (around.overlap > 0) {
            before(at, own);
            issued = overlapped(at, part_of(own.piece), own.input_backward, own.input_product, around);
        } else {
            calls(around.before, at);
            before(at, own);
            input_gradient(at, own, around);
        }
        sum_gradients(at, {.weight = own.weight_backward, .part = part_of(own.piece)}, around, halves);
        if (halves == Halves::both) after(at, own);
        wait(issued);
        if (around.overlap == 0) calls(around.after, at);
    }

    // What selective recomputation runs again before a piece's backward.
    void repeat_before(const At& at, const PieceCost& piece) {
        const LayerCosts& costs = this->costs(at);
        const auto place = static_cast<std::size_t>(&piece - costs.pieces.data());
        At again = at;
        again.pass.pass = Pass::recompute;
        for (const PieceRepeat& repeat : costs.repeats) {
            if (repeat.before != place) continue;
            for (std::size_t i = repeat.first; i <= repeat.last; ++i) {
                const PieceCost& own = costs.pieces[i];
                if (repeat.of == PieceRepeat::Of::pieces) {
                    piece_forward(again, own, around(at, own.piece, Pass::recompute));
                } else {
                    compute(again, part_of(own.piece), own.discarded);
                }
            }
        }
    }

    CountsWanted counts_wanted_ = plan_.host_bound ? counts_wanted(job_) : CountsWanted::never;
    ActionId counted_ = Action::none;  // what the host waits for before it sends tokens
    LossCalls balancing_ = balancing_loss_calls(job_);
};

}  // namespace weft
