// core/distributed/param_and_grad_buffer.py and distributed_data_parallel.py, core_v0.8.0.
#include "workloads/data_parallel/megatron_buckets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft {
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
                if (tensors[t].chunk != chunk || group_of(tensors[t]) != group) continue;
                const bool alone = input.zero > 0 && shared_embedding(input, tensors, t);
                buffer.add(t, static_cast<double>(tensors[t].elements), alone, buckets);
            }
            buffer.close(buckets);
        }
    }
    return buckets;
}

}  // namespace weft
