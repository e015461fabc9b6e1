// The encoder of images in a config.json: "vision_config", by the classes of families.json ("encoders").
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/formats/huggingface/keys.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {

void set_encoder(const HuggingFaceKeys& keys, std::string_view type, Import& import) {
    constexpr std::string_view config = "vision_config";
    Document table = format_table("families");
    std::vector<Field> known = table.root().list("encoders");
    const auto row = std::ranges::find_if(
        known, [&](Field& each) { return std::ranges::count(texts(each.list("types")), type) > 0; });
    if (row == known.end()) return keys.refuse(config, fmt::format("weft knows no encoder of a \"{}\"", type));
    const Origin origin = keys.origin_at(config);
    const auto said = [&](std::string_view key) { return keys.size(fmt::format("{}.{}", config, key)); };
    const auto number = [&](std::initializer_list<std::string_view> names, double otherwise) {
        for (const std::string_view name : names) {
            if (const auto size = said(name); size && size->value > 0) return size->value;
        }
        return otherwise;
    };
    const auto listed = [&](std::string_view key) { return keys.words(fmt::format("{}.{}", config, key)); };
    Draft& encoder = import.object.object("encoder", origin);
    const auto set = [&](std::string_view key, double value) { encoder.set(key, value, origin); };
    constexpr double usual_patches = 4096;  // 896 x 896 pixels in patches of 14
    const double hidden = number({"embed_dim", "hidden_size"}, 0), size = number({"patch_size"}, 1);
    const double image = number({"image_size"}, 0), merged = std::pow(number({"spatial_merge_size"}, 1), 2);
    const double tokens = image > 0 ? std::pow(std::floor(image / size), 2) : usual_patches;
    if (image == 0)
        import.note(origin, "images of any size: {} patches are taken for one; --set encoder.tokens=N for N", tokens);
    set("layers", number({"depth", "num_hidden_layers"}, 0));
    set("hidden", hidden);
    set("heads", number({"num_heads", "num_attention_heads"}, 0));
    set("ffn_hidden", number({"intermediate_size"}, number({"mlp_ratio"}, 4) * hidden));
    set("tokens", tokens);
    set("patch",
        number({"in_chans", "in_channels", "num_channels"}, 3) * size * size * number({"temporal_patch_size"}, 1));
    if (merged > 1) set("merge", merged);
    const std::optional<HuggingFaceSize> pooled = keys.size("mm_tokens_per_image");
    if (pooled && pooled->value > 0) set("pool", std::floor(tokens / pooled->value));
    if (const double rows = number({"num_position_embeddings"}, 0); rows > 0) set("positions_length", rows);
    const std::vector<std::string> deep = listed("deepstack_visual_indexes"), full = listed("fullatt_block_indexes");
    if (!deep.empty()) set("deep", double(deep.size()));
    if (const double pixels = number({"window_size"}, 0); pixels > 0 && !full.empty()) {
        Draft& window = encoder.object("attention_window");
        window.set("tokens", std::pow(std::floor(pixels / size), 2), origin);
        window.set("chunked", true, origin);
        window.set("full_every", std::atof(full.front().c_str()) + 1, origin);
    }
    // Of the projector's two maps: as wide as the merged patches, or as the model; not said: one map.
    const std::string inner = row->text("inner", "");
    const double width = inner == "merged" ? hidden * merged : keys.size("hidden").value_or(HuggingFaceSize{}).value;
    if (!inner.empty()) encoder.set_json("projector", fmt::format("[{}]", width), origin);
    set_members(read_huggingface_layers(*row).sets, keys, encoder);
}

}  // namespace weft
