// What all formats share: their names, what none of them can say, and what a job says that no launcher has words for,
// as comments: what names it, which ranks of the nodes it takes, faults, the fabric, how the host works. Nothing of
// what is as it is by default.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

class Comments {
  public:
    explicit Comments(const Job& job) : job_(job) {}
    void add(std::string_view key, std::string_view value) { text_ += fmt::format("# weft: {}={}\n", key, value); }
    void say(std::string_view words) { text_ += fmt::format("# {}\n", words); }
    void add_if(bool given, std::string_view key) {
        if (given) add(key, text_of(job_, key));
    }
    void add_unusual(std::string_view key) { add_if(!stands_as_usual(job_, key), key); }
    std::string text() && { return std::move(text_); }

  private:
    const Job& job_;
    std::string text_;
};

Json slow_gpus(const Faults& faults) {
    Json list;
    for (const SlowRanks& slow : faults.slow) {
        const bool rank = slow.count == 1;
        list.push_back({{rank ? "rank" : "node", index(slow.first) / slow.count}, {"factor", slow.factor}});
    }
    return list;
}

Json slow_links(const Fabric& fabric) {
    Json list;
    for (const LinkFault& fault : fabric.link_faults) {
        Json& entry = list.emplace_back();
        if (const auto* cable = std::get_if<NicCable>(&fault.where)) {
            entry = {{"node", cable->node}, {"nic", cable->nic}};
        } else {
            const auto& route = std::get<RouteCables>(fault.where);
            entry = {{"from", index(route.from)}, {"to", index(route.to)}};
            if (!route.link_class.empty()) entry["class"] = route.link_class;
        }
        entry["bandwidth"] = fault.share;
    }
    return list;
}

void add_faults(Comments& comments, const Job& job) {
    const Faults& faults = job.faults;
    if (!faults.slow.empty()) comments.add("faults.slow_gpus", slow_gpus(faults).dump());
    if (faults.spread != (faults.slow.empty() ? 1.0 : 0.0))
        comments.add("faults.spread", fmt::to_string(faults.spread));
    if (!job.fabric.link_faults.empty()) comments.add("faults.links", slow_links(job.fabric).dump());
    if (!has_jitter(faults)) return;
    comments.add("faults.jitter", Json{{"spread", faults.jitter.spread}, {"seed", faults.jitter.seed}}.dump());
}

void add_fabric(Comments& comments, const Fabric& fabric) {
    if (fabric.routing) comments.add("fabric.routing", to_text(*fabric.routing));
    Json background;
    for (const auto& [link_class, share] : fabric.background) background[link_class] = share;
    if (!background.empty()) comments.add("fabric.background", background.dump());
    if (fabric.quantile) comments.add("fabric.quantile", fmt::to_string(*fabric.quantile));
}

void add_run(Comments& comments, const Job& job) {
    const bool deepspeed = job.framework->name == "deepspeed";
    comments.add_if(job.layout.ranks() != std::uint64_t{job.nodes} * job.ranks_per_node, "layout.data");
    for (const std::string_view key : {"step", "first_use", "blocking_launches"}) comments.add_unusual(key);
    if (deepspeed) comments.add_unusual("cuda_graphs");
    comments.add_unusual("batch.document");
    comments.add_if(job.attention == AttentionCore::cudnn_9_13, "attention");
    comments.add_if(job.batch.documents.mean_length() > 0, "batch.documents");
    add_faults(comments, job);
    add_fabric(comments, job.fabric);
    for (const std::string_view key : {"pipe_partitioned", "grad_partitioned", "attention_mask"}) {
        if (deepspeed) comments.add_unusual(fmt::format("deepspeed.{}", key));
    }
    for (const auto& [key, value] : job.further) comments.add_if(true, key);
}

void add_imbalance(Comments& comments, const Job& job) {
    const bool balanced = job.experts.balancing != Balancing::even || job.model.experts.balancing_bias;
    if (!job.experts.by_layer.empty()) {
        std::vector<double> given;
        for (std::uint32_t layer = 0; layer < job.experts.by_layer.size(); ++layer) {
            if (job.layer_place(layer) >= layer_kinds(job.model)) given.push_back(job.experts.by_layer[layer]);
        }
        comments.add("experts.imbalance", fmt::format("[{}]", fmt::join(given, ",")));
    } else if (job.experts.imbalance > 1.0 || balanced) {
        comments.add("experts.imbalance", fmt::to_string(job.experts.imbalance));
    }
}

}  // namespace

const ExportFormat& find_export(std::string_view name) { return find_named(exports::all(), name); }

void check_exported_nodes(std::uint64_t nodes) {
    if (nodes <= most_exported_nodes) return;
    refuse_file({}, fmt::format("more than {} nodes to write: choose some of the ranks, as with --ranks 0-7 (but for "
                                "GOAL), or simulate fewer micro-batches, as with --set batch.global=...",
                                most_exported_nodes));
}

void Unsayable::unless(bool sayable, std::string_view key, std::string message) {
    if (sayable) return;
    found_.push_back({.file = job_, .line = 0, .column = 0, .key = std::string(key), .message = std::move(message)});
}

void Unsayable::check() const {
    if (!found_.empty()) throw ConfigError(found_);
}

void refuse_rare_terms(const Transformer& model, Unsayable& unsayable) {
    const std::string why = "the format has no word for it";
    unsayable.unless(model.query_key_norm == QueryKeyNorm::none || model.query_key_norm == QueryKeyNorm::per_head,
                     "model.query_key_norm", why);
    unsayable.unless(!model.biases.router && !model.biases.head && model.biases.experts == model.biases.mlp,
                     "model.biases", why);
    unsayable.unless(!model.embedding_norm, "model.embedding_norm", why);
    unsayable.unless(model.norm_weight, "model.norm_weight", why);
    unsayable.unless(model.norm_bias || model.norm == Norm::rms_norm, "model.norm_bias", why);
    unsayable.unless(model.norm_placement <= NormPlacement::shared, "model.norm_placement", why);
    unsayable.unless(model.value_size == 0 || model.value_size == model.head_size, "model.value_size", why);
    unsayable.unless(!model.keys_are_values, "model.keys_are_values", why);
    unsayable.unless(model.encoder.layers == 0, "model.encoder", why);
    unsayable.unless(model.teacher.empty(), "model.teacher", why);
}

void refuse_unlike_layers(const Transformer& model, Unsayable& unsayable) {
    const std::string why = "the format has no word for it";
    unsayable.unless(model.kinds.empty(), "model.layer_kinds", why);
    unsayable.unless(model.mixer == Mixer::attention, "model.mixer", why);
    unsayable.unless(model.attention_gate == AttentionGate::none, "model.attention_gate", why);
    unsayable.unless(model.indexer.heads == 0, "model.indexer", why);
    unsayable.unless(!model.attention_sinks, "model.attention_sinks", why);
    unsayable.unless(model.window.tokens == 0, "model.attention_window", why);
}

std::string own_keys(const Study& study, std::string_view framework) {
    const Job& job = study.job;
    Comments comments(job);
    // A machine of the user's own is one by its file, which a name does not tell.
    const std::string& machine = study.machine.info().name;
    const std::vector<std::string> shipped = machine_names();
    if (std::ranges::binary_search(shipped, machine)) {
        comments.add("machine", machine);
    } else {
        comments.say(fmt::format("{} is a machine of your own: to read this back give --machine FILE", machine));
    }
    comments.add("nodes", fmt::to_string(job.nodes));
    if (job.model.name.find_first_of("\"\\\n") == std::string::npos)
        comments.add("model.name", fmt::format("\"{}\"", job.model.name));
    comments.add("model.vocabulary", fmt::to_string(job.model.vocabulary));
    if (framework == "megatron") comments.add("megatron.version", job.megatron.version.name);
    if (framework == "deepspeed") comments.add("deepspeed.version", fmt::format("\"{}\"", job.deepspeed.version.name));
    comments.add_unusual("sustained_clock");
    comments.add_unusual("communication_units");
    add_imbalance(comments, job);
    if (!job.library.empty()) comments.add("library", job.library);
    add_run(comments, job);
    return std::move(comments).text();
}

void refuse_placement(const Study& study, Unsayable& unsayable) {
    unsayable.unless(study.job.fabric.placement.empty(), "fabric.placement",
                     "which nodes a job gets is the scheduler's to say");
}

}  // namespace weft
