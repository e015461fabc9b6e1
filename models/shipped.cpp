#include "models/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace weft {

NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name) {
    const auto file = std::ranges::find(files, name, &embedded::File::name);
    if (file != files.end()) {
        return {std::string(name), Document::parse(std::string(file->path), std::string(file->text))};
    }
    if (name.find('/') != std::string_view::npos || name.ends_with(".json")) {
        const std::filesystem::path path(name);
        return {path.stem().string(), Document::read(path)};
    }
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
    return names;
}

}  // namespace weft
