#include "models/transformer/encoder.hpp"

#include <utility>

#include "models/device/device.hpp"
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

bool norms_input(const Encoder& encoder) { return encoder.projector_norm != ProjectorNorm::none; }

// Images of a micro-batch, or of whatever sequences; and what is trained of the encoder's two parts.
struct Rows {
    double patches, seen, merged;

    Rows(const Encoder& encoder, double sequences)
        : patches(sequences * encoder.images * encoder.tokens),
          seen(sequences * encoder.images * encoder.seen()),
          merged(sequences * encoder.images * encoder.given()) {}
};
bool trains_encoder(const Trained& trained) { return !trained.frozen.has(ModelPart::encoder); }
bool trains_projector(const Trained& trained) { return !trained.frozen.has(ModelPart::projector); }

}  // namespace

std::vector<ProjectorMap> projector_maps(const Transformer& model) {
    std::vector<ProjectorMap> maps;
    std::uint64_t inputs = std::uint64_t{layer_of_encoder(model).hidden} * model.encoder.merge;
    for (const std::uint32_t width : model.encoder.projector) maps.push_back({std::exchange(inputs, width), width});
    maps.push_back({inputs, model.hidden});
    return maps;
}

std::vector<Kernel> encoder_ends_forward(const Transformer& model, const Shard& shard) {
    const Encoder& encoder = model.encoder;
    if (encoder.layers == 0) return {};
    const Rows rows(encoder, shard.micro_batch);
    const double e = shard.element_bytes, width = layer_of_encoder(model).hidden;
    std::vector<Kernel> kernels{gemm_kernel("patch embedding", rows.patches, width, encoder.patch, e)};
    if (encoder.positions > 0) kernels.push_back(memory_kernel("patch positions", 3.0 * rows.seen * width, e));
    if (encoder.outer_norms > 0)
        kernels.push_back(memory_kernel("encoder norm", 2.0 * encoder.outer_norms * rows.seen * width, e));
    for (std::uint32_t i = 0; i <= encoder.deep; ++i) {
        if (norms_input(encoder) || encoder.pool > 1)
            kernels.push_back(memory_kernel("projector norm", 2.0 * rows.patches * width, e));
        for (const ProjectorMap& map : projector_maps(model)) {
            kernels.push_back(gemm_kernel("projector", rows.merged, double(map.outputs), double(map.inputs), e));
            if (map.outputs != model.hidden)
                kernels.push_back(memory_kernel("gelu", 2.0 * rows.merged * double(map.outputs), e));
        }
    }
    // Into their places in the sequence.
    kernels.push_back(memory_kernel("place images", (2.0 + encoder.deep) * rows.merged * model.hidden, e));
    return kernels;
}

std::vector<Kernel> encoder_ends_backward(const Transformer& model, const Shard& shard) {
    const Encoder& encoder = model.encoder;
    const bool encodes = trains_encoder(shard.trained), projects = trains_projector(shard.trained);
    if (encoder.layers == 0 || (!encodes && !projects)) return {};
    const Rows rows(encoder, shard.micro_batch);
    const double e = shard.element_bytes, width = layer_of_encoder(model).hidden;
    std::vector<Kernel> kernels{memory_kernel("take image gradients", 2.0 * rows.merged * model.hidden, e)};
    for (std::uint32_t i = 0; i <= encoder.deep; ++i) {
        const std::vector<ProjectorMap> maps = projector_maps(model);
        for (std::size_t m = maps.size(); m-- > 0;) {
            const double inputs = double(maps[m].inputs), outputs = double(maps[m].outputs);
            if (projects) kernels.push_back(gemm_kernel("projector weight gradient", outputs, inputs, rows.merged, e));
            if (m == 0 && !encodes && !norms_input(encoder)) continue;
            kernels.push_back(gemm_kernel("projector input gradient", rows.merged, inputs, outputs, e));
            if (m > 0) kernels.push_back(memory_kernel("gelu gradient", 3.0 * rows.merged * inputs, e));
        }
        if (norms_input(encoder) || (encodes && encoder.pool > 1))
            kernels.push_back(memory_kernel("projector norm gradient", 3.0 * rows.patches * width, e));
    }
    if (!encodes) return kernels;
    if (encoder.outer_norms > 0)
        kernels.push_back(memory_kernel("encoder norm gradient", 3.0 * encoder.outer_norms * rows.seen * width, e));
    if (encoder.positions > 0) kernels.push_back(memory_kernel("patch position gradient", rows.seen * width, e));
    kernels.push_back(gemm_kernel("patch embedding weight gradient", encoder.patch, width, rows.patches, e));
    return kernels;
}

// Inputs of maps, of functions between them and of norms, as far as a gradient needs them.
Bytes encoder_ends_activations(const Transformer& model, const Shard& shard) {
    const Encoder& encoder = model.encoder;
    const bool encodes = trains_encoder(shard.trained), projects = trains_projector(shard.trained);
    if (encoder.layers == 0 || (!encodes && !projects)) return {};
    const Rows rows(encoder, shard.micro_batch);
    const double width = layer_of_encoder(model).hidden;
    double elements = encodes ? rows.patches * encoder.patch + encoder.outer_norms * rows.seen * width : 0.0;
    for (const ProjectorMap& map : projector_maps(model)) {
        const double between = map.outputs != model.hidden ? rows.merged * double(map.outputs) : 0.0;
        elements += (1.0 + encoder.deep) * (between + (projects ? rows.merged * double(map.inputs) : 0.0));
    }
    if (norms_input(encoder)) elements += (1.0 + encoder.deep) * rows.patches * width;
    return {elements * shard.element_bytes};
}

Flops encoder_flops(const Transformer& model, double sequences, const Trained& trained) {
    const Encoder& encoder = model.encoder;
    if (encoder.layers == 0) return {};
    const Shard shard{.micro_batch = 1, .trained = trained};
    Flops sum = total_flops(encoder_ends_forward(model, shard)) + total_flops(encoder_ends_backward(model, shard));
    each_kind(model, encoder.layers, [&](LayerKind kind, std::uint32_t layers) {
        const bool alone = runs_forward_alone(model, kind, trained);
        for (const LayerPiece& piece : layer_pieces(model, kind, shard)) {
            const Flops backward = total_flops(piece.input_backward) + total_flops(piece.weight_backward);
            sum += (total_flops(piece.forward) + (alone ? Flops{} : backward)) * layers;
        }
    });
    return sum * sequences;
}

}  // namespace weft
