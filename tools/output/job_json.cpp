#include "tools/output/job_json.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tools/version.hpp"
#include "workloads/job/layout_reader.hpp"
#include "workloads/job/optimizer_reader.hpp"
#include "workloads/job/recipe_reader.hpp"
#include "workloads/job/recompute_reader.hpp"
#include "workloads/parallelism/expert_overlap.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// The words of job and model files, in the order of the enumerators.
constexpr std::array<std::string_view, 4> position_words{"rotary", "learned", "alibi", "none"};
constexpr std::array<std::string_view, 2> norm_words{"layer_norm", "rms_norm"};
constexpr std::array<std::string_view, 4> placement_words{"pre", "shared", "post", "sandwich"};
constexpr std::array<std::string_view, 4> query_key_words{"none", "unweighted", "per_head", "whole"};
constexpr std::array<std::string_view, 5> precision_words{"fp32", "fp16", "bf16", "fp8", "fp4"};
constexpr std::array<std::string_view, 4> attention_words{"unfused", "flash", "cudnn", "triton"};
constexpr std::array<std::string_view, 3> context_words{"ring", "all_gather", "all_to_all"};
constexpr std::array<std::string_view, 3> overlap_words{"none", "shared_experts", "passes"};
constexpr std::array<std::string_view, 5> graph_words{"none", "layer", "router", "around_experts", "full"};

template <class Enum, std::size_t n>
std::string_view word(const std::array<std::string_view, n>& words, Enum value) {
    return words.at(static_cast<std::size_t>(value));
}

Json experts_json(const Experts& experts) {
    Json json{{"count", experts.count},
              {"top_k", experts.top_k},
              {"ffn_hidden", experts.ffn_hidden},
              {"shared", experts.shared}};
    if (experts.shared > 0) json["shared_ffn_hidden"] = experts.shared_ffn_hidden;
    json["first_dense"] = experts.first_dense;
    json["every"] = experts.every;
    if (experts.groups > 1) json["groups"] = experts.groups;
    if (experts.groups > 1) json["token_groups"] = experts.token_groups;
    if (experts.shared_gate) json["shared_gate"] = true;
    if (experts.balancing_bias) json["balancing_bias"] = true;
    return json;
}

// All of a layer's maps or none: a flag; else their names.
Json biases_json(const Biases& biases) {
    if (biases == Biases(true)) return true;
    if (biases == Biases(false)) return false;
    Json names = Json::array();
    for (const auto& [name, has] :
         {std::pair{"qkv", biases.qkv}, std::pair{"projection", biases.projection}, std::pair{"mlp", biases.mlp},
          std::pair{"experts", biases.experts}, std::pair{"router", biases.router}, std::pair{"head", biases.head}}) {
        if (has) names.push_back(name);
    }
    return names;
}

Json window_json(const AttentionWindow& window) {
    return {{"tokens", window.tokens},
            {"chunked", window.chunked},
            {"first_full", window.first_full},
            {"full_every", window.full_every},
            {"full_rotary", window.full_rotary}};
}

Json latent_json(const LatentAttention& latent) {
    return {{"kv_rank", latent.kv_rank},
            {"q_rank", latent.q_rank},
            {"nope_size", latent.nope_size},
            {"rope_size", latent.rope_size},
            {"value_size", latent.value_size}};
}

Json machine_json(const Job& job, const MachineInfo& machine) {
    return {{"name", machine.name},
            {"nodes", job.nodes},
            {"accelerators", std::uint64_t{job.nodes} * machine.accelerators_per_node},
            {"accelerators_per_node", machine.accelerators_per_node},
            {"device", machine.device},
            {"library", job.library.empty() ? machine.library().name : job.library}};
}

// As a job file says it.
Json split_json(const Layout& layout) {
    if (layout.split != StageSplit::by_hand) return stage_split_names().at(static_cast<std::size_t>(layout.split));
    const StageLayout& given = layout.by_hand;
    if (!given.text.empty()) return given.text;
    if (!given.layers.empty()) return given.layers;
    Json counts = Json::object();
    if (given.first > 0) counts["first"] = given.first;
    if (given.last > 0) counts["last"] = given.last;
    return counts;
}

Json layout_json(const Layout& layout) {
    Json json{{"ranks", layout.ranks()}};
    for (const Scheme* const scheme : parallelism::all()) json[std::string(scheme->axis)] = layout.size(scheme->axis);
    json["expert_tensor"] = layout.expert_tensor;
    json["virtual_stages"] = layout.virtual_stages;
    json["order"] = fmt::format("{}", fmt::join(layout.order, ","));
    json["split"] = split_json(layout);
    return json;
}

// null where weft knows one version alone.
Json framework_version(const Job& job) {
    if (job.framework->name == "deepspeed") return job.deepspeed.version.name;
    if (job.framework->name == "megatron") return job.megatron.version.name;
    if (job.framework->name == "fsdp") return fmt::to_string(job.fsdp.version);
    return nullptr;
}

}  // namespace

Json model_json(const Transformer& model) {
    Json json{
        {"name", model.name},     {"parameters", parameters(model)}, {"active_parameters", active_parameters(model)},
        {"layers", model.layers}, {"hidden", model.hidden},          {"heads", model.heads}};
    if (model.has_latent_attention()) {
        json["latent_attention"] = latent_json(model.latent);
    } else {
        json["kv_heads"] = model.kv_heads;
        json["head_size"] = model.head_size;
    }
    json.update({{"ffn_hidden", model.ffn_hidden},
                 {"gated", model.gated},
                 {"vocabulary", model.vocabulary},
                 {"vocabulary_multiple", model.vocabulary_multiple},
                 {"tied_embeddings", model.tied_embeddings},
                 {"parallel_residual", model.parallel_residual},
                 {"positions", word(position_words, model.positions)},
                 {"norm", word(norm_words, model.norm)},
                 {"norm_placement", word(placement_words, model.norm_placement)},
                 {"biases", biases_json(model.biases)}});
    if (model.positions == Positions::learned) json["positions_length"] = model.positions_length;
    if (model.query_key_norm != QueryKeyNorm::none)
        json["query_key_norm"] = word(query_key_words, model.query_key_norm);
    if (model.attention_sinks) json["attention_sinks"] = true;
    if (model.window.tokens > 0) json["attention_window"] = window_json(model.window);
    if (model.mtp_layers > 0) json["mtp_layers"] = model.mtp_layers;
    if (model.experts.count > 0) json["experts"] = experts_json(model.experts);
    return json;
}

Json batch_json(const Job& job) {
    Json json{{"sequence", job.batch.sequence},
              {"micro", job.batch.micro},
              {"global", job.batch.global},
              {"micro_batches", job.micro_batches()}};
    if (job.batch.document > 0) json["document"] = job.batch.document;
    if (job.batch.documents.mean_length() > 0) {
        json["documents"] = Json::parse(documents_json(job.batch.documents));
        json["mean_document_of_tokens"] = job.packing.share * job.batch.sequence;
        json["attention_of_slowest_rank"] = job.packing.slowest;
    }
    return json;
}

Json runnable_json(const Job& job) {
    std::vector<std::string> lacking;
    for (const JobError& feature : lacking_features(job)) lacking.push_back(feature.message);
    if (lacking.empty()) return true;
    return fmt::format("modelled: {}", fmt::join(lacking, "; "));
}

Json job_json(const Job& job, const MachineInfo& machine, const JobRecord& record) {
    Json json{{"name", job.name},
              {"machine", machine_json(job, machine)},
              {"model", model_json(job.model)},
              {"framework", job.framework->name},
              {"framework_version", framework_version(job)},
              {"runnable", runnable_json(job)},
              {"layout", layout_json(job.layout)},
              {"batch", batch_json(job)},
              {"zero", job.zero},
              {"schedule", job.schedule->key},
              {"recompute", recompute_json(job.recompute)},
              {"precision", word(precision_words, job.precision)},
              {"attention", word(attention_words, job.attention)},
              {"sequence_parallel", job.sequence_parallel == SequenceParallel::on},
              {"context_method", word(context_words, job.context_method)},
              {"overlap_gradients", job.gradient_overlap == Setting::on},
              {"dropout", job.dropout == Dropout::on},
              {"cuda_graphs", word(graph_words, job.cuda_graphs)},
              {"compile", job.compile == Setting::on},
              {"step", job.step == StepKind::first ? "first" : "steady"},
              {"overrides", record.overrides},
              {"weft_version", version},
              {"input_digest", record.digest}};
    if (const ExpertOverlap overlap = expert_overlap(job); overlap != ExpertOverlap::none) {
        json["experts"] = {{"overlap", word(overlap_words, overlap)},
                           {"delay_weight_gradients", delays_weight_gradients(job) == Setting::on}};
    }
    if (job.optimizer != OptimizerSettings{}) json["optimizer"] = optimizer_json(job.optimizer);
    if (job.names_recipe == Setting::on) json["fp8_recipe"] = recipe_name(job.recipe);
    if (job.communication_units > 0) json["communication_units"] = job.communication_units;
    if (job.offloaded_layers > 0) json["offloaded_layers"] = job.offloaded_layers;
    return json;
}

}  // namespace weft
