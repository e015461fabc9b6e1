#include "workloads/plan/stage_memory.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {

// The one whose window layer `i` is; none: nullopt.
static std::optional<std::uint32_t> copied_layer(const Job& job, const Chunk& chunk, std::uint32_t i) {
    for (std::uint32_t j = 0; j < job.offloaded_layers; ++j) {
        if (copy_window(chunk.layers, job.offloaded_layers, j) == i) return j;
    }
    return std::nullopt;
}

Seconds PassWriter::copy_time(const Chunk& chunk, std::uint32_t i) const {
    return layer_activations(job_, chunk, i) / plan_.machine.host->link;
}

void PassWriter::store_activations(const At& at, const Chunk& chunk, std::uint32_t i) {
    if (job_.offloaded_layers == 0) return;
    const auto store = [&](std::uint32_t layer) {
        copies_[layer] = script_.store("offload activations", copy_time(chunk, layer), at.pass.where, script_.now());
    };
    copies_.resize(job_.offloaded_layers);
    if (i == 0) store(0);
    const std::optional<std::uint32_t> stored = copied_layer(job_, chunk, i);
    if (!stored) return;
    script_.wait(copies_[*stored]);
    if (*stored + 1 < job_.offloaded_layers) store(*stored + 1);
}

void PassWriter::load_activations(const At& at, const Chunk& chunk, std::uint32_t i) {
    if (job_.offloaded_layers == 0) return;
    if (const std::optional<std::uint32_t> loaded = copied_layer(job_, chunk, i)) {
        if (*loaded + 1 < job_.offloaded_layers) script_.wait(copies_[*loaded + 1]);
        copies_[*loaded] = script_.load("fetch activations", copy_time(chunk, *loaded), at.pass.where, script_.now());
    }
    if (i == 0) script_.wait(copies_[0]);
}

}  // namespace weft
