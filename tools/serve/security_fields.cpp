#include "tools/serve/security_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "tools/digest.hpp"

namespace weft {
namespace {

// RFC 4648, of bytes that are given by two hexadecimal digits each.
std::string base64(std::string_view hexadecimal) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < hexadecimal.size(); at += 6) {
        const std::string_view digits = hexadecimal.substr(at, 6);  // three bytes are four letters
        std::uint32_t bits = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
        bits <<= 4 * (6 - digits.size());
        for (std::size_t letter = 0; letter < 4; ++letter) {
            const bool is_there = letter <= digits.size() / 2;
            text += is_there ? letters[bits >> (18 - 6 * letter) & 63U] : '=';
        }
    }
    return text;
}

// Of every script of a page as "'sha256-...'", which alone then runs (CSP level 2). Texts of a page have no "<".
std::string scripts_of(std::string_view page) {
    constexpr std::string_view begin = "<script>", end = "</script>";
    std::string hashes;
    for (std::size_t at = page.find(begin); at != std::string_view::npos; at = page.find(begin, at)) {
        at += begin.size();
        hashes += fmt::format(" 'sha256-{}'", base64(sha256(page.substr(at, page.find(end, at) - at))));
    }
    return hashes.empty() ? " 'none'" : hashes;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> security_fields(const HttpAnswer& answer) {
    return {
        {"Content-Security-Policy",
         fmt::format("default-src 'none'; script-src{}; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; "
                     "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
                     scripts_of(answer.body))},
        {"X-Content-Type-Options", "nosniff"},
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"}};
}

}  // namespace weft
