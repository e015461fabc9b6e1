#include "tools/output/job_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/base/enumerators.hpp"
#include "tools/version.hpp"
#include "workloads/job/job_reading.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

Json experts_json(const Experts& experts) {
    Json json{{"count", experts.count},
              {"top_k", experts.top_k},
              {"ffn_hidden", experts.ffn_hidden},
              {"shared", experts.shared}};
    if (experts.shared > 0) json["shared_ffn_hidden"] = experts.shared_ffn_hidden;
    if (experts.latent > 0) json["latent"] = experts.latent;
    json["first_dense"] = experts.first_dense;
    json["every"] = experts.every;
    if (experts.groups > 1) json["groups"] = experts.groups;
    if (experts.groups > 1) json["token_groups"] = experts.token_groups;
    if (experts.clamped) json["clamped"] = true;
    if (experts.shared_gate) json["shared_gate"] = true;
    if (experts.balancing_bias) json["balancing_bias"] = true;
    return json;
}

// All of a layer's maps or none: a flag; else their names.
Json biases_json(const Biases& biases) {
    if (biases == Biases(true)) return true;
    if (biases == Biases(false)) return false;
    Json names = Json::array();
    for (const auto& [name, map] : bias_maps) {
        if (biases.*map) names.push_back(name);
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

Json machine_json(const Job& job, const MachineInfo& machine) {
    return {{"name", machine.name},
            {"nodes", job.nodes},
            {"accelerators", std::uint64_t{job.nodes} * machine.accelerators_per_node},
            {"accelerators_per_node", machine.accelerators_per_node},
            {"device", machine.device},
            {"library", job.library.empty() ? machine.library().name : job.library}};
}

Json layout_json(const Job& job) {
    Json json{{"ranks", job.layout.ranks()}};
    auto names = list_of<std::string>(parallelism::all(), [&](const Scheme* const scheme) { return scheme->axis; });
    for (const char* const more : {"expert_tensor", "virtual_stages", "order", "split"}) names.emplace_back(more);
    for (const std::string& name : names) json[name] = Json::parse(json_of(job, "layout." + name));
    return json;
}

// null where weft knows one version alone.
Json framework_version(const Job& job) {
    const std::string path = fmt::format("{}.version", job.framework->name);
    return std::ranges::find(all_keys(), path, &JobKey::path) == all_keys().end() ? Json() : Json(text_of(job, path));
}

Json recurrence_json(const Recurrence& shape) {
    return {{"heads", shape.heads},           {"key_heads", shape.key_heads},     {"key_size", shape.key_size},
            {"value_size", shape.value_size}, {"convolution", shape.convolution}, {"chunk", shape.chunk},
            {"whole_gate", shape.whole_gate}};
}

Json indexer_json(const Indexer& indexer) {
    return {
        {"heads", indexer.heads}, {"head_size", indexer.head_size}, {"top_k", indexer.top_k}, {"block", indexer.block}};
}

// What is other than in the model.
Json kind_json(const Layer& layer, const Layer& model) {
    Json json = Json::object();
    const auto add = [&](std::string_view key, const auto& own, const auto& base) {
        if (own != base) json[key] = own;
    };
    add("mixer", enumerator_name(layer.mixer), enumerator_name(model.mixer));
    if (layer.recurrence != model.recurrence) json["recurrence"] = recurrence_json(layer.recurrence);
    if (layer.experts.count == 0) json["feed_forward"] = layer.ffn_hidden == 0 ? "none" : "mlp";
    if (layer.ffn_hidden > 0) add("ffn_hidden", layer.ffn_hidden, model.ffn_hidden);
    add("heads", layer.heads, model.heads);
    add("kv_heads", layer.kv_heads, model.kv_heads);
    add("head_size", layer.head_size, model.head_size);
    add("value_size", layer.value_size, model.value_size);
    add("positions", enumerator_name(layer.positions), enumerator_name(model.positions));
    add("query_key_norm", enumerator_name(layer.query_key_norm), enumerator_name(model.query_key_norm));
    add("attention_sinks", layer.attention_sinks, model.attention_sinks);
    add("attention_gate", enumerator_name(layer.attention_gate), enumerator_name(model.attention_gate));
    add("keys_are_values", layer.keys_are_values, model.keys_are_values);
    if (layer.window != model.window) json["attention_window"] = window_json(layer.window);
    if (layer.indexer != model.indexer) json["indexer"] = indexer_json(layer.indexer);
    return json;
}

Json encoder_json(const Encoder& encoder, const Layer& layer) {
    return {{"layers", encoder.layers},
            {"hidden", layer.hidden},
            {"heads", layer.heads},
            {"kv_heads", layer.kv_heads},
            {"head_size", layer.head_size},
            {"ffn_hidden", layer.ffn_hidden},
            {"gated", layer.gated},
            {"biases", layer.biases.qkv},
            {"norm", enumerator_name(layer.norm)},
            {"positions", enumerator_name(layer.positions)},
            {"tokens", encoder.tokens},
            {"patch", encoder.patch},
            {"patch_bias", encoder.patch_bias},
            {"class_tokens", encoder.class_tokens},
            {"positions_length", encoder.positions},
            {"outer_norms", encoder.outer_norms},
            {"merge", encoder.merge},
            {"pool", encoder.pool},
            {"projector", encoder.projector},
            {"projector_bias", encoder.projector_bias},
            {"projector_norm", enumerator_name(encoder.projector_norm)},
            {"deep", encoder.deep}};
}

}  // namespace

Json model_json(const Transformer& model) {
    Json json{{"name", model.name},
              {"parameters", parameters(model)},
              {"active_parameters", active_parameters(model)},
              {"layers", model.own_layers()},
              {"hidden", model.hidden},
              {"heads", model.heads}};
    if (model.has_latent_attention()) {
        const LatentAttention& latent = model.latent;
        json["latent_attention"] = {{"kv_rank", latent.kv_rank},
                                    {"q_rank", latent.q_rank},
                                    {"nope_size", latent.nope_size},
                                    {"rope_size", latent.rope_size},
                                    {"value_size", latent.value_size}};
    } else {
        json["kv_heads"] = model.kv_heads;
        json["head_size"] = model.head_size;
    }
    if (model.value_size > 0) json["value_size"] = model.value_size;
    if (model.recurrence.heads > 0) json["recurrence"] = recurrence_json(model.recurrence);
    if (model.mixer != Mixer::attention) json["mixer"] = enumerator_name(model.mixer);
    if (model.attention_gate != AttentionGate::none) json["attention_gate"] = enumerator_name(model.attention_gate);
    if (model.keys_are_values) json["keys_are_values"] = true;
    if (model.indexer.heads > 0) json["indexer"] = indexer_json(model.indexer);
    json.update({{"ffn_hidden", model.ffn_hidden},
                 {"gated", model.gated},
                 {"vocabulary", model.vocabulary},
                 {"vocabulary_multiple", model.vocabulary_multiple},
                 {"tied_embeddings", model.tied_embeddings},
                 {"parallel_residual", model.parallel_residual},
                 {"positions", enumerator_name(model.positions)},
                 {"norm", enumerator_name(model.norm)},
                 {"norm_placement", enumerator_name(model.norm_placement)},
                 {"biases", biases_json(model.biases)}});
    if (model.positions == Positions::learned) json["positions_length"] = model.positions_length;
    if (model.query_key_norm != QueryKeyNorm::none) json["query_key_norm"] = enumerator_name(model.query_key_norm);
    if (model.attention_sinks) json["attention_sinks"] = true;
    if (model.window.tokens > 0) json["attention_window"] = window_json(model.window);
    if (model.mtp_layers > 0) json["mtp_layers"] = model.mtp_layers;
    if (model.experts.count > 0) json["experts"] = experts_json(model.experts);
    if (!model.teacher.empty()) json["teacher"] = model.teacher.front().name;
    for (const NamedLayer& kind : model.kinds) {
        if (kind.layer.of == LayerOf::encoder) {
            json["encoder"] = encoder_json(model.encoder, kind.layer);
            if (kind.layer.window.tokens > 0) json["encoder"]["attention_window"] = window_json(kind.layer.window);
        }
        if (kind.layer.of == LayerOf::language) json["layer_kinds"][kind.name] = kind_json(kind.layer, model);
    }
    for (const std::uint8_t kind : model.pattern) json["layer_pattern"].push_back(model.kinds[kind].name);
    return json;
}

Json batch_json(const Job& job) {
    Json json{{"sequence", job.batch.sequence},
              {"micro", job.batch.micro},
              {"global", job.batch.global},
              {"micro_batches", job.micro_batches()}};
    if (job.batch.images > 0) json["images"] = job.batch.images;
    if (job.batch.document > 0) json["document"] = job.batch.document;
    if (job.batch.documents.mean_length() > 0) {
        json["documents"] = Json::parse(documents_json(job.batch.documents));
        json["mean_document_of_tokens"] = job.packing.share * job.batch.sequence;
        json["attention_of_slowest_rank"] = job.packing.slowest;
    }
    return json;
}

Json runnable_json(const Job& job) {
    const auto lacking = list_of<std::string>(lacking_features(job), &JobError::message);
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
              {"layout", layout_json(job)},
              {"batch", batch_json(job)}};
    const auto add = [&](std::string_view key) { json[std::string(key)] = Json::parse(json_of(job, key)); };
    for (const char* const key : {"zero", "schedule", "recompute", "precision", "attention", "sequence_parallel",
                                  "context_method", "overlap_gradients", "dropout", "cuda_graphs", "compile", "step"}) {
        add(key);
    }
    if (const std::vector<std::string> remarks = remarks_on(job); !remarks.empty()) json["remarks"] = remarks;
    json.update({{"overrides", record.overrides}, {"weft_version", version}, {"input_digest", record.digest}});
    if (const ExpertOverlap overlap = expert_overlap(job); overlap != ExpertOverlap::none) {
        Job settled = job;
        settled.experts.overlap = overlap;
        settled.experts.delay_weight_gradients = delays_weight_gradients(job);
        for (const char* const name : {"overlap", "delay_weight_gradients"})
            json["experts"][name] = Json::parse(json_of(settled, fmt::format("experts.{}", name)));
    }
    if (job.optimizer != OptimizerSettings{}) add("optimizer");
    if (job.names_recipe == Setting::on) add("fp8_recipe");
    if (!job.trained.everything()) {
        add(job.trained.width > 0 ? "adapters" : "frozen");
        json["trained_parameters"] = trained_parameters(job.model, job.trained);
    }
    for (const char* const key : {"communication_units", "offloaded_layers"}) {
        if (!stands_as_usual(job, key)) add(key);
    }
    for (const auto& [path, value] : job.further) add(path);
    return json;
}

}  // namespace weft
