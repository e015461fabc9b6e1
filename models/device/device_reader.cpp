// From a device file to a Device. A constant is an object of its value and its source.
#include <fmt/format.h>

#include "models/device/device.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

// Reads the constant `key` with `reader(field)`, which reads "value"; a source is compulsory.
template <class Reader>
auto constant(Field& parent, std::string_view key, Reader reader) {
    Field field = parent.object(key);
    auto value = reader(field);
    if (field.text("source").empty() && field.has("source")) field.error("source", "expected where the value is from");
    field.done();
    return value;
}

double share(Field& parent, std::string_view key) {
    return constant(parent, key, [](Field& field) {
        const double value = field.number("value");
        if (field.is_number("value") && !(value > 0.0 && value <= 1.0)) {
            field.error("value", fmt::format("expected a share above 0 and up to 1, got {}", value));
        }
        return value;
    });
}

std::vector<Tile> read_tiles(Field& field) {
    std::vector<Tile> tiles;
    for (Field& entry : field.list("value")) {
        Tile tile{.m = entry.count("m") * 1.0, .n = entry.count("n") * 1.0, .share = entry.number("share", 1.0)};
        if (!(tile.share > 0.0 && tile.share <= 1.0)) {
            entry.error("share", fmt::format("expected a share above 0 and up to 1, got {}", tile.share));
        }
        entry.done();
        tiles.push_back(tile);
    }
    if (tiles.empty() && field.has("value")) field.error("value", "expected at least one tile");
    return tiles;
}

std::vector<Alignment> read_alignments(Field& field) {
    std::vector<Alignment> alignments;
    for (Field& entry : field.list("value")) {
        Alignment alignment{.multiple = entry.count("multiple"), .share = entry.number("share")};
        if (!(alignment.share > 0.0 && alignment.share <= 1.0)) {
            entry.error("share", fmt::format("expected a share above 0 and up to 1, got {}", alignment.share));
        }
        if (!alignments.empty() && alignment.multiple <= alignments.back().multiple) {
            entry.error("multiple", fmt::format("expected more than {}, the one before", alignments.back().multiple));
        }
        entry.done();
        alignments.push_back(alignment);
    }
    return alignments;
}

double not_negative(Field& field) {
    const double value = field.number("value");
    if (!(value >= 0.0)) field.error("value", fmt::format("expected 0 or more, got {}", value));
    return value;
}

double read_interference(Field& field) {
    const double value = field.number("value");
    if (field.is_number("value") && !(value >= 1.0)) {
        field.error("value", fmt::format("expected a factor of 1 or more, got {}", value));
    }
    return value;
}

void read_specification(Field field, Device& device) {
    const auto rate = [](Field& f) { return f.flop_rate("value"); };
    device.peak_half = constant(field, "peak_half", rate);
    device.peak_single = constant(field, "peak_single", rate);
    if (field.has("peak_eighth")) device.peak_eighth = constant(field, "peak_eighth", rate);
    device.memory = constant(field, "memory", [](Field& f) { return f.bytes("value"); });
    device.memory_bandwidth = constant(field, "memory_bandwidth", [](Field& f) { return f.bandwidth("value"); });
    device.gemm.compute_units = constant(field, "compute_units", [](Field& f) { return f.count("value"); });
    field.done();
}

void read_fitted(Field field, Device& device) {
    device.memory_efficiency = share(field, "memory_efficiency");
    device.attention.forward = share(field, "attention_forward");
    device.attention.backward = share(field, "attention_backward");
    device.attention.keys_half = constant(field, "attention_keys_half", not_negative);
    device.attention.head_half = constant(field, "attention_head_half", not_negative);
    device.attention_cudnn = device.attention;  // where no faster kernels are known
    if (field.has("attention_cudnn_forward")) {
        device.attention_cudnn.forward = share(field, "attention_cudnn_forward");
        device.attention_cudnn.backward = share(field, "attention_cudnn_backward");
    }
    device.attention_triton = device.attention;
    if (field.has("attention_triton")) {
        const double plateau = share(field, "attention_triton");
        device.attention_triton = {.forward = plateau, .backward = plateau};
    }
    device.kernel_launch = constant(field, "kernel_launch", [](Field& f) { return f.duration("value"); });
    device.host_launch = constant(field, "host_launch", [](Field& f) { return f.duration("value"); });
    device.interference = constant(field, "interference", read_interference);
    device.gemm.plateau = share(field, "gemm_plateau");
    device.gemm.k_half = constant(field, "gemm_k_half", not_negative);
    device.gemm.tiles = constant(field, "gemm_tiles", read_tiles);
    device.gemm.alignments = constant(field, "gemm_alignment", read_alignments);
    if (device.peak_eighth.value > 0.0) {
        device.gemm_eighth = device.gemm;
        device.gemm_eighth.plateau = share(field, "gemm_eighth_plateau");
        device.gemm_eighth.k_half = constant(field, "gemm_eighth_k_half", not_negative);
    }
    field.done();
}

}  // namespace

Device read_device(Field field, std::string name) {
    Device device;
    device.name = std::move(name);
    device.title = field.text("title", "");
    read_specification(field.object("specification"), device);
    read_fitted(field.object("fitted"), device);
    field.done();
    return device;
}

Device load_device(std::string_view name) {
    NamedDocument file = open_shipped(embedded::devices(), "device", name);
    Device device = read_device(file.document.root(), file.name);
    file.document.check();
    return device;
}

std::vector<std::string> device_names() { return shipped_names(embedded::devices()); }

}  // namespace weft
