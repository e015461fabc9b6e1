// DeepSpeed-Ulysses (arXiv 2309.14509) on an axis of its own, beside the one of "context", as unified sequence
// parallelism has both (Fang and Zhao, arXiv 2405.07719): ranks share every sequence, and all-to-all deals whole
// sequences of fewer heads for the attention core.
#include <fmt/format.h>

#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {
namespace {

std::uint32_t ranks(const Job& job) { return job.layout.size("ulysses"); }

void check(const Job& job, const MachineInfo&, const Refusals& refuse) {
    const auto divide = [&](std::uint32_t number, std::string_view what, std::uint32_t parts) {
        refuse.when(number % parts != 0, "layout.ulysses", "{} {} cannot be dealt to {} ranks", number, what, parts);
    };
    divide(job.batch.sequence, "tokens", job.layout.context * ranks(job));
    divide(job.model.kv_heads, "key-value heads", job.layout.tensor * ranks(job));
    const double heads = double(job.model.heads) / (job.layout.tensor * ranks(job));
    const double asked = value_of(job, "ulysses_heads");
    refuse.when(heads < asked, "ulysses_heads", "a rank has {} heads, not {}", heads, asked);
}

void shard(const Job& job, Shard& shard) {
    if (ranks(job) == 1) return;
    shard.context *= ranks(job);
    shard.context_output = ContextOutput::copied;
}

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    if (piece != Piece::core || ranks(job) == 1) return;
    const auto exchange = [&](std::vector<Call>& calls, Bytes message, std::string_view label) {
        calls.push_back({.op = Collective::all_to_all,
                         .group = {"ulysses"},
                         .message = message,
                         .label = label,
                         .type = element_name(job),
                         .through = job.framework->exchanges});
    };
    const Bytes queries = own_queries(job), keys = own_keys_and_values(job) / 2;
    std::vector<Call>& wide = pass == Pass::forward ? around.before : around.after;
    exchange(wide, queries, "all-to-all queries");
    exchange(wide, keys, "all-to-all keys");
    exchange(wide, keys, "all-to-all values");
    exchange(pass == Pass::forward ? around.after : around.before, queries, "all-to-all output");
}

}  // namespace

extern const Scheme ulysses;
const Scheme ulysses{.axis = "ulysses",
                     .ranks = Scheme::Ranks::own,
                     .holds = Scheme::Holds::copies,
                     .place = 1,
                     .check = check,
                     .shard = shard,
                     .around = around};

}  // namespace weft::parallelism
