// A request to the server and its answer as values, whatever carries them.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

struct HttpRequest {
    std::string method, target, body;  // "GET", "/simulate?nodes=4", what is posted
    // Header fields; empty where there are none.
    std::string host{}, origin{}, fetch_site{}, fetch_mode{}, accept{};
    std::stop_token left{};  // whether the client went away, or the server ends
};

struct HttpResponse {
    unsigned status = 200;
    std::string type = "text/html; charset=utf-8";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields{};  // header fields beside those of every answer
};

// The target of a request: a path and parameters.
struct RequestTarget {
    std::string path;                                               // "/simulate"
    std::vector<std::pair<std::string, std::string>> parameters{};  // decoded, in their order
};

// As browsers encode forms (WHATWG URL, application/x-www-form-urlencoded). Nothing where an escape is cut or wrong, or
// what is encoded is no UTF-8.
std::optional<RequestTarget> parse_target(std::string_view target);

bool is_utf8(std::string_view text);

}  // namespace weft
