#include "workloads/formats/machine_on.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// Members of `base` that are not said anew are removed.
void replace_whole(Draft& object, const Field& base) {
    for (const std::string& key : base.keys()) {
        if (!object.has(key)) object.set_json(key, "null", {});
    }
}

}  // namespace

bool begin_machine(Import& import, const FormatOptions& options, std::string_view title, const std::string& file) {
    import.kind = FormatKind::machine;
    if (options.like.empty()) {
        import.note(FormatNote::Severity::error, {.file = file, .line = 0, .key = {}},
                    "it says neither what computes nor which library communicates: --like MACHINE says whose they are");
        return false;
    }
    const bool path = is_path(options.like);
    import.object.set("extends", path ? std::filesystem::absolute(options.like).string() : options.like,
                      {.file = "--like", .line = 0, .key = {}});
    import.object.set("title", title, {.file = file, .line = 0, .key = {}});
    return true;
}

void add_link(Import& import, std::string_view name, std::string_view bandwidth, const Origin& bandwidth_origin,
              std::string_view latency, const Origin& latency_origin) {
    Draft& link = import.object.object("links").object(name);
    link.object("bandwidth").set("nominal", bandwidth, bandwidth_origin);
    link.object("bandwidth").set("efficiency", 1, {});
    link.object("latency").set("value", latency, latency_origin);
}

void add_nics(Draft& node, std::uint32_t accelerators, std::string_view link, const Origin& origin) {
    std::vector<std::uint32_t> attached(accelerators);
    for (std::uint32_t i = 0; i < accelerators; ++i) attached[i] = i;
    Draft& nics = node.object("nics");
    nics.set_json("attached", fmt::format("[{}]", fmt::join(attached, ", ")), origin);
    nics.set("link", link, {});
    nics.set("pxn", accelerators > 1, {});  // messages keep to the place that they have on the node
}

void end_machine(Import& import, const FormatOptions& options) {
    Document base = open_machine(options.like);
    extend(base.root(), open_machine);
    base.check();
    Field root = base.root();
    replace_whole(import.object.object("links"), root.object("links"));
    Draft& node = import.object.object("node");
    replace_whole(node.object("nics"), root.object("node").object("nics"));
    replace_whole(node, root.object("node"));
    replace_whole(import.object.object("network"), root.object("network"));
    for (const char* const key : {"node_names", "source"}) {
        if (root.has(key)) import.object.set_json(key, "null", {});
    }
}

}  // namespace weft
