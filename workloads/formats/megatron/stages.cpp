// Layers on the pipeline ranks of a run of Megatron-LM, as its flags deal them (megatron/training/arguments.py), and
// what is kept of their activations.
#include "workloads/formats/megatron/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {
namespace {

constexpr std::string_view listed_key = "pipeline_model_parallel_layout";

class Stages {
  public:
    explicit Stages(MegatronReading& in)
        : in_(in),
          ranks_(in.on("no_pipeline_parallel") ? 1 : in.size("pipeline_model_parallel_size")),
          layers_(megatron_layers(in)),
          pattern_(hybrid_pattern(in)) {}

    // The version that what was found came with; empty: any.
    std::string_view read() {
        in_.import.object.object("layout");
        if (in_.has("pipeline_model_parallel_size")) in_.put("layout.pipeline", ranks_, "pipeline_model_parallel_size");
        check_pattern();
        read_ends();
        const std::uint32_t parts = virtual_stages();
        if (parts > 1 && ranks_ > 1) {
            in_.put("layout.virtual_stages", parts, parts_key_);
            in_.put("schedule", "interleaved", parts_key_);
        }
        if (pattern_.stages.size() > 1 && ranks_ > 1) return read_patterned(ranks_ * parts);
        if (in_.lower(listed_key, "none") != "none") return read_listed(ranks_ * parts);
        return read_uneven(ranks_ * parts);
    }

  private:
    // A hybrid pattern says the parts itself.
    void check_pattern() {
        if (pattern_.key.empty()) return;
        for (const std::string_view key : std::initializer_list<std::string_view>{
                 "num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank",
                 "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split", listed_key}) {
            if (in_.lower(key, "none") != "none" && in_.lower(key) != "false")
                in_.error(key, "parts of a hybrid pattern stand between | in it");
        }
        if (pattern_.stages.size() > 1 && pattern_.stages.size() % ranks_ != 0)
            in_.error(pattern_.key, "has {} parts for {} pipeline ranks", pattern_.stages.size(), ranks_);
    }

    void read_ends() {
        embedding_ = in_.on("account_for_embedding_in_pipeline_split");
        loss_ = in_.on("account_for_loss_in_pipeline_split");
        if (embedding_ != loss_ && ranks_ > 1) {
            in_.error(embedding_ ? "account_for_embedding_in_pipeline_split" : "account_for_loss_in_pipeline_split",
                      "weft counts embedding and output layer as layers both or not at all");
        }
        if (embedding_ && loss_ && ranks_ > 1) in_.put("layout.split", "ends", "account_for_loss_in_pipeline_split");
    }

    // Model parts of each stage.
    std::uint32_t virtual_stages() {
        for (const std::string_view key :
             {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"}) {
            parts_key_ = key;
            if (in_.size(key) > 1) return in_.size(key);
        }
        if (pattern_.stages.size() > 1) {
            parts_key_ = pattern_.key;
            return std::max<std::uint32_t>(static_cast<std::uint32_t>(pattern_.stages.size()) / ranks_, 1);
        }
        if (in_.has(listed_key)) {
            parts_key_ = listed_key;
            std::string why;
            const std::size_t stages = parse_stage_layout(in_.word(listed_key), why).layers.size();
            return stages % ranks_ == 0 ? std::max<std::uint32_t>(static_cast<std::uint32_t>(stages) / ranks_, 1) : 1;
        }
        constexpr std::string_view each = "num_layers_per_virtual_pipeline_stage";
        if (in_.number(each) == 0 || ranks_ == 1) return 1;
        parts_key_ = each;
        const std::uint32_t counted = layers_ + (embedding_ ? 1 : 0) + (loss_ ? 1 : 0), size = in_.keys.count(each);
        if (counted % ranks_ == 0 && counted / ranks_ % size == 0) return counted / ranks_ / size;
        in_.error(each, "{} layers on {} stages cannot be cut into parts of {}", counted, ranks_, size);
        return 1;
    }

    // Deals that weft has a word for are called by it.
    bool has_word(const std::vector<std::uint32_t>& layers, std::string_view key) {
        std::string why;
        const auto parts = static_cast<std::uint32_t>(layers.size());
        if (layers == even_split(layers_, parts, why)) return true;
        if (layers != ends_split(layers_, parts, why)) return false;
        in_.put("layout.split", "ends", key);
        return true;
    }

    std::string_view read_listed(std::uint32_t parts) {
        std::string why;
        const StageLayout layout = parse_stage_layout(in_.word(listed_key), why);
        if (!why.empty()) {
            in_.error(listed_key, "{}; expected stages such as \"Et*3|(tt|)*29,m|L\"", why);
        } else if (layout.layers.size() != parts) {
            in_.error(listed_key, "has {} stages for {} pipeline ranks", layout.layers.size(), ranks_);
        } else if (layout.predictions.value_or(parts - 1) + 1 != parts || !has_word(layout.layers, listed_key)) {
            in_.put("layout.split", layout.text, listed_key);
            return stage_layout_since;
        }
        return {};
    }

    std::string_view read_patterned(std::uint32_t parts) {
        if (pattern_.stages.size() != parts || has_word(pattern_.stages, pattern_.key)) return {};
        const auto modules = static_cast<std::uint32_t>(pattern_.predictions.size());
        in_.put("layout.split", stage_layout_text(pattern_.stages, parts - 1, modules), pattern_.key);
        return stage_layout_since;
    }

    // Layers of the first and the last stage; the others share the rest.
    std::string_view read_uneven(std::uint32_t parts) {
        constexpr std::string_view first = "decoder_first_pipeline_num_layers",
                                   last = "decoder_last_pipeline_num_layers";
        const std::string_view key = in_.first_of({first, last});
        if (!in_.has(key) || ranks_ == 1) return {};
        const std::uint32_t own_first = in_.has(first) ? in_.keys.count(first) : 0,
                            own_last = in_.has(last) ? in_.keys.count(last) : 0;
        const std::uint32_t others = ranks_ - (own_first > 0 ? 1 : 0) - (own_last > 0 ? 1 : 0);
        const std::uint64_t given = std::uint64_t{own_first} + own_last;
        if (given > layers_ || (others == 0 ? given != layers_ : (layers_ - given) % others != 0)) {
            in_.error(key, "{} stages do not share {} layers so", ranks_, layers_);
            return {};
        }
        if (ranks_ > layers_) {
            in_.error(key, "{} stages are more than {} layers", ranks_, layers_);
            return {};
        }
        std::vector<std::uint32_t> layers(ranks_,
                                          others == 0 ? 0 : static_cast<std::uint32_t>((layers_ - given) / others));
        if (own_first > 0) layers.front() = own_first;
        if (own_last > 0) layers.back() = own_last;
        if (parts == ranks_ && has_word(layers, key)) return {};
        Draft& split = in_.import.object.object("layout").object("split", in_.origin(key));
        in_.take(first, split, "first");
        in_.take(last, split, "last");
        return first_and_last_since;
    }

    MegatronReading& in_;
    std::uint32_t ranks_, layers_;
    HybridPattern pattern_;
    bool embedding_ = false, loss_ = false;
    std::string_view parts_key_;  // that says the model parts
};

// What a run of Megatron-LM keeps of activations, and where: recomputation by layer and by module, copies on the host.

std::uint32_t layers_of_part(MegatronReading& in) {
    const auto size = [&](std::string_view key) { return std::max(in.number(key), 1.0); };
    const double stages = size("pipeline_model_parallel_size");
    double layers = megatron_layers(in) / stages;
    if (in.number("num_layers_per_virtual_pipeline_stage") > 0) layers = size("num_layers_per_virtual_pipeline_stage");
    for (const std::string_view key : {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"})
        layers = std::max(layers / size(key), 1.0);
    return static_cast<std::uint32_t>(std::clamp(layers, 1.0, 1e6));
}

void read_whole_layers(MegatronReading& in, std::string_view how, std::string_view method_key,
                       std::string_view layers_key) {
    const std::string method = in.lower(method_key, "uniform");
    const double layers = in.has(layers_key) ? in.number(layers_key) : 1;
    if (method == "block" && layers == 0) return;
    const bool some = method == "block" && layers < layers_of_part(in), groups = method != "block" && layers > 1;
    if (!some && !groups) return in.put("recompute", "full", how);
    in.put("recompute.method", some ? "block" : "uniform", method_key);
    in.put("recompute.layers", layers, layers_key);
}

void read_selective(MegatronReading& in, std::string_view how) {
    // Whatever stands between the names of the list.
    std::vector<std::string> modules;
    const std::string said = in.lower("recompute_modules", "core_attn");
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    for (auto begin = std::ranges::find_if(said, is_letter); begin != said.end();) {
        const auto end = std::find_if_not(begin, said.end(), is_letter);
        modules.emplace_back(begin, end);
        begin = std::find_if(end, said.end(), is_letter);
    }
    if (in.on("moe_layer_recompute") && std::ranges::find(modules, "moe") == modules.end()) modules.emplace_back("moe");
    if (modules == std::vector<std::string>{"core_attn"}) return in.put("recompute", "selective", how);
    in.import.object.object("recompute")
        .set_json("modules", fmt::format("[\"{}\"]", fmt::join(modules, "\", \"")),
                  in.origin(in.has("recompute_modules") ? "recompute_modules" : how));
    in.needs("core-0.13", how);
}

}  // namespace

std::string_view read_megatron_stages(MegatronReading& reading) { return Stages(reading).read(); }

void read_megatron_recompute(MegatronReading& in) {
    if (in.number("cpu_offloading_num_layers") > 0)
        in.take("cpu_offloading_num_layers", in.import.object, "offloaded_layers");
    constexpr std::string_view shared = "distribute_saved_activations";
    if (in.on(shared) && !in.deepspeed) in.put("megatron.distribute_saved_activations", true, shared);
    const std::string granularity = in.lower("recompute_granularity", "none");
    if (granularity == "full") {
        read_whole_layers(in, "recompute_granularity", "recompute_method", "recompute_num_layers");
    } else if (granularity == "selective" || in.on("recompute_activations")) {
        read_selective(in, in.first_of({"recompute_granularity", "recompute_activations"}));
    } else if (in.on("moe_layer_recompute")) {  // a switch of its own until core 0.12
        in.import.object.object("recompute").set_json("modules", "[\"moe\"]", in.origin("moe_layer_recompute"));
    } else if (granularity != "none" && granularity != "null") {
        in.error("recompute_granularity", "expected full or selective, got \"{}\"", granularity);
    } else if (in.on("checkpoint_activations")) {
        read_whole_layers(in, "checkpoint_activations", "checkpoint_method", "checkpoint_num_layers");
    } else if (in.has("activations_checkpoint_method")) {
        read_whole_layers(in, "activations_checkpoint_method", "activations_checkpoint_method",
                          "activations_checkpoint_num_layers");
    }
}

}  // namespace weft
