// Context parallelism: the ranks of a group share every sequence, and attention brings keys and values together
// (ring: Liu et al. 2310.01889, cut causally balanced in 2 cp chunks; all-to-all: DeepSpeed-Ulysses 2309.14509).
#include <algorithm>

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recurrence.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {
namespace {

// Megatron-core ssm/mamba_context_parallel.py: heads are dealt to the ranks; key heads too, or copied where too few.
void check_recurrence(const Job& job, const Layer& layer, const Refusals& refuse) {
    if (!is_recurrent(layer.mixer)) return;
    const std::uint32_t context = job.layout.context, both = job.layout.tensor * context;
    const std::uint32_t heads = layer.recurrence.heads, keys = layer.recurrence.key_heads / job.layout.tensor;
    refuse.when(job.framework->context_calls == ContextCalls::torch, "layout.context",
                "weft knows context ranks of recurrent layers as Megatron-core has them, not {}'s",
                job.framework->name);
    refuse.when(heads % both != 0, "layout.context",
                "{} heads of the recurrence cannot be dealt to tensor {} x context {} = {} ranks", heads,
                job.layout.tensor, context, both);
    refuse.when(keys > 0 && keys % context != 0 && context % keys != 0, "layout.context",
                "{} key heads of a tensor rank cannot be dealt or copied to {} context ranks", keys, context);
}

void check_context(const Job& job, const MachineInfo&, const Refusals& refuse) {
    const std::uint32_t context = job.layout.context, both = job.layout.tensor * context;
    if (context == 1) return;
    for (const LayerKind kind : kinds_of(job.model)) check_recurrence(job, layer_of(job.model, kind), refuse);
    const bool torch = job.framework->context_calls == ContextCalls::torch;
    // torchtitan distributed/parallel_dims.py, seq_len_divisor: tensor ranks share the tokens of each piece.
    const std::uint32_t pieces = torch ? 2 * both : job.context_method == ContextMethod::ring ? 2 * context : context;
    refuse.when(job.batch.sequence % pieces != 0, "layout.context",
                "{} tokens cannot be cut into {} equal pieces for {} context ranks", job.batch.sequence, pieces,
                context);
    if (job.context_method != ContextMethod::all_to_all) return;
    const auto deal = [&](std::uint32_t heads, std::string_view what) {
        refuse.when(heads % both != 0, "layout.context",
                    "{} {} cannot be dealt by all-to-all to tensor {} x context {} = {} ranks", heads, what,
                    job.layout.tensor, context, both);
    };
    deal(job.model.heads, "attention heads");
    if (job.model.heads != job.model.kv_heads || job.model.heads % both == 0)
        deal(job.model.kv_heads, "key-value heads");
}

void shard(const Job& job, Shard& shard) {
    shard.context *= job.layout.context;
    const bool heads_divided = job.layout.context > 1 && job.context_method == ContextMethod::all_to_all;
    if (heads_divided) shard.context_output = ContextOutput::copied;
}

Call over_context(const Job& job, Collective op, Bytes message, std::string_view label) {
    return {op, {"context"}, message, label, element_name(job)};
}

// Keys, values or their gradients of the whole sequence: gathered, or summed and dealt out.
Call whole_sequence(const Job& job, Collective op, std::string_view label) {
    return over_context(job, op, own_keys_and_values(job) / 2 * job.layout.context, label);
}

// Between sequence and heads.
Call exchange_heads(const Job& job, Bytes message, std::string_view label) {
    Call call = over_context(job, Collective::all_to_all, message, label);
    call.through = job.framework->exchanges;
    return call;
}

// One step of the ring per context rank: each computes on one share of the keys and values while the next one comes.
// Backward goes round once more: keys and values ahead of their use, their gradients behind it.
void ring(const Job& job, Pass pass, Around& around) {
    const Bytes pair = own_keys_and_values(job);
    const auto pass_on = [&](Bytes message) {
        around.rounds.push_back({over_context(job, Collective::send_receive, message, "pass keys and values")});
    };
    pass_on(pair);
    for (std::uint32_t round = 2; round < job.layout.context; ++round) {
        pass_on(pass == Pass::forward ? pair : pair * 2);
    }
    if (pass == Pass::backward) return pass_on(pair);
    around.rounds.emplace_back();  // the last share has come
}

void gathers(const Job& job, Pass pass, Around& around) {
    const auto whole = [&](std::vector<Call>& calls, Collective op, std::string_view label) {
        calls.push_back(whole_sequence(job, op, label));
    };
    whole(around.before, Collective::all_gather, "all-gather keys");
    whole(around.before, Collective::all_gather, "all-gather values");
    if (pass == Pass::forward) return;
    whole(around.after, Collective::reduce_scatter, "reduce-scatter key gradients");
    whole(around.after, Collective::reduce_scatter, "reduce-scatter value gradients");
}

void exchanges(const Job& job, Pass pass, Around& around) {
    const Bytes queries = own_queries(job), keys = own_keys_and_values(job) / 2;
    const auto exchange = [&](std::vector<Call>& calls, Bytes message, std::string_view label) {
        calls.push_back(exchange_heads(job, message, label));
    };
    if (pass == Pass::forward) {
        exchange(around.before, queries, "all-to-all queries");
        exchange(around.before, keys, "all-to-all keys");
        exchange(around.before, keys, "all-to-all values");
        return exchange(around.after, queries, "all-to-all output");
    }
    exchange(around.before, queries, "all-to-all output gradient");
    exchange(around.after, queries, "all-to-all query gradients");
    exchange(around.after, keys, "all-to-all key gradients");
    exchange(around.after, keys, "all-to-all value gradients");
}

// What a recurrence reads, by calls, in elements per token on one tensor rank (Megatron-core d98e8a64,
// ssm/mamba_context_parallel.py: z, x, B, C and dt, of which B and C are copied where there are fewer groups than
// context ranks; ssm/gated_delta_net: all at once).
std::vector<double> exchanged_inputs(const Job& job) {
    const Recurrence& shape = job.model.recurrence;
    const double tensor = job.layout.tensor;
    if (job.model.mixer != Mixer::mamba2) return {double(recurrent_inputs(job.model)) / tensor};
    const double copies = std::max(1.0, job.layout.context * tensor / shape.key_heads);
    const double values = double(recurrent_values(shape)) / tensor,
                 keys = double(recurrent_keys(shape)) / tensor * copies;
    return {values, values, keys, keys, shape.heads / tensor};
}

// Between sequence and heads, whatever attention does.
void exchange_recurrence(const Job& job, Pass pass, Around& around) {
    const double bytes = tokens(job) * element_bytes(job.precision);
    const bool forward = pass == Pass::forward;
    std::vector<Call>& inputs = forward ? around.before : around.after;
    for (const double elements : exchanged_inputs(job)) {
        inputs.push_back(exchange_heads(job, {bytes * elements},
                                        forward ? "all-to-all mixer input" : "all-to-all mixer input gradient"));
    }
    const Bytes values{bytes * double(recurrent_values(job.model.recurrence)) / job.layout.tensor};
    (forward ? around.after : around.before)
        .push_back(
            exchange_heads(job, values, forward ? "all-to-all mixer output" : "all-to-all mixer output gradient"));
}

// Keys and values that later rounds use.
void rotate_keys(const Job& job, Around& around) {
    const Bytes own = own_keys_and_values(job);
    if (job.context_method == ContextMethod::all_gather) {
        return around.rounds.front().push_back(
            over_context(job, Collective::all_gather, own * job.layout.context, "all-gather keys and values"));
    }
    for (std::size_t round = 0; round + 1 < around.rounds.size(); ++round) {
        around.rounds[round].push_back(over_context(job, Collective::send_receive, own, "pass keys and values"));
    }
}

// Each round adds its own to what the one before has passed on.
void rotate_gradients(const Job& job, Around& around) {
    constexpr double sum_bytes = 4.0;
    const Bytes sums = own_keys_and_values(job) / element_bytes(job.precision) * sum_bytes;
    Call call = over_context(job, Collective::send_receive, sums, "pass key and value gradients");
    call.type = "fp32";
    for (std::size_t round = 1; round < around.rounds.size(); ++round) {
        around.rounds[round].insert(around.rounds[round].begin(), call);
    }
    around.after.push_back(call);
}

// PyTorch's experimental context parallelism, as torchtitan has it. Attention runs in as many rounds as there are
// context ranks, C, of which each works on the keys and values of one, as much each where sequences are cut in 2 C
// pieces (head and tail). With S the own keys and values:
//   forward   ring        C - 1 times S is passed on, each beside the round before its use
//             all_gather  once C S are gathered, beside the first round
//   backward  the same, and C times the sums of their gradients, in fp32, are passed on by ring in both: each beside
//             the round after it, the last one in the open
// pytorch/pytorch 0123248a484f, torch/distributed/tensor/experimental/_attention.py: _templated_ring_attention and
// _templated_ring_attention_backward (dkv_rotater; accum_dtype), _AllToAllRotater (all_to_all_single, all to one rank),
// _AllGatherRotater. Left out: copies into one buffer and the merging of the rounds' outputs, in fp32.
void torch_rounds(const Job& job, Pass pass, Around& around) {
    around.rounds.resize(job.layout.context);
    rotate_keys(job, around);
    if (pass == Pass::backward) rotate_gradients(job, around);
}

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    if (piece != Piece::core || job.layout.context == 1) return;
    if (is_recurrent(job.model.mixer)) return exchange_recurrence(job, pass, around);
    if (job.framework->context_calls == ContextCalls::torch) return torch_rounds(job, pass, around);
    switch (job.context_method) {
        case ContextMethod::ring:
            return ring(job, pass, around);
        case ContextMethod::all_gather:
            return gathers(job, pass, around);
        case ContextMethod::all_to_all:
            return exchanges(job, pass, around);
    }
}

}  // namespace

extern const Scheme context{.axis = "context",
                            .ranks = Scheme::Ranks::own,
                            .holds = Scheme::Holds::copies,
                            .place = 1,
                            .size = &Layout::context,
                            .check = check_context,
                            .shard = shard,
                            .around = around};

}  // namespace weft::parallelism
