// From a device file to a Device. A constant is an object of its value and, in shipped files, its source.
#include <algorithm>
#include <array>

#include "models/device/device.hpp"
#include "sim/io/document.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

// Above 0 and up to `most`.
double share_of(Field& field, std::string_view key, double value, double most = 1.0) {
    if (!(value > 0.0 && value <= most)) field.error(key, "expected a share above 0 and up to {}, got {}", most, value);
    return value;
}

double share_up_to(double most, Field& field) {
    const double value = field.number("value");
    return field.is_number("value") ? share_of(field, "value", value, most) : value;
}

double share(Field& field) { return share_up_to(1.0, field); }
// What attention_head_half leaves of it is a share.
double of_wide_heads(Field& field) { return share_up_to(2.0, field); }
// A system with twice the power of that behind the peaks has another chip.
double clock(Field& field) { return share_up_to(2.0, field); }

std::vector<Tile> read_tiles(Field& field) {
    std::vector<Tile> tiles;
    for (Field& entry : field.list("value")) {
        Tile tile{.m = entry.count("m") * 1.0, .n = entry.count("n") * 1.0, .share = entry.number("share", 1.0)};
        share_of(entry, "share", tile.share);
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
        share_of(entry, "share", alignment.share);
        if (!alignments.empty() && alignment.multiple <= alignments.back().multiple) {
            entry.error("multiple", "expected more than {}, the one before", alignments.back().multiple);
        }
        alignment.of = entry.enumerator("of", Alignment::Of::all);
        entry.done();
        alignments.push_back(alignment);
    }
    return alignments;
}

double not_negative(Field& field) {
    const double value = field.number("value");
    if (!(value >= 0.0)) field.error("value", "expected 0 or more, got {}", value);
    return value;
}

double factor(Field& field) {
    const double value = field.number("value");
    field.error_if(field.is_number("value") && !(value >= 1.0), "value", "expected a factor of 1 or more, got {}",
                   value);
    return value;
}

// Reads constants into a device that may begin as another one of the same die: what is not given stays.
class Constants {
  public:
    Constants(Field field, const Device* die) : field_(std::move(field)), die_(die) {}

    template <class Value, class Reader>
    void read(std::string_view key, Value& value, Reader reader) {
        if (die_ == nullptr || field_.has(key)) value = sourced(field_, key, reader);
    }
    template <class Value, class Reader>
    void read_if_given(std::string_view key, Value& value, Reader reader) {
        if (field_.has(key)) value = sourced(field_, key, reader);
    }
    bool has(std::string_view key) { return field_.has(key); }
    void done() { field_.done(); }

  private:
    Field field_;
    const Device* die_;
};

FlopsPerSecond rate(Field& field) { return field.flop_rate("value"); }
Seconds duration(Field& field) { return field.duration("value"); }

constexpr Bytes most_memory{9007199254740992.0};

void read_specification(Constants constants, Device& device) {
    constants.read("peak_half", device.peak_half, rate);
    constants.read("peak_single", device.peak_single, rate);
    constants.read_if_given("peak_eighth", device.peak_eighth, rate);
    constants.read_if_given("peak_quarter", device.peak_quarter, rate);
    constants.read("memory", device.memory, [](Field& f) {
        const Bytes said = f.bytes("value");
        if (said > most_memory) f.error("value", "expected at most 8192 TiB, which a double still counts exactly");
        return std::min(said, most_memory);
    });
    constants.read("memory_bandwidth", device.memory_bandwidth, [](Field& f) { return f.bandwidth("value"); });
    constants.read("compute_units", device.gemm.compute_units, [](Field& f) { return f.count("value"); });
    constants.done();
}

void read_attention(Constants& constants, Device& device) {
    AttentionCurve &own = device.attention, &eighth = device.attention_eighth;
    constants.read("attention_forward", own.forward, of_wide_heads);
    constants.read("attention_backward", own.backward, of_wide_heads);
    constants.read("attention_keys_half", own.keys_half, not_negative);
    own.keys_half_backward = own.keys_half;
    constants.read_if_given("attention_keys_half_backward", own.keys_half_backward, not_negative);
    constants.read("attention_head_half", own.head_half, not_negative);
    AttentionCurve &cudnn = device.attention_cudnn, &before = device.attention_cudnn_9_13;
    if (cudnn.forward == 0) cudnn = before = own;  // no faster kernels are known
    if (constants.has("attention_cudnn_forward")) {
        cudnn = own;
        constants.read("attention_cudnn_forward", cudnn.forward, of_wide_heads);
        constants.read("attention_cudnn_backward", cudnn.backward, of_wide_heads);
        constants.read_if_given("attention_cudnn_keys_half", cudnn.keys_half, not_negative);
        constants.read_if_given("attention_cudnn_keys_half_backward", cudnn.keys_half_backward, not_negative);
        before = cudnn;
        constants.read_if_given("attention_cudnn_9_13_keys_half", before.keys_half, not_negative);
        constants.read_if_given("attention_cudnn_9_13_keys_half_backward", before.keys_half_backward, not_negative);
    }
    if (constants.has("attention_eighth_forward")) {
        constants.read("attention_eighth_forward", eighth.forward, of_wide_heads);
        constants.read("attention_eighth_backward", eighth.backward, of_wide_heads);
        constants.read("attention_eighth_keys_half", eighth.keys_half, not_negative);
        constants.read("attention_eighth_keys_half_backward", eighth.keys_half_backward, not_negative);
        eighth.head_half = own.head_half;
    }
    if (device.attention_triton.forward == 0) device.attention_triton = own;
    if (constants.has("attention_triton")) {
        double plateau = 0;
        constants.read("attention_triton", plateau, share);
        device.attention_triton = {.forward = plateau, .backward = plateau};
    }
}

void read_passes(Constants& constants, Device& device) {
    for (std::size_t i = 1; i < pass_classes; ++i) {
        constants.read_if_given(pass_key(static_cast<PassClass>(i)), device.pass_efficiency[i], share);
    }
}

void read_fitted(Constants constants, Device& device) {
    constants.read("memory_efficiency", device.memory_efficiency, share);
    read_passes(constants, device);
    read_attention(constants, device);
    constants.read("kernel_launch", device.kernel_launch, duration);
    constants.read("host_launch", device.host_launch, duration);
    constants.read("interference", device.interference, factor);
    constants.read_if_given("sustained_clock", device.sustained_clock, clock);
    constants.read_if_given("sustained_quarter", device.sustained_quarter, share);
    constants.read_if_given("slow_share", device.slow_share, share);
    constants.read_if_given("slow_factor", device.slow_factor, factor);
    constants.read("gemm_plateau", device.gemm.plateau, share);
    constants.read("gemm_k_half", device.gemm.k_half, not_negative);
    constants.read("gemm_tiles", device.gemm.tiles, read_tiles);
    constants.read("gemm_alignment", device.gemm.alignments, read_alignments);
    if (device.peak_eighth.value > 0.0) {
        const GemmCurve eighth = device.gemm_eighth;
        device.gemm_eighth = device.gemm;
        device.gemm_eighth.plateau = eighth.plateau;
        device.gemm_eighth.k_half = eighth.k_half;
        constants.read("gemm_eighth_plateau", device.gemm_eighth.plateau, share);
        constants.read("gemm_eighth_k_half", device.gemm_eighth.k_half, not_negative);
    }
    constants.done();
}

DevicePower read_power(Field field) {
    const auto watts = [](Field& figure) { return figure.power("value"); };
    const DevicePower power{.compute = sourced(field, "compute", watts),
                            .communication = sourced(field, "communication", watts),
                            .idle = sourced(field, "idle", watts)};
    field.done();
    return power;
}

}  // namespace

std::string_view pass_key(PassClass pass) {
    constexpr std::array<std::string_view, pass_classes> keys{
        "memory_efficiency", "pass_element_wise", "pass_strided",  "pass_broadcast", "pass_norm",
        "pass_reduction",    "pass_softmax",      "pass_gathered", "pass_optimizer"};
    return keys[static_cast<std::size_t>(pass)];
}

Device read_device(Field field, std::string name) {
    Device device;
    device.attention_cudnn.forward = device.attention_triton.forward = 0;  // not known
    const Device* known = nullptr;
    if (field.has("die")) {
        const std::vector<std::string> names = device_names();
        if (const std::string die = field.choice("die", names); std::ranges::find(names, die) != names.end()) {
            device = load_device(die);
            known = &device;
        }
    }
    if (known == nullptr) device.die = name;
    device.name = std::move(name);
    device.title = field.text("title", "");
    read_specification({field.object("specification"), known}, device);
    if (known == nullptr || field.has("fitted")) read_fitted({field.object("fitted"), known}, device);
    if (field.has("power")) device.power = read_power(field.object("power"));
    field.done();
    return device;
}

Device load_device(std::string_view name) {
    NamedDocument file = open_extended(embedded::devices(), "device", name);
    Device device = read_device(file.document.root(), file.name);
    file.document.check();
    return device;
}

std::vector<std::string> device_names() { return shipped_names(embedded::devices()); }

}  // namespace weft
