// Keys and defaults: torchtitan/config/job_config.py (Parallelism); what they do: distributed/parallel_dims.py and
// distributed/pipeline_parallel.py.
#include "workloads/formats/torchtitan/torchtitan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft {
namespace {

using Key = TorchtitanKey;

class DegreesReader {
  public:
    DegreesReader(Import& import, Field& root, const FormatOptions& options)
        : import_(import), root_(root), options_(options), tensor_(key("tensor_parallel_degree").count(1)) {
        degrees_.pipeline = key("pipeline_parallel_degree").count(1);
    }

    TorchtitanDegrees degrees() const { return degrees_; }

    void model_ranks() {
        take("tensor_parallel_degree", "tensor");
        take("pipeline_parallel_degree", "pipeline");
        take("context_parallel_degree", "context");
        take("expert_parallel_degree", "expert");
        Key tensor = key("tensor_parallel_degree"), context = key("context_parallel_degree");
        if (tensor_ > 1) {
            import_.put("sequence_parallel", true, tensor.origin());
            // Of no effect where no ranks share experts: tensor ranks then cut them as they cut the other maps.
            Key cut = key("expert_tensor_parallel_degree");
            if (key("expert_parallel_degree").count(1) > 1)
                import_.put("layout.expert_tensor", cut.count(1), cut.origin());
            Key whole = key("disable_loss_parallel");
            if (whole.flag()) whole.warn(import_, "the loss is simulated on parts of the vocabulary");
        }
        Key backend = key("expert_parallel_comm_backend");
        if (backend.text("standard") != "standard" && key("expert_parallel_degree").count(1) > 1)
            backend.refuse(import_, "weft has torchtitan's all-to-all alone, which is \"standard\"");
        if (context.count(1) == 1) return;
        Key balancer = key("context_parallel_load_balancer");
        if (balancer.given() && balancer.text("headtail") != "headtail")
            balancer.warn(import_,
                          "attention is simulated as evenly shared, with head and tail of a sequence on each rank");
        Key rotate = key("context_parallel_rotate_method");
        const bool passed_on = rotate.text("allgather") == "alltoall";
        import_.put("context_method", passed_on ? "ring" : "all_gather", rotate.origin());
    }

    void data_ranks() {
        Key copies = key("data_parallel_replicate_degree"), shard = key("data_parallel_shard_degree");
        const std::uint32_t context = key("context_parallel_degree").count(1);
        degrees_.replicas = std::max(copies.number(1), 1.0);
        const double said = shard.number(-1), ranks = static_cast<double>(ranks_of(options_));
        const double model_ranks = static_cast<double>(tensor_) * degrees_.pipeline * context;
        degrees_.shards = said >= 1 ? said : ranks > 0 ? ranks / (degrees_.replicas * model_ranks) : 0;
        if (said == 0 || said < -1)
            shard.section().error(shard.name(), "expected -1 (all that are left) or at least 1");
        if (said >= 1) import_.put("layout.data", degrees_.replicas * said, shard.origin());
        if (degrees_.shards == 1 && degrees_.replicas > 1 && context == 1)
            copies.refuse(import_,
                          "replicas that share nothing run under DDP with autocast, which weft does not simulate");
    }

    // models/llama3/infra/parallelize.py, apply_fsdp: "default" keeps parameters under a pipeline only, and "always"
    // shards the last layers as well.
    void strategy() {
        import_.put("fsdp.version", 2, unwritten("fully_shard"));
        Key copies = key("data_parallel_replicate_degree"), reshard = key("fsdp_reshard_after_forward");
        const std::string when = reshard.text("default");
        if (degrees_.replicas > 1) {
            import_.put("fsdp.strategy", when == "never" ? "hybrid_shard_zero2" : "hybrid_shard", copies.origin());
            if (degrees_.shards > 0) import_.put("fsdp.shard_ranks", degrees_.shards, copies.origin());
        } else if (when == "never") {
            import_.put("fsdp.strategy", "shard_grad_op", reshard.origin());
        }
        if (when == "always") import_.put("fsdp.reshard_after_forward", true, reshard.origin());
    }

    void pipeline(std::uint32_t layers) {
        if (degrees_.pipeline == 1) return;
        Key schedule = key("pipeline_parallel_schedule");
        constexpr std::array<std::pair<std::string_view, std::string_view>, 4> known{
            {{"1F1B", "1f1b"}, {"GPipe", "gpipe"}, {"Interleaved1F1B", "interleaved"}, {"ZBVZeroBubble", "zb-v"}}};
        const std::string name = schedule.text("1F1B");
        const auto found = std::ranges::find(known, name, [](const auto& each) { return each.first; });
        if (found == known.end())
            return schedule.refuse(import_, fmt::format("weft does not have the schedule {}", name));
        import_.put("schedule", std::string(found->second), schedule.origin());
        for (const std::string_view unknown : {"module_fqns_per_model_part", "pipeline_parallel_schedule_csv"}) {
            Key own = key(unknown);
            const bool empty = own.given() && own.section().is_text(unknown) && own.text("").empty();
            if (own.given() && !empty) own.refuse(import_, "weft deals layers to stages by torchtitan's own rule");
        }
        if (found->second == "interleaved") virtual_stages(layers);
        ends();
    }

  private:
    Key key(std::string_view name) { return {root_, name}; }

    void take(std::string_view degree, std::string_view axis) {
        Key own = key(degree);
        if (own.given() || axis == "tensor") import_.put(fmt::format("layout.{}", axis), own.count(1), own.origin());
    }

    // Two parts per stage, or as many as make parts of so many layers; embedding and head weigh one each.
    void virtual_stages(std::uint32_t layers) {
        Key per_part = key("pipeline_parallel_layers_per_stage");
        double parts = 2;
        if (per_part.given() && layers > 0) {
            const double weighed = layers + key("pipeline_parallel_first_stage_less_layers").number(1) +
                                   key("pipeline_parallel_last_stage_less_layers").number(1);
            const double all = std::ceil(weighed / per_part.count(1));
            parts = all / degrees_.pipeline;
            if (std::fmod(all, degrees_.pipeline) != 0) {
                per_part.refuse(
                    import_, fmt::format("makes {} parts, which torchtitan refuses: {} stages do not divide them", all,
                                         degrees_.pipeline));
            }
        }
        import_.put("layout.virtual_stages", static_cast<double>(static_cast<std::uint32_t>(parts)), per_part.origin());
    }

    void ends() {
        Key first = key("pipeline_parallel_first_stage_less_layers");
        Key last = key("pipeline_parallel_last_stage_less_layers");
        if (first.number(1) == 1 && last.number(1) == 1) return;
        if (first.number(1) == 0 && last.number(1) == 0) return import_.put("layout.split", "even", first.origin());
        (first.given() ? first : last)
            .refuse(import_, "weft knows first and last stages with one layer less, or with none");
    }

    Import& import_;
    Field& root_;
    const FormatOptions& options_;
    std::uint32_t tensor_;
    TorchtitanDegrees degrees_;
};

}  // namespace

TorchtitanDegrees read_torchtitan_degrees(Import& import, Field& root, const FormatOptions& options,
                                          std::uint32_t layers) {
    DegreesReader reader(import, root, options);
    reader.model_ranks();
    reader.data_ranks();
    reader.strategy();
    reader.pipeline(layers);
    return reader.degrees();
}

}  // namespace weft
