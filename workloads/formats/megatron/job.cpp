// The run that arguments of Megatron-LM describe: layout, schedule, batch, nodes. Defaults and what excludes what:
// megatron/training/arguments.py (validate_args), megatron/core/parallel_state.py.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "topologies/machine.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/framework/version_since.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/layout/stage_layout.hpp"

namespace weft {
namespace {

std::uint32_t size_of(MegatronReading& in, std::string_view key) {
    return in.keys.has(key) && in.number(key) > 0 ? in.keys.count(key) : 1;
}

void take_axis(MegatronReading& in, std::string_view key, std::string_view axis) {
    if (!in.keys.has(key)) return;
    in.import.object.object("layout").set(axis, size_of(in, key), in.origin(key));
}

// --- layout ---

void read_megatron_context(MegatronReading& in) {
    const std::string_view key =
        in.keys.has("ds_sequence_parallel_size") ? "ds_sequence_parallel_size" : "context_parallel_size";
    const std::uint32_t ranks = size_of(in, key);
    if (ranks > 1) take_axis(in, key, "context");
    in.without_effect(key);
    std::string method = in.lower("cp_comm_type", "p2p");
    if (ranks == 1) return in.without_effect("cp_comm_type");
    const Origin origin = in.origin("cp_comm_type");
    const std::string first = method.substr(0, method.find(' '));
    for (std::size_t at = method.find(' '); at != std::string::npos; at = method.find(' ', at + 1)) {
        const std::size_t end = std::min(method.find(' ', at + 1), method.size());
        if (method.substr(at + 1, end - at - 1) != first)
            return in.error("cp_comm_type", "weft exchanges keys and values the same way in every layer");
    }
    if (key == "ds_sequence_parallel_size" || first == "a2a") {
        in.import.object.set("context_method", "all_to_all", key == "context_parallel_size" ? origin : in.origin(key));
    } else if (first == "all_gather" || first == "allgather") {
        in.import.object.set("context_method", "all_gather", origin);
    } else if (first != "p2p") {
        in.error("cp_comm_type", fmt::format("weft has p2p, all_gather and a2a, not \"{}\"", first));
    }
}

// Megatron-LM's own default gathers; Megatron-DeepSpeed has the all-to-all alone. "flex" is the kernels of a backend,
// DeepEP's unless another is named.
static void read_dispatcher(MegatronReading& in) {
    const std::string type = in.lower("moe_token_dispatcher_type", in.deepspeed ? "alltoall" : "allgather");
    const std::string backend = in.lower("moe_flex_dispatcher_backend", "deepep");
    const auto take = [&](std::string_view dispatcher, std::string_view key) {
        in.import.object.object("experts").set("dispatcher", dispatcher, in.origin(key));
    };
    if (type.starts_with("alltoall")) return;
    if (type == "allgather") return take("all_gather", "moe_token_dispatcher_type");
    if (type != "flex")
        return in.error("moe_token_dispatcher_type",
                        fmt::format("expected allgather, alltoall or flex, got \"{}\"", type));
    if (backend != "deepep" && backend != "hybridep")
        return in.error("moe_flex_dispatcher_backend",
                        fmt::format("weft has deepep and hybridep, not \"{}\"", backend));
    take(backend,
         in.keys.has("moe_flex_dispatcher_backend") ? "moe_flex_dispatcher_backend" : "moe_token_dispatcher_type");
    in.needs(backend == "deepep" ? "core-0.13" : "core-0.15", "moe_token_dispatcher_type");
    if (backend == "deepep" && in.on("moe_permute_fusion") && in.on("enable_experimental")) {
        in.import.object.object("experts").set("fused_indices", true, in.origin("moe_permute_fusion"));
        in.needs(fused_indices_since, "moe_permute_fusion");
    }
}

void read_megatron_expert_ranks(MegatronReading& in) {
    const std::string_view key =
        in.keys.has("moe_expert_parallel_size") ? "moe_expert_parallel_size" : "expert_model_parallel_size";
    if (size_of(in, key) > 1) {
        take_axis(in, key, "expert");
        read_dispatcher(in);
    }
    in.without_effect(key);
    for (const std::string_view other :
         {"moe_token_dispatcher_type", "moe_enable_deepep", "moe_flex_dispatcher_backend"}) {
        in.without_effect(other);
    }
    if (in.keys.has("num_experts") && in.keys.has("expert_tensor_parallel_size")) {
        take_axis(in, "expert_tensor_parallel_size", "expert_tensor");
    } else {
        in.without_effect("expert_tensor_parallel_size");
    }
}

class Stages {
  public:
    explicit Stages(MegatronReading& in)
        : in_(in),
          ranks_(in.on("no_pipeline_parallel") ? 1 : size_of(in, "pipeline_model_parallel_size")),
          layers_(size_of(in, in.keys.has("num_layers") ? "num_layers" : "encoder_num_layers")) {}

    // The version that what was found came with; empty: any.
    std::string_view read() {
        Draft& layout = in_.import.object.object("layout");
        if (in_.keys.has("pipeline_model_parallel_size"))
            layout.set("pipeline", ranks_, in_.origin("pipeline_model_parallel_size"));
        read_ends();
        const std::uint32_t parts = virtual_stages();
        if (parts > 1 && ranks_ > 1) {
            layout.set("virtual_stages", parts, virtual_origin_);
            in_.import.object.set("schedule", "interleaved", virtual_origin_);
        }
        const std::uint32_t all = ranks_ * parts;
        if (in_.keys.has("pipeline_model_parallel_layout") && in_.lower("pipeline_model_parallel_layout") != "none") {
            read_listed(all);
        } else {
            read_uneven(all);
        }
        return needs_;
    }

  private:
    void read_ends() {
        embedding_ = in_.on("account_for_embedding_in_pipeline_split");
        loss_ = in_.on("account_for_loss_in_pipeline_split");
        if (embedding_ != loss_ && ranks_ > 1) {
            in_.error(embedding_ ? "account_for_embedding_in_pipeline_split" : "account_for_loss_in_pipeline_split",
                      "weft counts embedding and output layer as layers both or not at all");
        }
        if (embedding_ && loss_ && ranks_ > 1)
            in_.import.object.object("layout").set("split", "ends", in_.origin("account_for_loss_in_pipeline_split"));
    }

    // Model parts of each stage.
    std::uint32_t virtual_stages() {
        for (const std::string_view key :
             {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"}) {
            if (size_of(in_, key) == 1) continue;
            virtual_origin_ = in_.origin(key);
            return size_of(in_, key);
        }
        constexpr std::string_view listed = "pipeline_model_parallel_layout";
        if (in_.keys.has(listed)) {
            virtual_origin_ = in_.origin(listed);
            std::string why;
            const std::size_t stages = parse_stage_layout(in_.word(listed), why).layers.size();
            return stages % ranks_ == 0 ? std::max<std::uint32_t>(static_cast<std::uint32_t>(stages) / ranks_, 1) : 1;
        }
        constexpr std::string_view each = "num_layers_per_virtual_pipeline_stage";
        if (!in_.keys.has(each) || in_.number(each) == 0 || ranks_ == 1) return 1;
        virtual_origin_ = in_.origin(each);
        const std::uint32_t counted = layers_ + (embedding_ ? 1 : 0) + (loss_ ? 1 : 0), size = in_.keys.count(each);
        if (counted % ranks_ == 0 && counted / ranks_ % size == 0) return counted / ranks_ / size;
        in_.error(each, fmt::format("{} layers on {} stages cannot be cut into parts of {}", counted, ranks_, size));
        return 1;
    }

    // Deals that weft has a word for are called by it.
    bool has_word(const std::vector<std::uint32_t>& layers, std::string_view key) {
        std::string why;
        const auto parts = static_cast<std::uint32_t>(layers.size());
        if (layers == even_split(layers_, parts, why)) return true;
        if (layers != ends_split(layers_, parts, why)) return false;
        in_.import.object.object("layout").set("split", "ends", in_.origin(key));
        return true;
    }

    void read_listed(std::uint32_t parts) {
        constexpr std::string_view key = "pipeline_model_parallel_layout";
        std::string why;
        const StageLayout layout = parse_stage_layout(in_.word(key), why);
        if (!why.empty()) return in_.error(key, fmt::format("{}; expected stages such as \"Et*3|(tt|)*29,m|L\"", why));
        if (layout.layers.size() != parts)
            return in_.error(key, fmt::format("has {} stages for {} pipeline ranks", layout.layers.size(), ranks_));
        const bool modules_last = layout.predictions.value_or(parts - 1) + 1 == parts;
        if (modules_last && has_word(layout.layers, key)) return;
        in_.import.object.object("layout").set("split", layout.text, in_.origin(key));
        needs_ = stage_layout_since;
    }

    // Layers of the first and the last stage; the others share the rest.
    void read_uneven(std::uint32_t parts) {
        constexpr std::string_view first = "decoder_first_pipeline_num_layers",
                                   last = "decoder_last_pipeline_num_layers";
        const std::string_view key = in_.keys.has(first) ? first : last;
        if (!in_.keys.has(key) || ranks_ == 1) return;
        const std::uint32_t own_first = in_.keys.has(first) ? in_.keys.count(first) : 0,
                            own_last = in_.keys.has(last) ? in_.keys.count(last) : 0;
        const std::uint32_t others = ranks_ - (own_first > 0 ? 1 : 0) - (own_last > 0 ? 1 : 0);
        const std::uint64_t given = std::uint64_t{own_first} + own_last;
        if (given > layers_ || (others == 0 ? given != layers_ : (layers_ - given) % others != 0))
            return in_.error(key, fmt::format("{} stages do not share {} layers so", ranks_, layers_));
        if (ranks_ > layers_) return in_.error(key, fmt::format("{} stages are more than {} layers", ranks_, layers_));
        std::vector<std::uint32_t> layers(ranks_,
                                          others == 0 ? 0 : static_cast<std::uint32_t>((layers_ - given) / others));
        if (own_first > 0) layers.front() = own_first;
        if (own_last > 0) layers.back() = own_last;
        if (parts == ranks_ && has_word(layers, key)) return;
        Draft& split = in_.import.object.object("layout").object("split", in_.origin(key));
        if (own_first > 0) split.set("first", own_first, in_.origin(first));
        if (own_last > 0) split.set("last", own_last, in_.origin(last));
        needs_ = first_and_last_since;
    }

    MegatronReading& in_;
    std::uint32_t ranks_, layers_;
    bool embedding_ = false, loss_ = false;
    Origin virtual_origin_;
    std::string_view needs_;
};

// A flag that changes what a step does shows that the version has it; weft's own default has none of these.
void read_megatron_version(MegatronReading& in, std::string_view of_layout) {
    if (in.deepspeed) return;
    if (!of_layout.empty()) {
        in.needs(of_layout, of_layout == first_and_last_since ? "decoder_first_pipeline_num_layers"
                                                              : "pipeline_model_parallel_layout");
    }
    if (in.number("mtp_num_layers") > 0) in.needs(predictions_since, "mtp_num_layers");
    if (in.on("moe_router_enable_expert_bias")) in.needs(expert_bias_since, "moe_router_enable_expert_bias");
}

void read_megatron_layout(MegatronReading& in) {
    take_axis(in, "tensor_model_parallel_size", "tensor");
    read_megatron_context(in);
    read_megatron_version(in, Stages(in).read());
    read_megatron_expert_ranks(in);
    if (in.on("use_tp_pp_dp_mapping")) {
        std::vector<std::string> order = usual_order();
        std::erase(order, "pipeline");
        order.insert(std::ranges::find(order, "data"), "pipeline");
        in.import.object.object("layout").set("order", fmt::format("{}", fmt::join(order, ",")),
                                              in.origin("use_tp_pp_dp_mapping"));
    }
    if (in.on("sequence_parallel")) {
        if (size_of(in, "tensor_model_parallel_size") > 1) {
            in.import.object.set("sequence_parallel", true, in.origin("sequence_parallel"));
        } else {
            in.note("sequence_parallel", "is off where tensor-model-parallel-size is 1");
        }
    }
    if (in.deepspeed) in.import.object.object("layout").set("split", "even", in.origin("deepspeed"));
}

// --- nodes ---

std::uint32_t accelerators_per_node(const FormatOptions& options) {
    return options.machine.empty() ? 0 : Machine::load(options.machine).info().accelerators_per_node;
}

// Ranks of the run; 0: not known.
std::uint64_t read_nodes(MegatronReading& in, std::uint64_t replica) {
    MegatronInput input = in.input;
    const std::uint32_t per_node = accelerators_per_node(in.options);
    const std::uint32_t asked = in.options.nodes;
    if (asked > 0 && asked != input.nodes) {
        if (input.nodes > 0)
            in.import.note(FormatNote::Severity::note, input.nodes_origin,
                           fmt::format("{} nodes are taken in place of {}", asked, input.nodes));
        return std::uint64_t{asked} * per_node;
    }
    if (asked == 0 && input.nodes == 0) {
        if (!input.unknown_nodes.empty()) {
            in.import.note(
                FormatNote::Severity::error, input.nodes_origin,
                fmt::format("is not set; give --variable {}=VALUE, or --nodes N", input.unknown_nodes.front()));
        }
        if (!input.unknown_nodes.empty()) return 0;
        Origin origin = input.file;
        origin.key = "nodes";
        if (input.ranks_per_node == 0) {
            in.import.note(FormatNote::Severity::note, origin,
                           "are not said; as many are taken as one replica of the model needs (--nodes N)");
            return 0;
        }
        in.import.note(FormatNote::Severity::note, origin, "are not said; one is taken, as launchers do (--nodes N)");
        input.nodes = 1;
        input.nodes_origin = origin;
    }
    const std::uint32_t own = input.ranks_per_node > 0 ? input.ranks_per_node : per_node;
    const std::uint64_t ranks = std::uint64_t{input.nodes} * own;
    const std::uint64_t nodes = per_node > 0 ? (ranks + per_node - 1) / per_node : input.nodes;
    if (nodes != input.nodes)
        in.import.note(
            FormatNote::Severity::note, input.nodes_origin,
            fmt::format("{} nodes of {} ranks are {} nodes of {}", input.nodes, own, nodes, in.options.machine));
    in.import.object.set("nodes", nodes, input.nodes_origin);
    // Ranks that do not fill their nodes have to be said.
    if (per_node > 0 && ranks < nodes * per_node && ranks % replica == 0)
        in.import.object.object("layout").set("data", ranks / replica, input.nodes_origin);
    return ranks;
}

// --- batch ---

// The last entry of "0:384 200B:768 400B:1152".
double last_batch(const std::string& schedule) {
    const std::size_t colon = schedule.rfind(':');
    double value = 0;
    if (colon == std::string::npos) return 0;
    std::from_chars(schedule.data() + colon + 1, schedule.data() + schedule.size(), value);
    return value >= 1 && value <= 1e9 ? value : 0;
}

void read_global_batch(MegatronReading& in, Draft& batch, std::uint64_t ranks, std::uint64_t replica) {
    if (in.keys.has("rampup_batch_size")) in.note("rampup_batch_size", "the batch at the end of the ramp is simulated");
    const bool scheduled = in.keys.has("step_batch_size_schedule");
    if (scheduled) in.note("step_batch_size_schedule", "the last batch of the schedule is simulated, or the one given");
    if (take_count(in.keys, "global_batch_size", batch, "global")) return;
    if (overridden_by_user(in.options, "batch.global")) return;
    if (scheduled) {
        const double last = last_batch(in.word("step_batch_size_schedule"));
        if (last > 0)
            return batch.set("global", static_cast<std::uint64_t>(last), in.origin("step_batch_size_schedule"));
    }
    if (in.keys.has("micro_batch_size") && ranks >= replica) {
        Origin origin = in.origin("micro_batch_size");
        origin.key = "micro-batch-size x data ranks";
        const std::uint64_t all = std::uint64_t{in.keys.count("micro_batch_size")} * (ranks / replica);
        batch.set("global", all, origin);
        return in.import.note(FormatNote::Severity::note, origin, fmt::format("batch.global is {}, its default", all));
    }
    in.import.note(FormatNote::Severity::error, in.origin("global_batch_size"),
                   "the input does not say it; give --set batch.global=N (sequences per step)");
}

void read_megatron_batch(MegatronReading& in, std::uint64_t ranks, std::uint64_t replica) {
    Draft& batch = in.import.object.object("batch");
    const std::string_view sequence = in.keys.has("seq_length") ? "seq_length" : "encoder_seq_length";
    if (!take_count(in.keys, sequence, batch, "sequence") && !overridden_by_user(in.options, "batch.sequence")) {
        in.import.note(FormatNote::Severity::error, in.origin("seq_length"),
                       "the input does not say it; give --set batch.sequence=N (tokens)");
    }
    in.without_effect("encoder_seq_length");
    if (!take_count(in.keys, "micro_batch_size", batch, "micro") && !overridden_by_user(in.options, "batch.micro")) {
        in.import.note(FormatNote::Severity::error, in.origin("micro_batch_size"),
                       "the input does not say it; give --set batch.micro=N (sequences per micro-batch)");
    }
    read_global_batch(in, batch, ranks, replica);
    for (const std::string_view key : {"train_iters", "train_samples", "train_tokens"}) in.without_effect(key);
}

}  // namespace

void read_megatron_job(MegatronReading& in) {
    in.import.object.set("framework", in.deepspeed ? "deepspeed" : "megatron", in.input.file);
    read_megatron_model(in, in.import.object.object("model"));
    read_megatron_layout(in);
    const std::uint64_t context = in.keys.has("ds_sequence_parallel_size") ? size_of(in, "ds_sequence_parallel_size")
                                                                           : size_of(in, "context_parallel_size");
    const std::uint64_t pipeline = in.on("no_pipeline_parallel") ? 1 : size_of(in, "pipeline_model_parallel_size");
    const std::uint64_t replica = std::min<std::uint64_t>(
        std::min<std::uint64_t>(size_of(in, "tensor_model_parallel_size") * context, 1U << 31) * pipeline,
        std::uint64_t{1} << 62);
    const std::uint64_t ranks = read_nodes(in, replica);
    read_megatron_batch(in, ranks, replica);
    read_megatron_settings(in);
    if (in.import.object.object("layout").empty()) in.import.object.erase("layout");
}

}  // namespace weft
