#include "models/device/measurement.hpp"

#include "models/transformer/kernel_parts.hpp"
#include "sim/base/check.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

using Kernels = std::vector<Kernel>;

void append(Kernels& kernels, const Kernels& more) { kernels.insert(kernels.end(), more.begin(), more.end()); }

// Dropout forward writes a mask of one byte per element, fused into the residual addition; on the attention
// probabilities it is a pass of its own (2 reads and writes and the mask). Backward it always is (the same bytes).
Kernels dropout_forward(const Measurement& m, const ShardSizes& size) {
    Kernels kernels{memory_kernel("attention dropout mask", size.own_state, 1.0),
                    memory_kernel("mlp dropout mask", size.own_state, 1.0)};
    if (m.shard.attention == AttentionCore::unfused) {
        kernels.push_back(memory_kernel("score dropout", size.scores, 2.0 * size.element_bytes + 1.0));
    }
    return kernels;
}

Kernels dropout_backward(const Measurement& m, const ShardSizes& size) {
    const double pass = 2.0 * size.element_bytes + 1.0;
    Kernels kernels{memory_kernel("attention dropout gradient", size.own_state, pass),
                    memory_kernel("mlp dropout gradient", size.own_state, pass)};
    if (m.shard.attention == AttentionCore::unfused) {
        kernels.push_back(memory_kernel("score dropout gradient", size.scores, pass));
    }
    return kernels;
}

Kernels forward_kernels(const Measurement& m) {
    const LayerKernels layer = layer_forward(m.model, m.shard);
    Kernels kernels = layer.attention;
    append(kernels, layer.mlp);
    if (m.dropout) append(kernels, dropout_forward(m, ShardSizes(m.model, m.shard)));
    return kernels;
}

Kernels backward_kernels(const Measurement& m) {
    const LayerKernels layer = layer_backward(m.model, m.shard);
    Kernels kernels = layer.mlp;
    append(kernels, layer.attention);
    if (m.dropout) append(kernels, dropout_backward(m, ShardSizes(m.model, m.shard)));
    return kernels;
}

Kernels core_kernels(const Measurement& m) {
    Kernels kernels = layer_forward(m.model, m.shard).attention_core;
    if (m.dropout && m.shard.attention == AttentionCore::unfused) {
        kernels.push_back(dropout_forward(m, ShardSizes(m.model, m.shard)).back());
    }
    return kernels;
}

Kernels layer_kernels(const Measurement& m) {
    switch (m.timed) {
        case Timed::forward:
            return forward_kernels(m);
        case Timed::backward:
            return backward_kernels(m);
        case Timed::attention_core:
            return core_kernels(m);
        case Timed::forward_backward:
        case Timed::forward_twice_backward:
            break;
    }
    Kernels kernels = forward_kernels(m);
    if (m.timed == Timed::forward_twice_backward) append(kernels, forward_kernels(m));
    append(kernels, backward_kernels(m));
    return kernels;
}

Timed read_timed(Field& field) {
    const std::string text =
        field.choice("timed", {"forward", "backward", "attention_core", "forward_backward", "forward_twice_backward"});
    if (text == "forward") return Timed::forward;
    if (text == "backward") return Timed::backward;
    if (text == "attention_core") return Timed::attention_core;
    return text == "forward_backward" ? Timed::forward_backward : Timed::forward_twice_backward;
}

Shard read_shard(Field& field) {
    Shard shard;
    shard.micro_batch = field.count("micro_batch");
    shard.sequence = field.count("sequence");
    shard.tensor = field.count("tensor", 1);
    shard.attention =
        field.choice("attention", {"unfused", "flash"}) == "flash" ? AttentionCore::flash : AttentionCore::unfused;
    shard.sequence_parallel = field.flag("sequence_parallel", false) ? SequenceParallel::on : SequenceParallel::off;
    return shard;
}

Transformer read_model(Field& field) {
    if (!field.is_text("model")) return read_transformer(field.object("model"), "inline");
    return load_transformer(field.text("model"));
}

Measurement read_measurement(Field& field, Use use) {
    Measurement m;
    m.use = use;
    m.name = field.text("name");
    m.source = field.text("source");
    m.model = read_model(field);
    m.shard = read_shard(field);
    m.precision = field.choice("precision", {"fp16", "bf16"}) == "bf16" ? Precision::bf16 : Precision::fp16;
    m.timed = read_timed(field);
    m.layers = field.count("layers", 1);
    m.head = field.flag("head", false);
    m.dropout = field.flag("dropout", false);
    m.measured = field.duration("measured");
    m.other = field.duration("other", Seconds{});
    m.predicted = field.duration("predicted");
    field.done();
    return m;
}

}  // namespace

std::vector<Measurement> read_measurements(Field& device) {
    std::vector<Measurement> measurements;
    for (const Use use : {Use::fit, Use::check}) {
        const std::string_view key = use == Use::fit ? "fit" : "check";
        if (!device.has(key)) continue;
        for (Field& row : device.list(key)) measurements.push_back(read_measurement(row, use));
    }
    return measurements;
}

std::vector<Measurement> device_measurements(std::string_view device) {
    NamedDocument file = open_shipped(embedded::devices(), "device", device);
    Field root = file.document.root();
    std::vector<Measurement> measurements = read_measurements(root);
    file.document.check();
    return measurements;
}

Seconds predict(const Device& device, const Measurement& m) {
    Seconds time = kernel_time(device, m.precision, layer_kernels(m)) * m.layers;
    if (m.head) {
        time += kernel_time(device, m.precision, head_forward(m.model, m.shard)) +
                kernel_time(device, m.precision, head_backward(m.model, m.shard));
    }
    return time;
}

}  // namespace weft
