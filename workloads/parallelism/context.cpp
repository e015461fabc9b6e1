// Context parallelism: the ranks of a group share every sequence, and attention brings keys and values together
// (ring: Liu et al. 2310.01889, cut causally balanced in 2 cp chunks; all-to-all: DeepSpeed-Ulysses 2309.14509).
#include <fmt/format.h>

#include "workloads/framework/calls.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/parallelism/torch_context.hpp"

namespace weft::parallelism {
namespace {

void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const std::uint32_t context = job.layout.context;
    if (context == 1) return;
    const auto refuse = [&](std::string why) { errors.push_back({"layout.context", std::move(why)}); };
    const bool torch = job.framework->context_calls == ContextCalls::torch;
    // torchtitan distributed/parallel_dims.py, seq_len_divisor: tensor ranks share the tokens of each piece.
    const std::uint32_t pieces = torch                                       ? 2 * context * job.layout.tensor
                                 : job.context_method == ContextMethod::ring ? 2 * context
                                                                             : context;
    if (job.batch.sequence % pieces != 0) {
        refuse(fmt::format("{} tokens cannot be cut into {} equal pieces for {} context ranks", job.batch.sequence,
                           pieces, context));
    }
    if (job.context_method != ContextMethod::all_to_all) return;
    for (const auto& [heads, what] :
         {std::pair{job.model.heads, "attention heads"}, {job.model.kv_heads, "key-value heads"}}) {
        if (heads % (job.layout.tensor * context) == 0) continue;
        refuse(fmt::format("{} {} cannot be dealt by all-to-all to tensor {} x context {} = {} ranks", heads, what,
                           job.layout.tensor, context, job.layout.tensor * context));
        if (job.model.heads == job.model.kv_heads) break;
    }
}

void shard(const Job& job, Shard& shard) {
    shard.context *= job.layout.context;
    const bool heads_divided = job.layout.context > 1 && job.context_method == ContextMethod::all_to_all;
    if (heads_divided) shard.context_output = ContextOutput::copied;
}

Call over_context(const Job& job, Collective op, Bytes message, std::string_view label) {
    return {.op = op, .group = {"context"}, .message = message, .label = label, .type = element_name(job)};
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

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    if (piece != Piece::core || job.layout.context == 1) return;
    if (job.framework->context_calls == ContextCalls::torch) return add_torch_context(job, pass, around);
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

extern const Scheme context;
const Scheme context{.axis = "context",
                     .ranks = Scheme::Ranks::own,
                     .holds = Scheme::Holds::copies,
                     .place = 1,
                     .size = &Layout::context,
                     .check = check,
                     .shard = shard,
                     .around = around};

}  // namespace weft::parallelism
