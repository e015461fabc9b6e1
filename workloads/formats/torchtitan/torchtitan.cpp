// A torchtitan run (TOML): one of its models under PyTorch's FSDP and what goes with it. Keys and defaults:
// pytorch/torchtitan torchtitan/config/job_config.py, as of 2025.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <vector>

#include "workloads/formats/torchtitan/torchtitan.hpp"

namespace weft {
namespace {

std::vector<TorchtitanFlavour> all_flavours() {
    std::vector<TorchtitanFlavour> flavours;
    Document document = format_table("flavours");
    Field root = document.root();
    for (const std::string& model : root.keys()) {
        if (!root.is_object(model)) continue;
        Field of_model = root.object(model);
        for (const std::string& flavour : of_model.keys()) {
            const Field object = of_model.object(flavour);
            flavours.push_back({model, flavour, object.as_json(), read_transformer(object, flavour)});
        }
    }
    document.check();
    return flavours;
}

std::string_view without_mask(std::string_view flavour) {
    for (const std::string_view ending : {"_flex", "_varlen", "_flex_attn", "_varlen_attn"}) {
        if (flavour.ends_with(ending)) return flavour.substr(0, flavour.size() - ending.size());
    }
    return flavour;
}

// What torchtitan's arguments of a model say.
auto shape_of(const Transformer& model) {
    const Experts& own = model.experts;
    const Experts experts = own.count == 0 ? Experts{}
                                           : Experts{.count = own.count,
                                                     .top_k = own.top_k,
                                                     .ffn_hidden = own.ffn_hidden,
                                                     .latent = own.latent,
                                                     .shared = own.shared,
                                                     .shared_ffn_hidden = own.shared > 0 ? own.shared_ffn_hidden : 0,
                                                     .first_dense = own.first_dense,
                                                     .every = own.every};
    return std::tuple(model.layers, model.hidden, model.heads, model.kv_heads, model.head_size, model.latent,
                      model.ffn_hidden, model.vocabulary, model.vocabulary_multiple, model.gated,
                      model.biases == Biases(true), model.norm, model.positions, model.tied_embeddings,
                      model.parallel_residual, model.query_key_norm != QueryKeyNorm::none, experts, model.kinds,
                      model.mixer, model.attention_gate, model.indexer);
}

// Beginnings of lines, of which each such file has several and no other kind of TOML more than one or two.
bool is_torchtitan_file(const SourceFile& file) {
    constexpr std::array<std::string_view, 14> words{
        "[model]",        "[training]",      "[parallelism]", "[activation_checkpoint]",
        "[lr_scheduler]", "[job]",           "[metrics]",     "[profiling]",
        "[optimizer]",    "[quantize.",      "[checkpoint]",  "dump_folder",
        "flavor",         "local_batch_size"};
    const std::string text = "\n" + file.text;
    const auto has = [&](std::string_view word) { return text.find("\n" + std::string(word)) != std::string::npos; };
    return std::ranges::count_if(words, has) >= 3;
}

using Key = TorchtitanKey;

class TorchtitanReader {
  public:
    TorchtitanReader(Import& import, Field& root, const FormatOptions& options)
        : import_(import), root_(root), options_(options) {}

    void read() {
        read_model();
        read_layout();
        read_batch();
        read_precision();
        read_recomputation();
        read_kernels();
        read_optimizer();
        pass_over_sections();
    }

  private:
    Draft& job() { return import_.object; }

    void read_model() {
        if (!options_.model.empty()) return;  // the user's word counts
        Key name(root_, "name", "model"), flavour(root_, "flavor", "model");
        const std::string model = name.text("llama3"), which = flavour.text("debugmodel");
        const TorchtitanFlavour* const known = find_torchtitan_flavour(model, which);
        if (known == nullptr) {
            import_.error(flavour.given() ? flavour.origin() : name.origin(),
                          "weft does not know the shape of {} \"{}\" (known: {}); --model M says it", model, which,
                          known_torchtitan_flavours());
            return;
        }
        layers_ = known->shape.layers;
        Draft& shape = job().object("model");
        Document object = Document::parse(which, known->object);
        const Origin origin = flavour.origin();
        Field root = object.root();
        for (const std::string& key : root.keys()) copy_member(root, key, shape, key, &origin);
        if (known->shape.experts.count > 0)  // models/moe/moe.py, MoEArgs: load_balance_coeff of 1e-3
            shape.object("experts").set("balancing_bias", true, unwritten("torchtitan's default"));
        if (options_.vocabulary > 0) shape.set("vocabulary", options_.vocabulary, unwritten("--vocabulary"));
        if (which != known->flavour)
            flavour.warn(import_,
                         "attention is simulated as causal over the whole sequence, with no mask between documents");
        Key norm(root_, "norm_type", "model");
        if (norm.given() && norm.text("").find("rmsnorm") == std::string::npos)
            norm.refuse(import_, "weft knows torchtitan's models with rmsnorm");
    }

    void read_layout() { degrees_ = read_torchtitan_degrees(import_, root_, options_, layers_); }

    // A pipeline cuts the local batch into micro-batches. What a larger global batch adds to it, torchtitan runs
    // through the pipeline one after another, here it all goes at once.
    void read_batch() {
        Key sequence(root_, "seq_len", "training"), local(root_, "local_batch_size", "training");
        Key global(root_, "global_batch_size", "training"), cut(root_, "pipeline_parallel_microbatch_size");
        import_.put("batch.sequence", sequence.count(2048), sequence.origin());
        const double own = local.count(8), all = global.number(-1), data = degrees_.replicas * degrees_.shards;
        const bool pipeline = degrees_.pipeline > 1;
        import_.put("batch.micro", pipeline ? cut.count(1) : own, pipeline ? cut.origin() : local.origin());
        if (pipeline && data > 0 && all > own * data)
            global.warn(import_, "several runs of the pipeline are simulated as one of all their micro-batches");
        if (all > 0) {
            import_.put("batch.global", all, global.origin());
        } else if (data > 0) {
            import_.put("batch.global", own * data, unwritten("local batch size x data ranks"));
        } else if (!overridden_by_user(options_, "batch.global")) {
            import_.error(unwritten("batch.global"),
                          "follows from the ranks, which the input does not say; give --machine and --nodes");
        }
    }

    // Parameters are kept in fp32 and gathered in 16 bits; gradients are always reduced in fp32.
    void read_precision() {
        Key param(root_, "mixed_precision_param", "training"), reduce(root_, "mixed_precision_reduce", "training");
        Key kept(root_, "dtype", "training"), offload(root_, "enable_cpu_offload", "training");
        const std::string compute = param.text("bfloat16");
        if (compute != "bfloat16" && compute != "float32" && compute != "float16")
            param.section().error(param.name(), "expected bfloat16 or float32, got \"" + compute + "\"");
        const bool eighth = has_float8();
        const std::string own = compute == "float32" ? "fp32" : compute == "float16" ? "fp16" : "bf16";
        import_.put("precision", eighth ? "fp8" : own, eighth ? float8_ : param.origin());
        if (reduce.text("float32") == "float32") import_.put("fsdp.reduce_precision", "fp32", reduce.origin());
        if (kept.text("float32") != "float32")
            kept.warn(import_, "states are simulated in fp32, as by default, not in " + kept.text(""));
        if (offload.flag()) offload.refuse(import_, "weft has no offloading of states to the host");
    }

    // model.converters names what is swapped in.
    bool has_float8() {
        Key converters(root_, "converters", "model");
        if (converters.given()) {
            for (Field& each : converters.section().list("converters")) {
                const std::string name = each.as_text();
                if (name.find("float8") != std::string::npos) {
                    float8_ = converters.origin();
                } else {
                    converters.refuse(import_, fmt::format("weft has no \"{}\"", name));
                }
            }
        }
        if (float8_.key.empty()) return false;
        import_.put("fp8_recipe", "tensorwise", float8_);
        import_.note(float8_, "weights are gathered in 16 bits and the output layer is in 16 bits, too");
        return true;
    }

    void read_recomputation() {
        Key mode(root_, "mode", "activation_checkpoint");
        Key option(root_, "selective_ac_option", "activation_checkpoint");
        const std::string name = mode.text("selective"), which = option.text("2");
        const bool every_layer = name == "full" || (name == "selective" && which == "1");
        import_.put("recompute", every_layer ? "full" : "none", mode.origin());
        if (every_layer || name == "none") return;
        const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
        if (name == "selective" && !which.empty() && which != "0" && std::ranges::all_of(which, digit)) {
            job().set_json("recompute", fmt::format(R"({{"method": "every", "layers": {}}})", which), option.origin());
            return;
        }
        if (name == "selective" && which == "op" && knows_operations()) {
            import_.put("recompute", "operations", option.origin());
            return;
        }
        if (name != "selective" && name != "memory_budget") {
            mode.section().error(mode.name(), "expected none, selective or full, got \"" + name + "\"");
            return;
        }
        import_.warn(mode.origin(),
                     "{} recomputes {}, which weft cannot; nothing is recomputed in the simulation, which is "
                     "faster and takes more memory; --set recompute=full is the other end",
                     name,
                     name == "memory_budget" ? "what a compiler chooses"
                     : which == "op"         ? "operations of context ranks"
                                             : "every " + which + "th layer");
    }

    // As check_recompute() has it.
    bool knows_operations() { return Key(root_, "context_parallel_degree").number(1) == 1; }

    void read_kernels() {
        Key compile(root_, "enable", "compile"), async(root_, "enable_async_tensor_parallel");
        if (compile.flag() && compiles("model")) {
            compiles("loss") ? import_.put("compile", true, compile.origin())
                             : import_.put("compile", "blocks", compile.origin());
        }
        if (async.flag() && Key(root_, "tensor_parallel_degree").number(1) > 1)
            async.warn(import_, "calls of tensor parallelism are simulated with nothing under them");
    }
    bool compiles(std::string_view component) {
        Key components(root_, "components", "compile");
        if (!components.given()) return true;
        std::vector<Field> list = components.section().list("components");
        return std::ranges::any_of(list, [&](Field& each) { return each.as_text() == component; });
    }

    void read_optimizer() {
        Key name(root_, "name", "optimizer"), early(root_, "early_step_in_backward", "optimizer");
        Key kernel(root_, "implementation", "optimizer");
        if (name.given() && name.text("") != "AdamW" && name.text("") != "Adam")
            name.warn(import_, "time and memory of the update are those of Adam");
        if (early.flag()) early.warn(import_, "the optimizer is simulated after the backward pass");
        if (kernel.given() && kernel.text("") != "fused")
            kernel.warn(import_, "the optimizer is simulated as one fused kernel");
        Key fault(root_, "enable", "fault_tolerance");
        if (fault.flag()) fault.refuse(import_, "weft has no replicas that come and go");
    }

    // Keys that nobody asked for, by section.
    void pass_over_sections() {
        for (const std::string_view name : {"parallelism", "model", "training", "activation_checkpoint", "compile",
                                            "optimizer", "experimental", "float8", "fault_tolerance"}) {
            if (root_.is_object(name)) pass_over(root_.object(name), name == "parallelism" ? name : "keys");
        }
        pass_over(root_, "sections");
    }
    void pass_over(Field field, std::string_view known) {
        ForeignKeys in{import_, std::move(field), options_};
        in.pass_over_unread(known_keys("torchtitan", known));
        in.note_rest();
    }

    Import& import_;
    Field& root_;
    const FormatOptions& options_;
    TorchtitanDegrees degrees_;
    std::uint32_t layers_ = 0;  // 0: not known
    Origin float8_;             // that switches it on
};

Import read_torchtitan_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Document document = parse_toml(files.front().path, files.front().text);
    Field root = document.root();
    Import import;
    import.put("framework", "fsdp", in_file(files.front().path));
    TorchtitanReader(import, root, options).read();
    take_mistakes(import, document);
    return import;
}

}  // namespace

std::span<const TorchtitanFlavour> torchtitan_flavours() {
    static const std::vector<TorchtitanFlavour> flavours = all_flavours();
    return flavours;
}

const TorchtitanFlavour* find_torchtitan_flavour(std::string_view model, std::string_view flavour) {
    return first_of(torchtitan_flavours(), [&](const TorchtitanFlavour& each) {
        return each.model == model && each.flavour == without_mask(flavour);
    });
}

const TorchtitanFlavour* torchtitan_flavour_of(const Transformer& shape) {
    const auto is = [&](const TorchtitanFlavour& each) { return shape_of(each.shape) == shape_of(shape); };
    return first_of(torchtitan_flavours(), is);
}

std::string known_torchtitan_flavours() {
    const auto name = [](const TorchtitanFlavour& each) { return fmt::format("{} {}", each.model, each.flavour); };
    return fmt::format("{}", fmt::join(list_of<std::string>(torchtitan_flavours(), name), ", "));
}

namespace formats {

extern const Format torchtitan{"torchtitan", "torchtitan configuration", is_torchtitan_file, read_torchtitan_files,
                               "torchtitan reads one file"};

}  // namespace formats
}  // namespace weft
