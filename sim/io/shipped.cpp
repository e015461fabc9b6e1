#include "sim/io/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <system_error>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/texts.hpp"

namespace weft {
namespace {

bool is_file(const std::filesystem::path& path) {
    std::error_code none;
    return std::filesystem::is_regular_file(path, none);
}

// The words of a name in small letters, without its owner.
std::vector<std::string> words_of(std::string_view name) {
    const std::string small = lower_case(name.substr(name.find('/') + 1));  // npos + 1 is 0
    std::vector<std::string> words;
    boost::split(words, small, boost::is_any_of("-_ "));
    std::erase(words, "");
    return words;
}

// One spelling of all that mean the same: "Llama-2-7b-hf" and "llama2-7b" are "llama2-7b". Between digits a separator
// stays: "llama-3-18b" is not "llama-31-8b". Endings that may go with another shape ("instruct", "v0.3") stay as well.
std::string plain_spelling(std::string_view name) {
    std::vector<std::string> words = words_of(name);
    while (words.size() > 1 && (words.back() == "hf" || words.back() == "base")) words.pop_back();
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty() && !word.empty() && is_digit(text.back()) && is_digit(word.front())) text += '-';
        text += word;
    }
    return text;
}

// What else a file says that it is called.
std::vector<std::string> other_names(const embedded::File& file) {
    if (!contains(file.text, "\"also\"")) return {};
    Document document = Document::parse(std::string(file.path), std::string(file.text));
    return list_of<std::string>(document.root().list_if_given("also"), &Field::as_text);
}

[[noreturn]] void refuse_unknown(std::span<const embedded::File> files, std::string_view kind, std::string_view name) {
    const std::vector<std::string> near = nearest_shipped(files, name);
    Diagnostic unknown;
    unknown.message =
        fmt::format("unknown {} \"{}\"{}", kind, name,
                    near.empty() ? fmt::format(", expected a path or one of {}", fmt::join(shipped_names(files), ", "))
                                 : did_you_mean(near));
    throw ConfigError({std::move(unknown)});
}

}  // namespace

std::string_view embedded::text_of(std::span<const File> files, std::string_view name) {
    const auto file = std::ranges::find(files, name, &File::name);
    WEFT_CHECK(file != files.end(), "no file is called " + std::string(name));
    return file->text;
}

bool may_have_owner(std::string_view name) {
    const bool is_place = name.empty() || name.front() == '.' || name.front() == '/' || name.front() == '~';
    return !is_place && std::ranges::count(name, '/') == 1 && !name.ends_with(".json");
}

bool is_path(std::string_view name) { return name.find('/') != std::string_view::npos || name.ends_with(".json"); }

const embedded::File* find_called(std::span<const embedded::File> files, std::string_view said) {
    using embedded::File;
    if (const File* const file = first_of(files, [&](const File& each) { return each.name == said; })) return file;
    if (is_path(said) && !may_have_owner(said)) return nullptr;
    const std::string spelling = plain_spelling(said);
    const auto is_it = [&](std::string_view name) { return plain_spelling(name) == spelling; };
    if (const File* const file = first_of(files, [&](const File& each) { return is_it(each.name); })) return file;
    return first_of(files, [&](const File& each) { return std::ranges::any_of(other_names(each), is_it); });
}

std::string meant(std::span<const embedded::File> files, std::string_view kind, std::string_view said,
                  const std::filesystem::path& folder) {
    if (std::ranges::find(files, said, &embedded::File::name) != files.end()) return std::string(said);
    const std::filesystem::path path = folder / said;
    if (is_file(path)) return is_path(path.string()) ? path.string() : "./" + path.string();
    if (const embedded::File* const file = find_called(files, said)) return std::string(file->name);
    if (!is_path(said)) return std::string(said);
    if (may_have_owner(said)) refuse_unknown(files, kind, said);
    return path.string();
}

std::optional<NamedDocument> find_shipped(std::span<const embedded::File> files, std::string_view name) {
    const std::filesystem::path path(name);
    const bool is_shipped = std::ranges::find(files, name, &embedded::File::name) != files.end();
    const embedded::File* const file = !is_shipped && is_file(path) ? nullptr : find_called(files, name);
    if (file != nullptr) {
        return NamedDocument{std::string(file->name),
                             Document::parse(std::string(file->path), std::string(file->text))};
    }
    if (!is_file(path) && (!is_path(name) || may_have_owner(name))) return std::nullopt;
    return NamedDocument{path.stem().string(), Document::read(path)};
}

NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name) {
    if (std::optional<NamedDocument> found = find_shipped(files, name)) return *std::move(found);
    refuse_unknown(files, kind, name);
}

std::vector<std::string> nearest_shipped(std::span<const embedded::File> files, std::string_view said) {
    std::vector<std::string> spellings, owners;  // of each spelling
    const auto add = [&](std::string_view name, std::string_view owner) {
        spellings.push_back(plain_spelling(name));
        owners.emplace_back(owner);
    };
    for (const embedded::File& file : files) {
        add(file.name, file.name);
        for (const std::string& other : other_names(file)) add(other, file.name);
    }
    std::vector<std::string> names;
    for (const std::string& spelling : nearest(plain_spelling(said), spellings)) {
        const auto at = std::ranges::find(spellings, spelling) - spellings.begin();
        const std::string& owner = owners[static_cast<std::size_t>(at)];
        if (std::ranges::find(names, owner) == names.end()) names.push_back(owner);
    }
    return names;
}

std::vector<std::string> shipped_names(std::span<const embedded::File> files) {
    auto names = list_of<std::string>(files, &embedded::File::name);
    std::ranges::sort(names);  // files are sorted with their ending: a-b.json before a.json
    return names;
}

}  // namespace weft
