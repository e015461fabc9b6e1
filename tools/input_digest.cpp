#include "tools/input_digest.hpp"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "sim/io/embedded.hpp"
#include "sim/io/text_file.hpp"
#include "tools/digest.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

using NamedFiles = std::map<std::string, std::string>;  // texts by path

void collect_files(const std::set<std::string>& texts, const std::filesystem::path& folder, NamedFiles& files) {
    for (const std::string& name : texts) {
        constexpr std::size_t longest_name = 4096;
        if (name.empty() || name.size() > longest_name || name.find('\0') != std::string::npos) continue;
        std::error_code none;
        const std::filesystem::path path = folder / name;
        if (!std::filesystem::is_regular_file(path, none)) continue;
        if (std::filesystem::file_size(path, none) > longest_input) continue;  // data that is named and not read
        const auto [file, is_new] = files.emplace(path.lexically_normal().string(), "");
        if (!is_new) continue;
        file->second = read_text(path);
        std::set<std::string> inner;
        collect_texts(file->second, inner);
        collect_files(inner, path.parent_path(), files);
    }
}

}  // namespace

DigestedTexts& DigestedTexts::add(std::string_view text) {
    bytes_ += fmt::format("{}:{};", text.size(), text);
    return *this;
}

std::string DigestedTexts::digest() const { return sha256(bytes_); }

void collect_texts(std::string_view json, std::set<std::string>& texts) {
    texts.emplace(json);
    for (std::size_t begin = json.find('"'); begin != std::string_view::npos;) {
        const std::size_t end = json.find('"', begin + 1);
        if (end == std::string_view::npos) break;
        texts.emplace(json.substr(begin + 1, end - begin - 1));
        begin = json.find('"', end + 1);
    }
}

std::string digest_of_named_files(const std::set<std::string>& texts, const std::filesystem::path& folder) {
    NamedFiles files;
    collect_files(texts, folder, files);
    DigestedTexts digested;
    for (const auto& [path, text] : files) {
        digested.add(std::filesystem::path(path).lexically_proximate(folder.empty() ? "." : folder).string()).add(text);
    }
    return digested.digest();
}

const std::string& digest_of_shipped_data() {
    static const std::string digest = [] {
        DigestedTexts texts;
        for (const auto& files : {embedded::catalog(), embedded::devices(), embedded::machines(), embedded::tuners(),
                                  embedded::fabrics()}) {
            for (const embedded::File& file : files) texts.add(file.name).add(file.text);
        }
        return texts.digest();
    }();
    return digest;
}

std::string input_digest(const Document& job) {
    const std::string text = job.text();
    std::set<std::string> names;
    collect_texts(text, names);
    DigestedTexts texts;
    texts.add(version).add(text).add(digest_of_named_files(names, std::filesystem::path(job.name()).parent_path()));
    return texts.add(digest_of_shipped_data()).digest();
}

}  // namespace weft
