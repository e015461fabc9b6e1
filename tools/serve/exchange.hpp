// A request to the server and its answer as values, whatever carries them.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct HttpRequest {
    std::string method, target, body;  // "GET", "/simulate?nodes=4", what is posted
    // Header fields; empty where there are none.
    std::string host{}, origin{}, fetch_site{}, fetch_mode{}, accept{};
    std::stop_token left{};  // whether the client went away, or the server ends
};

struct HttpAnswer {
    unsigned status = 200;
    std::string type = "text/html; charset=utf-8";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields{};  // header fields beside those of every answer
};

}  // namespace weft
