// Launch scripts of Megatron-LM: one to be run on every node, and a batch script of Slurm.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/transformer/flops.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {

// What flags of Megatron-LM say of layers that differ: a hybrid pattern of letters, or lists with 0 or 1 for each layer
// (megatron/core/transformer/transformer_config.py, core/models/hybrid/hybrid_layer_allocation.py of d98e8a64).

namespace {

constexpr std::string_view kinds_key = "model.layer_kinds";

class LayerFlags {
  public:
    LayerFlags(const Job& job, Unsayable& unsayable)
        : job_(job), model_(job.model), hybrid_(is_hybrid(model_)), unsayable_(unsayable), all_(model_) {
        for (std::uint32_t i = 0; i < model_.layers; ++i) {
            kinds_.push_back(layer_kind(model_, i));
            layers_.push_back(&layer_of(model_, kinds_.back()));
        }
    }

    MegatronLayers write() && {
        find_all();
        check_alike();
        hybrid_ ? add_pattern() : add_lists();
        add_recurrences();
        add_attention();
        MegatronLayers written{model_, std::move(flags_)};
        static_cast<Layer&>(written.alike) = all_;
        written.alike.kinds.clear();
        written.alike.pattern.clear();
        return written;
    }

  private:
    template <class... Value>
    void add(std::string_view flag, const Value&... value) {
        flags_.emplace_back(flag);
        ((flags_.back() += fmt::format(" {}", value)), ...);
    }
    template <class Is>
    const Layer* find(Is is) const {
        return first_of(layers_, [&](const Layer* layer) { return is(*layer); });
    }
    template <class Is>
    bool any(Is is) const {  // of the layers by number
        return std::ranges::any_of(numbers_below<std::size_t>(layers_.size()), is);
    }
    bool attends(std::size_t i) const { return layers_[i]->mixer == Mixer::attention; }

    // The layer whose sizes the flags give: every layer is as it, but for what letters and lists say.
    void find_all() {
        if (const Layer* const found = find([](const Layer& layer) { return layer.mixer == Mixer::attention; }))
            all_ = *found;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            if (has_mlp(*layers_[i], kinds_[i])) all_.ffn_hidden = layers_[i]->ffn_hidden;
            if (!hybrid_ && attends(i) && layers_[i]->window.tokens > 0) all_.window = layers_[i]->window;
        }
        all_.experts = model_.experts;
        if (all_.ffn_hidden == 0) all_.ffn_hidden = model_.ffn_hidden;
        if (!hybrid_) all_.positions = model_.positions;
    }

    void check_alike() {
        const bool differs = any([this](std::size_t i) {
            Layer own = *layers_[i];
            if (has_mlp(own, kinds_[i]) && own.ffn_hidden != all_.ffn_hidden) return true;
            if (!attends(i)) return false;
            own.ffn_hidden = all_.ffn_hidden;
            own.experts = all_.experts;
            own.recurrence = all_.recurrence;
            if (hybrid_) own.indexer = all_.indexer;
            if (!hybrid_ && own.positions == Positions::none) own.positions = all_.positions;
            if (!hybrid_ && own.window.tokens == 0) own.window = all_.window;
            return own != all_;
        });
        unsayable_.unless(!differs, kinds_key, "Megatron-LM has attention of one shape, and MLPs of one size");
    }

    // --- hybrid patterns ---

    char letter(std::size_t i) {
        const Layer& layer = *layers_[i];
        if (layer.mixer == Mixer::none) return has_experts(kinds_[i]) ? 'E' : '-';
        if (is_recurrent(layer.mixer)) return layer.mixer == Mixer::mamba2 ? 'M' : 'G';
        return !layer.has_latent_attention() ? '*' : layer.indexer.heads > 0 ? 'D' : '+';
    }

    // Parts of the pipeline between |, and each prediction module behind a slash.
    void add_pattern() {
        const MegatronVersion& version = job_.megatron.version;
        const bool named = has_since(version, hybrid_stages_since);
        std::string why, text;
        std::vector<std::uint32_t> parts = job_.part_layers(why);
        parts.at(job_.prediction_part()) -= model_.mtp_layers;
        std::size_t at = 0;
        for (const std::uint32_t layers : parts) {
            if (!text.empty() && named) text += '|';
            for (std::uint32_t i = 0; i < layers; ++i) text += letter(at++);
        }
        for (std::uint32_t i = 0; i < model_.mtp_layers; ++i) text += {'/', letter(layers_.size() - 1)};
        const bool even =
            std::ranges::count(parts, parts.front()) == std::ssize(parts) && job_.model_parts() == job_.layout.pipeline;
        unsayable_.unless(!any([this](std::size_t i) {
            return layers_[i]->mixer != Mixer::none && has_feed_forward(*layers_[i], kinds_[i]);
        }),
                          kinds_key, "layers of a hybrid pattern are a mixer or a feed-forward alone");
        unsayable_.unless(named || (even && model_.mtp_layers == 0), "megatron.version",
                          "hybrid patterns have parts and prediction modules since core-0.17");
        add(named ? "hybrid-layer-pattern" : "hybrid-override-pattern", fmt::format("\"{}\"", text));
        add("spec", "megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec");
        if (!named && has_since(version, "core-0.12")) add("is-hybrid-model");
    }

    // --- lists ---

    // A number where `last` is what the last layer of each run of so many has, and only it.
    template <class Is>
    void add_list(std::string_view flag, int last, Is is) {
        std::vector<int> list;
        for (std::size_t i = 0; i < layers_.size(); ++i) list.push_back(is(i) ? 1 : 0);
        const auto run = static_cast<std::size_t>(std::ranges::find(list, last) - list.begin()) + 1;
        bool regular = run > 1 && run <= list.size();
        for (std::size_t i = 0; i < list.size(); ++i) regular = regular && (list[i] == last) == ((i + 1) % run == 0);
        regular ? add(flag, run) : add(flag, fmt::format("\"[{}]\"", fmt::join(list, ",")));
    }

    void add_lists() {
        const auto delta = [this](std::size_t i) { return layers_[i]->mixer == Mixer::gated_delta; };
        const auto bare = [this](std::size_t i) { return attends(i) && layers_[i]->positions == Positions::none; };
        const auto windowed = [this](std::size_t i) { return is_windowed(kinds_[i]); };
        unsayable_.unless(!any([&](std::size_t i) { return layers_[i]->mixer == Mixer::mamba2; }), "model.mixer",
                          "Megatron-LM has Mamba-2 as layers of a hybrid pattern, without a feed-forward");
        if (any(delta)) add("experimental-attention-variant gdn");
        if (any(delta)) add_list("linear-attention-freq", 0, delta);
        if (model_.positions == Positions::rotary && any(bare)) add_list("no-rope-freq", 1, bare);
        if (!model_.kinds.empty() && model_.experts.count > 0)
            add_list("moe-layer-freq", 2, [&](std::size_t i) { return has_experts(kinds_[i]); });
        if (all_.window.tokens > 0 && any([&](std::size_t i) { return attends(i) && !windowed(i); }))
            add_list("window-attn-skip-freq", 0, windowed);
    }

    // --- sizes ---

    void add_recurrences() {
        for (const Mixer mixer : {Mixer::kimi_delta, Mixer::lightning, Mixer::mamba2, Mixer::gated_delta}) {
            const Layer* const first = find([&](const Layer& layer) { return layer.mixer == mixer; });
            if (first == nullptr) continue;
            const Recurrence& shape = first->recurrence;
            const bool mamba = mixer == Mixer::mamba2;
            unsayable_.unless(mamba || mixer == Mixer::gated_delta, "model.mixer",
                              "Megatron-LM has Mamba-2 and gated delta nets");
            unsayable_.unless(
                find([&](const Layer& one) { return one.mixer == mixer && one.recurrence != shape; }) == nullptr,
                kinds_key, "Megatron-LM has recurrences of one shape");
            unsayable_.unless(shape.chunk == (mamba ? 128 : 64), "model.recurrence.chunk",
                              "Megatron-core's Mamba works on chunks of 128 tokens, its gated delta net of 64");
            unsayable_.unless(!mamba || shape.convolution == 4, "model.recurrence.convolution",
                              "Megatron-core's Mamba sees 4 tokens");
            add(mamba ? "mamba-num-heads" : "linear-num-value-heads", shape.heads);
            add(mamba ? "mamba-num-groups" : "linear-num-key-heads", shape.key_heads);
            add(mamba ? "mamba-state-dim" : "linear-key-head-dim", shape.key_size);
            add(mamba ? "mamba-head-dim" : "linear-value-head-dim", shape.value_size);
            if (!mamba) add("linear-conv-kernel-dim", shape.convolution);
        }
    }

    void add_attention() {
        const Layer* const chosen =
            find([](const Layer& layer) { return layer.mixer == Mixer::attention && layer.indexer.heads > 0; });
        if (chosen != nullptr) {
            if (!hybrid_) add("experimental-attention-variant dsa");
            add("dsa-indexer-n-heads", chosen->indexer.heads);
            add("dsa-indexer-head-dim", chosen->indexer.head_size);
            add("dsa-indexer-topk", chosen->indexer.top_k);
            add("dsa-indexer-use-sparse-loss");
        }
        unsayable_.unless(all_.attention_gate != AttentionGate::heads, "model.attention_gate",
                          "Megatron-LM's gate weighs elements");
        if (all_.attention_gate != AttentionGate::none) add("attention-output-gate");
        if (all_.attention_sinks) add("softmax-type learnable");
        const AttentionWindow& window = all_.window;
        if (window.tokens == 0) return;
        add("window-size", fmt::format("\"({},0)\"", window.tokens - 1));
        unsayable_.unless(!window.chunked && window.full_rotary, "model.attention_window",
                          "Megatron-LM's windows slide, over rotated queries and keys where the others are");
        unsayable_.unless(!hybrid_ || (window.full_every == 0 && window.first_full == 0), "model.attention_window",
                          "weft writes windows of all layers of a hybrid pattern, or of none");
    }

    const Job& job_;
    const Transformer& model_;
    const bool hybrid_;
    Unsayable& unsayable_;
    Layer all_;
    std::vector<LayerKind> kinds_;
    std::vector<const Layer*> layers_;
    std::vector<std::string> flags_;
};

std::string environment(const Job& job) {
    std::string text;
    // Tensor parallelism relies on the order of launches (megatron/training/arguments.py checks it), but for graphs.
    if (job.layout.tensor > 1 || job.layout.context > 1) text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    if (job.blocking_launches == Setting::on) text += "export CUDA_LAUNCH_BLOCKING=1\n";
    return text;
}

std::string_view program(const Job& job) { return is_hybrid(job.model) ? "pretrain_mamba.py" : "pretrain_gpt.py"; }

// `before` the keys that only weft has, `launcher` behind them and the environment, then the arguments and `command`.
std::string script(const Study& study, std::string_view before, std::string_view exports, std::string_view launcher,
                   std::string_view command) {
    Unsayable unsayable(study);
    const std::string arguments = megatron_arguments(study, unsayable);
    unsayable.check();
    return fmt::format("#!/bin/bash\n{}{}{}{}{}{}{}", before, own_keys(study, "megatron"), exports,
                       environment(study.job), launcher, arguments, command);
}

std::string write_megatron(const Study& study) {
    const Job& job = study.job;
    return script(
        study,
        fmt::format("# {} on {} nodes of {}: {}. For NVIDIA/Megatron-LM ({}): run it on every node,\n"
                    "# in a checkout, with NODE_RANK and MASTER_ADDR set.\n",
                    job.model.name, job.nodes, study.machine.info().name, axes(job.layout), job.megatron.version.name),
        "",
        fmt::format("\nNODES={}\nGPUS_PER_NODE={}\nDISTRIBUTED_ARGS=(\n    --nnodes $NODES\n    --nproc_per_node "
                    "$GPUS_PER_NODE\n    --node_rank ${{NODE_RANK:-0}}\n    --master_addr ${{MASTER_ADDR:-localhost}}\n"
                    "    --master_port ${{MASTER_PORT:-6000}}\n)\n",
                    job.nodes, std::min(job.layout.ranks(), job.ranks_per_node)),
        fmt::format("\ntorchrun \"${{DISTRIBUTED_ARGS[@]}}\" {} \\\n    \"${{MODEL_ARGS[@]}}\" "
                    "\"${{LAYOUT_ARGS[@]}}\" \"${{TRAINING_ARGS[@]}}\" \"$@\"\n",
                    program(job)));
}

// One task per accelerator.
std::string write_slurm(const Study& study) {
    const Job& job = study.job;
    return script(study,
                  fmt::format("#SBATCH --job-name={0}\n#SBATCH --nodes={1}\n#SBATCH --ntasks-per-node={2}\n"
                              "#SBATCH --gpus-per-node={2}\n#SBATCH --exclusive\n",
                              job.name, job.nodes, std::min(job.layout.ranks(), job.ranks_per_node)),
                  "\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
                  "export MASTER_PORT=6000\nexport WORLD_SIZE=$SLURM_NTASKS\n",
                  "",
                  fmt::format("\nsrun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec python {} "
                              "\"$@\"' - \\\n    \"${{MODEL_ARGS[@]}}\" \"${{LAYOUT_ARGS[@]}}\" "
                              "\"${{TRAINING_ARGS[@]}}\"\n",
                              program(job)));
}

}  // namespace

MegatronLayers megatron_layers(const Job& job, Unsayable& unsayable) { return LayerFlags(job, unsayable).write(); }

namespace exports {

extern const ExportFormat megatron{"megatron", "launch script of Megatron-LM", write_megatron};
extern const ExportFormat slurm{"slurm", "batch script of Slurm for Megatron-LM", write_slurm};

}  // namespace exports
}  // namespace weft
