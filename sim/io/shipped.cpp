#include "sim/io/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace weft {

bool is_path(std::string_view name) { return name.find('/') != std::string_view::npos || name.ends_with(".json"); }

std::optional<NamedDocument> find_shipped(std::span<const embedded::File> files, std::string_view name) {
    const auto file = std::ranges::find(files, name, &embedded::File::name);
    if (file != files.end()) {
        return NamedDocument{std::string(name), Document::parse(std::string(file->path), std::string(file->text))};
    }
    if (!is_path(name)) return std::nullopt;
    const std::filesystem::path path(name);
    return NamedDocument{path.stem().string(), Document::read(path)};
}

NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name) {
    if (std::optional<NamedDocument> found = find_shipped(files, name)) return *std::move(found);
    const std::vector<std::string> known = shipped_names(files);
    const std::string near = suggestion(name, known);
    const std::string choices =
        near.empty() ? fmt::format(", expected a path or one of {}", fmt::join(known, ", ")) : near;
    Diagnostic unknown;
    unknown.message = fmt::format("unknown {} \"{}\"{}", kind, name, choices);
    throw ConfigError({std::move(unknown)});
}

std::vector<std::string> shipped_names(std::span<const embedded::File> files) {
    std::vector<std::string> names;
    for (const embedded::File& file : files) names.emplace_back(file.name);
    std::ranges::sort(names);  // files are sorted with their ending: a-b.json before a.json
    return names;
}

}  // namespace weft
