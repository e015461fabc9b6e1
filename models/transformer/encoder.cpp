#include "models/transformer/encoder.hpp"

#include "models/device/device.hpp"
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

const Layer& layer_of_encoder(const Transformer& model) { return model.kinds.back().layer; }

struct Map {
    double inputs, outputs;
    double weights() const { return inputs * outputs; }
};

// Of one projector, in order.
std::vector<Map> projector_maps(const Transformer& model) {
    std::vector<Map> maps;
    double inputs = double(layer_of_encoder(model).hidden) * model.encoder.merge;
    for (const std::uint32_t width : model.encoder.projector) {
        maps.push_back({inputs, double(width)});
        inputs = width;
    }
    maps.push_back({inputs, double(model.hidden)});
    return maps;
}

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

std::vector<Module> encoder_modules(const Transformer& model, const LayerSplit& split) {
    const Encoder& encoder = model.encoder;
    if (encoder.layers == 0) return {};
    const Layer& layer = layer_of_encoder(model);
    const auto add = [](Module& module, double elements, bool vector) {
        module.tensors.push_back(static_cast<std::uint64_t>(elements));
        module.vector.push_back(vector);
        module.rows.push_back({module.tensors.back()});
    };
    const auto add_norm = [&](Module& module, double width, bool biased) {
        for (int i = 0; i < (biased ? 2 : 1); ++i) add(module, width, true);
    };
    const bool projects_norm = encoder.projector_norm == ProjectorNorm::layer_norm;
    std::vector<Module> modules{{.name = "patch embedding"}, {.name = "projector"}};
    Module &patches = modules.front(), &projector = modules.back();
    add(patches, double(encoder.patch) * layer.hidden, false);
    if (encoder.patch_bias) add(patches, layer.hidden, true);
    for (std::uint32_t i = 0; i < encoder.class_tokens; ++i) add(patches, layer.hidden, true);
    if (encoder.positions > 0) add(patches, double(encoder.positions) * layer.hidden, false);
    for (std::uint32_t i = 0; i < encoder.outer_norms; ++i)
        add_norm(patches, layer.hidden, layer.norm == Norm::layer_norm);
    for (std::uint32_t i = 0; i <= encoder.deep; ++i) {
        if (norms_input(encoder))
            add_norm(projector, double(layer.hidden) * (i == 0 ? 1 : encoder.merge), projects_norm);
        for (const Map& map : projector_maps(model)) {
            add(projector, map.weights(), false);
            if (encoder.projector_bias) add(projector, map.outputs, true);
        }
    }
    train(modules, model, split.trained, split.tensor);
    return modules;
}

std::vector<Module> teacher_module(const Transformer& model, const LayerSplit& split, bool before) {
    if (model.teacher.empty()) return {};
    const Transformer& teacher = model.teacher.front();
    Module all{.name = before ? "teacher embedding" : "teacher head"};
    for (const Module& module : before ? embedding_modules(teacher, split) : head_modules(teacher, split)) {
        all.tensors.insert(all.tensors.end(), module.tensors.begin(), module.tensors.end());
        all.vector.insert(all.vector.end(), module.vector.begin(), module.vector.end());
        all.rows.insert(all.rows.end(), module.rows.begin(), module.rows.end());
    }
    all.frozen.assign(all.tensors.size(), true);
    return {all};
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
        for (const Map& map : projector_maps(model)) {
            kernels.push_back(gemm_kernel("projector", rows.merged, map.outputs, map.inputs, e));
            if (map.outputs != model.hidden)
                kernels.push_back(memory_kernel("gelu", 2.0 * rows.merged * map.outputs, e));
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
        const std::vector<Map> maps = projector_maps(model);
        for (std::size_t m = maps.size(); m-- > 0;) {
            const Map& map = maps[m];
            if (projects)
                kernels.push_back(gemm_kernel("projector weight gradient", map.outputs, map.inputs, rows.merged, e));
            if (m == 0 && !encodes && !norms_input(encoder)) continue;
            kernels.push_back(gemm_kernel("projector input gradient", rows.merged, map.inputs, map.outputs, e));
            if (m > 0) kernels.push_back(memory_kernel("gelu gradient", 3.0 * rows.merged * map.inputs, e));
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
    for (const Map& map : projector_maps(model)) {
        const double between = map.outputs != model.hidden ? rows.merged * map.outputs : 0.0;
        elements += (1.0 + encoder.deep) * (between + (projects ? rows.merged * map.inputs : 0.0));
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
