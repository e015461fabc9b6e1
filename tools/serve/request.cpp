#include "tools/serve/request.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace weft {
namespace {

std::optional<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        constexpr int sixteen = 16;
        unsigned byte = 0;
        const std::string_view digits = text.substr(i + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, sixteen);
        if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
        plain += static_cast<char>(byte);
        i += 2;
    }
    if (!is_utf8(plain)) return std::nullopt;
    return plain;
}

}  // namespace

bool is_utf8(std::string_view text) {
    try {
        nlohmann::json(text).dump();
        return true;
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

std::optional<RequestTarget> parse_target(std::string_view target) {
    const std::size_t mark = std::min(target.find('?'), target.size());
    const std::optional<std::string> path = decoded(target.substr(0, mark));
    if (!path) return std::nullopt;
    RequestTarget parsed{.path = *path};
    std::string_view rest = target.substr(mark);
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(pair.size());
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const auto key = decoded(pair.substr(0, equals));
        const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!key || !value) return std::nullopt;
        parsed.parameters.emplace_back(*key, *value);
    }
    return parsed;
}

}  // namespace weft
