#include "tools/serve/local_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace weft {
namespace {

bool is_this_server(std::string_view host, std::uint16_t port) {
    constexpr std::array<std::string_view, 3> names{"localhost", "127.0.0.1", "[::1]"};
    constexpr std::uint16_t usual_port = 80;
    std::string small(host);
    std::ranges::transform(small, small.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return std::ranges::any_of(names, [&](std::string_view name) {
        return small == fmt::format("{}:{}", name, port) || (port == usual_port && small == name);
    });
}

}  // namespace

std::string foreign(const HttpRequest& request, std::uint16_t port) {
    if (!is_this_server(request.host, port)) {
        return fmt::format("this server is localhost:{}, not \"{}\"", port, request.host);
    }
    constexpr std::string_view scheme = "http://";
    const bool own_origin = request.origin.starts_with(scheme) &&
                            is_this_server(std::string_view(request.origin).substr(scheme.size()), port);
    if (!request.origin.empty() && !own_origin) {
        return fmt::format("requests of pages from \"{}\" are not answered", request.origin);
    }
    const bool elsewhere = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
    if (elsewhere && request.fetch_mode != "navigate") return "requests of pages from elsewhere are not answered";
    return {};
}

}  // namespace weft
