#include "workloads/formats/neox/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/draft.hpp"
#include "sim/io/syntaxes.hpp"

namespace weft {
namespace {

std::string with_underscores(std::string_view key) {
    std::string name(key);
    std::ranges::replace(name, '-', '_');
    return name;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The word before a colon, without quotes; flags of other tools ("--num-layers:") are none.
std::string_view key_before(std::string_view text, std::size_t colon) {
    std::size_t end = colon;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\'')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    const std::string_view word = text.substr(begin, end - begin);
    return word.starts_with('-') ? std::string_view() : word;
}

bool is_in_braces(std::string_view text) {
    for (std::size_t at = text.find_first_not_of(" \t\r\n"); at != std::string_view::npos;
         at = text.find_first_not_of(" \t\r\n", at)) {
        if (text[at] != '#') return text[at] == '{';
        at = std::min(text.find('\n', at), text.size());
    }
    return false;
}

}  // namespace

bool is_neox(std::string_view text) {
    std::set<std::string> shared;
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        std::string key = with_underscores(key_before(text, colon));
        if (known_keys("neox", "own").contains(key)) return true;
        if (known_keys("neox", "shared").contains(key)) shared.insert(std::move(key));
    }
    return shared.size() >= 2 && is_in_braces(text);
}

NeoxFiles merged_neox(std::span<const SourceFile> files) {
    constexpr std::size_t most_keys = 4096;  // an order of magnitude beyond all that GPT-NeoX has
    Draft merged;
    std::map<std::string, Origin, std::less<>> first;
    std::vector<RepeatedKey> repeated;
    for (const SourceFile& file : files) {
        Document document = parse_yaml(file.path, file.text);
        Field root = document.root();
        const std::vector<std::string> keys = root.keys();
        document.check();
        if (first.size() + keys.size() > most_keys)
            refuse_file(file.path, fmt::format("has more than {} keys", most_keys));
        for (const std::string& key : keys) {
            const std::string name = with_underscores(key);
            const Origin origin = root.origin(key);
            const auto [at, is_first] = first.try_emplace(name, origin);
            if (is_first) {
                copy_member(root, key, merged, name);
            } else {
                repeated.push_back({at->second, origin});
            }
        }
    }
    return {merged.document(files.front().path), std::move(repeated)};
}

}  // namespace weft
