// Tensor parallelism (Shoeybi et al., arXiv 1909.08053): heads, MLP columns and vocabulary shared by the ranks. Under
// sequence parallelism (Korthikanti et al., arXiv 2205.05198) the tokens between the maps are shared, too.
//
// Under megatron.overlap_tensor what tensor ranks exchange around a piece goes beside it (Transformer Engine's user
// buffers, ring exchange: common/comm_gemm_overlap; Megatron-LM --tp-comm-overlap). The product then runs in `tensor`
// chunks of the tokens: each as soon as its tokens have come, or with its sums sent as soon as they are done. With
// equal chunks and equal transfers, over
//   product P, communication C of t - 1 equal steps:  max(P (t - 1) / t, C) + P / t
// in both cases: own tokens are there at the start and the last ones come at the end of C; what is sent first is
// computed first. So one chunk runs before (scatter) or after (gather) the call, and the rest beside it. Chunks of one
// product run on several streams and fill each other's last waves, so that together they take as long as the whole.
// What backward exchanges beside another product (saved inputs, sums of input gradients) is so in every case.
#include <fmt/format.h>

#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {
namespace {

void check_tensor(const Job& job, const MachineInfo&, const Refusals& refuse) {
    for (const std::string& obstacle : tensor_obstacles(job.model, job.layout.tensor)) {
        refuse("layout.tensor", "{}", obstacle);
    }
    const bool copies = refuse.count() == 0 && copies_keys(job.model, job.layout.tensor);
    refuse.when(copies && job.framework->name != "megatron", "layout.tensor",
                "{} key-value heads cannot be shared by {} tensor ranks; Megatron-core copies them", job.model.kv_heads,
                job.layout.tensor);
}

// Megatron-core since copied_keys_since, transformer/attention.py: where heads of keys and values are fewer than the
// ranks, what the map gives all of them is gathered, and each takes its queries, and the keys and values that go with
// them, out of it; backward sums and deals out the gradients.
Call exchange_of_copies(const Job& job, Collective op, std::string_view label) {
    const Bytes whole{tokens(job) * static_cast<double>(qkv_outputs(job.model)) * element_bytes(job.precision)};
    return {op, {"tensor"}, whole, label, element_name(job)};
}

void shard(const Job& job, Shard& shard) { shard.tensor *= job.layout.tensor; }

Call sum_hidden(const Job& job, std::string_view scattered, std::string_view reduced) {
    return shares_tokens(job) ? scatter_hidden(job, scattered) : reduce_hidden(job, reduced);
}

// Maps cut by their outputs, which take whole tokens; and by their inputs, whose outputs are summed.
bool is_column(Piece piece) {
    return piece == Piece::qkv || piece == Piece::mlp_up || piece == Piece::shared_up || piece == Piece::head;
}
bool is_row(Piece piece) {
    return piece == Piece::projection || piece == Piece::mlp_down || piece == Piece::shared_down;
}

std::string_view module_of(Piece piece) {
    if (piece == Piece::qkv) return "qkv";
    if (piece == Piece::projection) return "dense";
    if (piece == Piece::mlp_up) return "h_to_4h";
    if (piece == Piece::mlp_down) return "4h_to_h";
    if (piece == Piece::shared_up) return "shared experts up";
    if (piece == Piece::shared_down) return "shared experts down";
    return piece == Piece::head ? "output layer" : "";
}

// The exchanges of Megatron-Bridge's ParallelLinearAdapter (trained.hpp). Under sequence parallelism Transformer Engine
// gives back the gathered input of a map, which it then gathers in working precision, and adds the adapter's gradient
// to its own before it scatters it; where it gathers under the product (megatron.overlap_tensor) adapters do both for
// themselves.
void around_adapters(const Job& job, Piece piece, Pass pass, Around& around) {
    const double width = job.trained.width;
    const std::uint32_t adapters = adapters_beside(job.model, job.trained, module_of(piece));
    const bool forward = pass == Pass::forward, by_outputs = is_column(piece), shares = shares_tokens(job);
    const bool alone = shares && job.megatron.overlap_tensor == Setting::on;
    for (std::uint32_t i = 0; i < adapters; ++i) {
        Call narrow = reduce_hidden(job, "all-reduce adapter");
        narrow.message = narrow.message * (width / job.model.hidden);
        if (forward && by_outputs) {
            if (alone) around.before.push_back(gather_hidden(job, "all-gather adapter input"));
            narrow.op = Collective::all_gather;
            narrow.label = "all-gather adapter";
        } else if (!forward && !by_outputs && shares) {
            around.before.push_back(gather_hidden(job, "all-gather adapter gradient"));
        }
        around.after.push_back(narrow);
        if (forward && !by_outputs) around.after.push_back(gather_hidden(job, "all-gather adapter output"));
        if (forward || !by_outputs) continue;
        if (alone) around.after.push_back(scatter_hidden(job, "reduce-scatter adapter gradient"));
        if (!shares) around.after.push_back(reduce_hidden(job, "all-reduce adapter gradient"));
    }
}

void around_forward(const Job& job, Piece piece, Around& around) {
    const bool gives_input =
        adapters_beside(job.model, job.trained, module_of(piece)) > 0 && job.megatron.overlap_tensor == Setting::off;
    const bool summed_later = piece == Piece::projection && job.model.parallel_residual;  // with the MLP's output
    if (is_column(piece) && shares_tokens(job)) {
        if (piece == Piece::head) return around.before.push_back(gather_hidden(job, "all-gather head input"));
        if (gives_input) return around.before.push_back(gather_hidden(job, "all-gather layer"));
        gather_operand(job, "all-gather layer", OperandForms::one, around.before);
    } else if (is_row(piece) && !summed_later) {
        around.after.push_back(sum_hidden(job, "reduce-scatter layer", "all-reduce layer"));
    } else if (piece == Piece::embedding) {
        around.after.push_back(sum_hidden(job, "reduce-scatter embedding", "all-reduce embedding"));
    }
}

// Under sequence parallelism a map's input was kept in shares, unless the framework keeps it whole; it is gathered for
// the weights' gradient while the input's gradient is computed.
void around_backward(const Job& job, Piece piece, Around& around) {
    const bool trains = job.trained.trains(module_of(piece));
    if (is_column(piece)) {
        const std::string_view reduced = piece == Piece::head ? "all-reduce head gradient" : "all-reduce layer";
        around.sums.push_back(sum_hidden(job, "reduce-scatter input gradient", reduced));
    }
    if (!shares_tokens(job)) return;
    if (trains && is_column(piece) && job.framework->map_inputs == MapInputs::gathered_again) {
        if (piece == Piece::head) return around.beside.push_back(gather_hidden(job, "all-gather head input"));
        gather_operand(job, "all-gather saved input", OperandForms::saved, around.beside);
    } else if (is_row(piece)) {
        const OperandForms forms = trains ? OperandForms::all : OperandForms::one;
        gather_operand(job, "all-gather output gradient", forms, around.before);
    } else if (piece == Piece::embedding && job.trained.trains("embedding")) {
        around.before.push_back(gather_hidden(job, "all-gather embedding gradient"));
    }
}

// Pieces of a layer's experts, where tensor ranks gather its tokens before they route them and deal out the sum of all
// experts at the end: what goes in has whole gradients on every rank, as its users sum theirs one by one. torchtitan
// 238fa9953e4a, models/llama4/infra/parallelize.py (apply_moe_ep_tp): PrepareModuleInputOutput with use_local_input, a
// router of NoParallel, shared experts of ColwiseParallel maps on local inputs.
bool around_experts(const Job& job, Piece piece, Pass pass, Around& around) {
    const bool forward = pass == Pass::forward;
    if (piece == (job.model.experts.shared > 0 ? Piece::shared_down : Piece::unpermute)) {
        forward ? around.after.push_back(scatter_hidden(job, "reduce-scatter layer"))
                : around.before.push_back(gather_hidden(job, "all-gather output gradient"));
        return true;
    }
    if (piece == Piece::router && forward) around.before.push_back(gather_hidden(job, "all-gather layer"));
    if (piece == Piece::shared_up && !forward) {
        const Call sum = reduce_hidden(job, "all-reduce shared experts' input gradient");
        around.sums.insert(around.sums.end(), job.model.gated ? 2 : 1, sum);
    }
    return piece == Piece::router || piece == Piece::shared_up;
}

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    const std::uint32_t ranks = job.layout.tensor;
    if (ranks == 1) return;
    if (gathers_before_routing(job) && around_experts(job, piece, pass, around)) return;
    const std::size_t of_others = around.before.size() + around.after.size();
    pass == Pass::forward ? around_forward(job, piece, around) : around_backward(job, piece, around);
    const bool copies = piece == Piece::qkv && key_copies(job.model, ranks) > 1;
    if (copies && pass == Pass::backward) {
        around.before.push_back(exchange_of_copies(job, Collective::reduce_scatter,
                                                   "reduce-scatter gradients of queries, keys and values"));
    } else if (copies) {
        around.after.push_back(exchange_of_copies(job, Collective::all_gather, "all-gather queries, keys and values"));
    }
    const bool exchanges = around.before.size() + around.after.size() > of_others;
    const bool overlaps = shares_tokens(job) && job.megatron.overlap_tensor == Setting::on;
    if (exchanges && overlaps && piece != Piece::embedding && piece != Piece::head)
        around.overlap = static_cast<double>(ranks - 1) / ranks;
    around_adapters(job, piece, pass, around);
}

// Elements of a module whose gradient every tensor rank holds a part of under sequence parallelism: norms, routers, and
// the biases that are added to row-parallel outputs.
double elements_of_parts(const StageModule& module) {
    const bool whole = module.name.ends_with("norm") || module.name == "router";
    const bool row_parallel =
        module.name == "dense" || module.name == "4h_to_h" || module.name == "shared experts down";
    double elements = 0;
    for (std::size_t i = 0; i < module.tensors.size(); ++i) {
        if (module.trains(i) && (whole || (row_parallel && module.vector[i])))
            elements += static_cast<double>(module.tensors[i]);
    }
    return elements;
}

// The tensor ranks saw different tokens.
void finish(const Job& job, std::span<const StageModule> modules, std::vector<Call>& calls) {
    if (!shares_tokens(job) || job.framework->norm_gradients == NormGradients::apart) return;
    const auto elements = sum_of<double>(modules, [&](const StageModule& module) { return elements_of_parts(module); });
    if (elements == 0 && !job.trained.everything()) return;
    const double bytes = job.framework->gradient_bytes(job);
    calls.push_back({Collective::all_reduce,
                     {"tensor"},
                     {elements * bytes},
                     "all-reduce norm gradients",
                     bytes == 4.0 ? "fp32" : element_name(job)});
}

}  // namespace

extern const Scheme tensor{.axis = "tensor",
                           .ranks = Scheme::Ranks::own,
                           .holds = Scheme::Holds::parts,
                           .size = &Layout::tensor,
                           .check = check_tensor,
                           .shard = shard,
                           .around = around,
                           .finish = finish};

}  // namespace weft::parallelism
