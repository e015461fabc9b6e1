// What frameworks refuse of a job, and what their releases lack of it.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/job/job.hpp"
#include "workloads/job/settings.hpp"

namespace weft {

// Collects why a job cannot run, by the key to change.
class Refusals {
  public:
    // If a key is given, what others have against the job is left out, and no text is made of it.
    explicit Refusals(std::vector<JobError>& errors, std::string_view only = {}) : errors_(errors), only_(only) {}

    std::size_t count() const { return errors_.size(); }
    void add(JobError error) const {
        if (is_asked(error.key)) errors_.push_back(std::move(error));
    }
    template <class... Args>
    void operator()(std::string_view key, fmt::format_string<Args...> why, Args&&... args) const {
        if (is_asked(key)) errors_.push_back({std::string(key), fmt::format(why, std::forward<Args>(args)...)});
    }
    template <class... Args>
    void when(bool refused, std::string_view key, fmt::format_string<Args...> why, Args&&... args) const {
        if (refused) (*this)(key, why, std::forward<Args>(args)...);
    }

  private:
    bool is_asked(std::string_view key) const { return only_.empty() || key == only_; }

    std::vector<JobError>& errors_;
    std::string_view only_;
};

// Every axis but data, and what needs one. Experts are like any parameters: every rank has all of them.
void check_data_only(const Job& job, const Refusals& refuse);
// What DeepSpeed cannot run; settings, given other than by default, that the job's ZeRO stage does not read; and what
// ZeRO++ asks of the layout.
void check_deepspeed(const Job& job, const Refusals& refuse);
// Appends, by the key that asks for it, what the job's version of Megatron-LM has not, and the first that has.
void lacking_megatron_features(const Job& job, const Refusals& lacks);

// What a version of Megatron-LM has, by the first that has it.

// `since`: a name in megatron_versions, which begin with the latest; later than all of them, where it is none of these.
constexpr bool has_since(const MegatronVersion& version, std::string_view since) {
    const auto place = [](std::string_view name) {
        return std::ranges::find(megatron_versions, name, &MegatronVersion::name);
    };
    return place(since) != megatron_versions.end() && place(version.name) <= place(since);
}

// First versions with flags of megatron/training/arguments.py, by its tags.
inline constexpr std::string_view first_and_last_since = "core-0.9";  // --decoder-first-pipeline-num-layers
inline constexpr std::string_view shared_overlap_since = "core-0.9";  // --moe-shared-expert-overlap
inline constexpr std::string_view joint_passes_since = "core-0.14";   // --overlap-moe-expert-parallel-comm (assumption)
inline constexpr std::string_view joint_graphs_since = "core-0.18";   // the same under --cuda-graph-impl full_iteration
inline constexpr std::string_view half_attention_since = "core-0.12";  // num_floating_point_operations(), 8873b55d
inline constexpr std::string_view muon_since = "core-0.16";            // --optimizer muon
inline constexpr std::string_view expert_bias_since = "core-0.11";     // --moe-router-enable-expert-bias
inline constexpr std::string_view sequence_loss_since = "core-0.10";   // --moe-router-load-balancing-type seq_aux_loss
inline constexpr std::string_view global_loss_since = "core-0.15";     // and global_aux_loss
inline constexpr std::string_view sequence_counts_since =
    "core-0.14";                                                       // seq_aux_loss sums counts, before probabilities
inline constexpr std::string_view several_losses_since = "core-0.14";  // a list of --moe-router-load-balancing-type
inline constexpr std::string_view loss_sums_since = "core-0.9";        // of tensor and context ranks by any dispatcher
inline constexpr std::string_view deepep_since = "core-0.12";          // --moe-enable-deepep, by tag
inline constexpr std::string_view fused_indices_since = "core-0.13";   // fusions/fused_indices_converter.py
inline constexpr std::string_view late_counts_since = "core-0.8";      // cuda_sync_point, token_dispatcher.py
inline constexpr std::string_view counts_alone_since = "core-0.12";    // and cuda_dtoh_stream
inline constexpr std::string_view recipes_since = "core-0.13";         // --fp8-recipe as it is there; not in core-0.9
inline constexpr std::string_view quarter_since = "core-0.15";         // --fp4-format
inline constexpr std::string_view padded_routing_since = "core-0.13";  // --moe-router-padding-for-fp8
inline constexpr std::string_view paged_stash_since = "core-0.18";     // --moe-paged-stash, by tag
inline constexpr std::string_view host_updates_since = "core-0.13";    // --optimizer-cpu-offload; not in core-0.9
inline constexpr std::string_view predictions_since = "core-0.12";     // --mtp-num-layers
inline constexpr std::string_view probabilities_since = "core-0.13";   // sent with tokens, token_dispatcher.py
inline constexpr std::string_view hybrid_since = "core-0.8";           // --hybrid-override-pattern: M, *, -
inline constexpr std::string_view hybrid_experts_since = "core-0.16";  // E in ssm/mamba_hybrid_layer_allocation.py
inline constexpr std::string_view hybrid_stages_since = "core-0.17";   // --hybrid-layer-pattern: G, | and /
inline constexpr std::string_view hybrid_indexer_since = "core-0.18";  // D
inline constexpr std::string_view hybrid_latent_since = "core-0.19";   // +
inline constexpr std::string_view copied_keys_since = "core-0.16";     // f7dfb997: more tensor ranks than query groups
inline constexpr std::string_view window_since = "core-0.15";          // --window-size, --softmax-type
// --experimental-attention-variant, --attention-output-gate, --moe-latent-size, --moe-shared-expert-gate
inline constexpr std::string_view variants_since = "core-0.16";
inline constexpr std::string_view bare_layers_since = "core-0.13";   // --no-rope-freq
inline constexpr std::string_view stage_layout_since = "core-0.13";  // --pipeline-model-parallel-layout

// What an encoder or a teacher beside the model refuses (workloads/job/beside.cpp).
void check_beside(const Job& job, const Refusals& refuse);

}  // namespace weft
