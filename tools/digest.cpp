#include "tools/digest.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <system_error>

#include "sim/base/texts.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/files.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

using State = std::array<std::uint32_t, 8>;
constexpr std::size_t block_bytes = 64;

constexpr State initial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::array<std::uint32_t, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(std::string_view block, std::size_t i) {
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) word = word << 8 | static_cast<unsigned char>(block[4 * i + byte]);
    return word;
}

// The names are those of the standard, section 6.2.2.
void add_block(State& state, std::string_view block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(block, t);
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[t] + w[t];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const State added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

// What follows the last whole block: a one bit, zeros, and the length of the text in bits.
std::string last_blocks(std::string_view rest, std::uint64_t text_bytes) {
    std::string blocks(rest);
    blocks += '\x80';
    blocks.resize((blocks.size() + 8 + block_bytes - 1) / block_bytes * block_bytes - 8, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) blocks += static_cast<char>(text_bytes * 8 >> shift & 0xff);
    return blocks;
}

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

std::string sha256(std::string_view text) {
    State state = initial;
    const std::size_t whole = text.size() / block_bytes * block_bytes;
    const std::string last = last_blocks(text.substr(whole), text.size());
    for (std::size_t i = 0; i < whole; i += block_bytes) add_block(state, text.substr(i, block_bytes));
    for (std::size_t i = 0; i < last.size(); i += block_bytes) {
        add_block(state, std::string_view(last).substr(i, block_bytes));
    }
    return sum_of<std::string>(state, [](std::uint32_t word) { return fmt::format("{:08x}", word); });
}

DigestedTexts& DigestedTexts::add(std::string_view text) {
    bytes_ += fmt::format("{}:{};", text.size(), text);
    return *this;
}

std::string DigestedTexts::digest() const { return sha256(bytes_); }

void collect_texts(std::string_view json, std::set<std::string>& texts) {
    texts.emplace(json);
    const std::vector<std::string_view> parts = parts_of(json, '"');
    for (std::size_t i = 1; i + 1 < parts.size(); i += 2) texts.emplace(parts[i]);
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
