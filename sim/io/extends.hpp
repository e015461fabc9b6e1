// Objects that say what differs from another: { "extends": "dgx-h100", "nodes": 64 }.
//
// "extends" is a name, or a path from the folder of the file that says it; what it names may extend something itself.
// Objects merge member by member, lists and all else replace, null removes. An object of another "kind" replaces the
// whole. What is no object and stands for one with a "nominal" or a "value" is that: "bandwidth": "800 Gbit/s" keeps
// the efficiency. A key with dots or brackets that the other lacks is a path within it, as of --set:
// "links.nvlink.latency": "200 ns". Mistakes are told where the value that is wrong was written.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/io/document.hpp"
#include "sim/io/shipped.hpp"

namespace weft {

// The document of a name or path. Throws ConfigError.
using FindBase = std::function<Document(const std::string& name)>;

// Where `object` extends something, it becomes the whole. Gives the name of what it extends, without folder and ending;
// nothing where it extends nothing, or that cannot be had: the mistake is recorded at the "extends" then.
std::optional<std::string> extend(Field object, const FindBase& find);

// A shipped file or a path, whole (sim/io/shipped). What it extends is one of them, too.
NamedDocument open_extended(std::span<const embedded::File> files, std::string_view kind, std::string_view name);

// What is called `base` and was changed.
std::string changed_name(std::string_view base);

}  // namespace weft
