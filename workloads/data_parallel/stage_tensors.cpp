#include "workloads/data_parallel/data_parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"

namespace weft {

std::vector<StageTensor> stage_tensors(std::span<const StageModule> modules) {
    std::vector<StageTensor> tensors;
    for (std::uint32_t m = 0; m < modules.size(); ++m) {
        const StageModule& module = modules[m];
        WEFT_CHECK(module.vector.size() == module.tensors.size(),
                   "a module says of each tensor whether it is a vector");
        for (std::size_t t = 0; t < module.tensors.size(); ++t) {
            tensors.push_back({module.tensors[t], m, module.layer, module.chunk, static_cast<bool>(module.vector[t]),
                               module.expert, module.trains(t)});
        }
    }
    return tensors;
}

std::vector<std::size_t> first_tensors(std::span<const StageModule> modules) {
    std::vector<std::size_t> first{0};
    for (const StageModule& module : modules) first.push_back(first.back() + module.tensors.size());
    return first;
}

bool has_narrow_products(const StageModule& module) {
    constexpr std::array<std::string_view, 5> wide{"embedding", "positions", "output layer", "tied embedding",
                                                   "router"};
    return std::ranges::find(wide, module.name) == wide.end();
}

void reduce_tied_embedding(Script& script, const ShardingInput& input, Through through) {
    if (input.embedding_tie == EmbeddingTie::none || input.stages == 1) return;
    const bool first = input.stage == 0;
    const auto copied = std::ranges::find(input.modules, "tied embedding", &StageModule::name);
    if (!first && copied == input.modules.end()) return;
    const StageModule& copy = first ? input.modules.front() : *copied;  // the embedding opens the first stage
    script.call({Collective::all_reduce,
                 RankGroups::embedding(),
                 {static_cast<double>(copy.tensors.front()) * input.gradient_bytes},
                 "all-reduce tied embedding",
                 input.gradient_type,
                 through});
}

void reduce_overflow_and_norm(Script& script, const ShardingInput& input, const std::vector<RankGroups>& groups) {
    const auto reduce = [&](std::string_view label) {
        for (const RankGroups group : groups) script.call({Collective::all_reduce, group, 4_B, label, "fp32"});
    };
    if (input.loss_scaling == LossScaling::dynamic) reduce("all-reduce overflow");
    reduce("all-reduce gradient norm");
}

namespace {

constexpr double start_multiple = 64;           // elements: where a parameter may start
constexpr std::uint64_t end_multiple = 128;     // with the ranks: where a bucket may end
constexpr double least_bucket = 40e6;           // elements
constexpr double bucket_elements_a_rank = 1e6;  // of data parallelism alone: context ranks do not count

// Without overlap, on later pipeline stages and in later chunks a buffer is a single bucket.
double limit(const ShardingInput& input, std::uint32_t chunk) {
    if (input.gradient_overlap == Setting::off || input.stage > 0 || chunk > 0) {
        return std::numeric_limits<double>::infinity();
    }
    if (input.bucket_elements > 0) return input.bucket_elements;
    return std::max(least_bucket, bucket_elements_a_rank * input.ranks / input.sequence_ranks);
}

// One buffer while it is laid out.
class Buffer {
  public:
    Buffer(const ShardingInput& input, RankGroups group, std::uint32_t chunk)
        : distributed_(input.zero > 0),
          limit_(limit(input, chunk)),
          end_(static_cast<double>(std::lcm(std::uint64_t{ranks_of(input, group)}, end_multiple))),
          bucket_{.group = group, .chunk = chunk} {}

    // `alone`: in a bucket of its own.
    void add(std::size_t tensor, double elements, bool alone, std::vector<MegatronBucket>& buckets) {
        if (distributed_) position_ = round_up(position_, start_multiple);
        const double start = position_;
        if (alone) close(buckets);
        position_ = start + elements;  // also where the bucket begins later: a tensor alone is not moved by its padding
        bucket_.tensors.push_back(tensor);
        if (alone || position_ - begin_ >= limit_) close(buckets);
    }

    void close(std::vector<MegatronBucket>& buckets) {
        if (bucket_.tensors.empty()) return;
        if (distributed_) position_ = round_up(position_, end_);
        bucket_.elements = position_ - begin_;
        buckets.push_back(bucket_);
        bucket_.tensors.clear();
        begin_ = position_;
    }

  private:
    bool distributed_;
    double limit_, end_;
    double begin_ = 0, position_ = 0;  // of the open bucket, and of what comes next, in the buffer
    MegatronBucket bucket_;
};

// A tied embedding is summed over stages after data parallelism; reduce-scatter must leave it whole.
bool shared_embedding(const ShardingInput& input, const std::vector<StageTensor>& tensors, std::size_t tensor) {
    if (input.embedding_tie == EmbeddingTie::none || input.stages == 1) return false;
    const bool last = input.stage + 1 == input.stages && tensor + 1 == tensors.size();
    return (input.stage == 0 && tensor == 0) || last || input.modules[tensors[tensor].module].name == "tied embedding";
}

}  // namespace

std::vector<MegatronBucket> megatron_buckets(const ShardingInput& input) {
    const std::vector<StageTensor> tensors = stage_tensors(input.modules);
    std::uint32_t chunks = 0;
    for (const StageTensor& tensor : tensors) chunks = std::max(chunks, tensor.chunk + 1);
    std::vector<MegatronBucket> buckets;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        for (const RankGroups group : reducing_groups()) {
            Buffer buffer(input, group, chunk);
            for (std::size_t t = tensors.size(); t-- > 0;) {
                if (!tensors[t].trained || tensors[t].chunk != chunk || group_of(tensors[t]) != group) continue;
                const bool alone = input.zero > 0 && shared_embedding(input, tensors, t);
                buffer.add(t, static_cast<double>(tensors[t].elements), alone, buckets);
            }
            buffer.close(buckets);
        }
    }
    return buckets;
}

ActionId issue_unless_logged(Script& script, const ShardingInput& input, const Call& call, Where where) {
    if (input.deepspeed.log_calls == Setting::on) return script.call(call, where);
    return script.issue(call, where, script.now());
}

void broadcast_parameters(Script& script, const ShardingInput& input) {
    for (const StageTensor& tensor : stage_tensors(input.modules)) {
        const double bytes = static_cast<double>(tensor.elements) * input.element_bytes;
        script.call(
            deepspeed_call(Collective::broadcast, group_of(tensor), bytes, "broadcast parameters", input.element_type));
    }
}

std::vector<OptimizerGroup> optimizer_groups(const ShardingInput& input) {
    const std::vector<StageTensor> tensors = stage_tensors(input.modules);
    std::vector<OptimizerGroup> groups;
    for (const bool expert : {false, true}) {
        for (const bool vector : {false, true}) {
            const RankGroups kind = reducing_groups()[expert ? 1 : 0];
            OptimizerGroup group{.group = kind, .ranks = ranks_of(input, kind)};
            for (std::size_t t = 0; t < tensors.size(); ++t) {
                if (!tensors[t].trained || tensors[t].expert != expert || tensors[t].vector != vector) continue;
                group.tensors.push_back(t);
                group.elements += static_cast<double>(tensors[t].elements);
            }
            group.padded = round_up(group.elements, 2.0 * group.ranks);
            // GPT-NeoX always makes the two dense groups, also where a stage holds nothing for one of them.
            if (!expert || !group.tensors.empty()) groups.push_back(std::move(group));
        }
    }
    return groups;
}

void gather_updated_parameters(Script& script, const ShardingInput& input) {
    for (const OptimizerGroup& group : optimizer_groups(input)) {
        if (group.ranks == 1 || group.tensors.empty()) continue;
        script.call(deepspeed_call(Collective::all_gather, group.group, group.padded * input.element_bytes,
                                   "all-gather parameters", input.element_type));
    }
}

}  // namespace weft
