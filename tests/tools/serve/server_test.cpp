// The server over real sockets, in one process: what a client sends that no browser would.
#include "tools/serve/server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>

namespace weft {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// What comes back until the server closes.
std::string talk(std::uint16_t port, const std::string& sent) {
    const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    for (std::size_t at = 0; at < sent.size();) {
        const ssize_t n = ::send(connection, sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
    }
    std::string got;
    std::array<char, 4096> piece{};
    for (ssize_t n = 0; (n = ::recv(connection, piece.data(), piece.size(), 0)) > 0;) {
        got.append(piece.data(), static_cast<std::size_t>(n));
    }
    ::close(connection);
    return got;
}

class Running {
  public:
    Running() : server_({.port = 0, .choices = {}}, 0), thread_([this] { server_.run(); }) {}
    ~Running() {
        server_.stop();
        thread_.join();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    std::uint16_t port() const { return server_.port(); }
    std::string host() const { return "Host: localhost:" + std::to_string(port()) + "\r\n"; }
    std::string talk(const std::string& sent) const { return weft::talk(port(), sent); }

  private:
    Server server_;
    std::thread thread_;
};

std::string last_line(const std::string& text) { return text.substr(text.rfind("HTTP/1.1")); }

TEST(server, answers_one_request_after_another_on_one_connection) {
    const Running server;
    const std::string ask = "GET /nowhere HTTP/1.1\r\n" + server.host() + "\r\n";
    const std::string last = "GET /job.json?nodes=3 HTTP/1.1\r\nConnection: close\r\n" + server.host() + "\r\n";
    const std::string got = server.talk(ask + ask + last);
    EXPECT_THAT(got, StartsWith("HTTP/1.1 404"));
    EXPECT_THAT(last_line(got), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(last_line(got), HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(last_line(got), testing::EndsWith("\r\n\r\n{\n  \"nodes\": 3\n}\n"));
}

TEST(server, head_has_no_body) {
    const Running server;
    const std::string got =
        server.talk("HEAD /job.json?nodes=3 HTTP/1.1\r\nConnection: close\r\n" + server.host() + "\r\n");
    EXPECT_THAT(got, HasSubstr("Content-Length: 17\r\n"));
    EXPECT_THAT(got, testing::EndsWith("\r\n\r\n"));
}

TEST(server, tells_why_something_is_no_request) {
    const Running server;
    EXPECT_THAT(server.talk("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(server.talk("GET / HTTP/1.1\r\nbad header\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(server.talk("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(server.talk("GET / HTTP/1.1\r\nConnection: close\r\n" + server.host() + server.host() + "\r\n"),
                StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(server.talk("GET /?" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 431"));
    EXPECT_THAT(server.talk("POST /plan HTTP/1.1\r\n" + server.host() + "Content-Length: 2000000\r\n\r\n" +
                            std::string(2'000'000, ' ')),
                StartsWith("HTTP/1.1 413"));
    EXPECT_THAT(server.talk("POST /plan HTTP/1.1\r\n" + server.host() + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" +
                            std::string(0x200000, ' ') + "\r\n0\r\n\r\n"),
                StartsWith("HTTP/1.1 413"));
}

TEST(server, asks_for_a_body_that_waits_to_be_asked_for) {
    const Running server;
    const std::string got = server.talk("POST /job.json HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\n" +
                                        server.host() + "Content-Length: 2\r\n\r\n{}");
    EXPECT_THAT(got, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"));
}

TEST(server, a_port_is_taken_once) {
    const Running server;
    try {
        Server({.port = 0, .choices = {}}, server.port());
        FAIL() << "two listen on one port";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("Address already in use; --port 0 takes one that is free"));
    }
}

TEST(server, ends_with_connections_open_and_work_under_way) {
    std::thread client;
    {
        const Running server;
        const std::string request =
            "GET /plan?machine=dgx-h100&model=llama3-8b&nodes=4&batch.global=64 HTTP/1.1\r\n" + server.host() + "\r\n";
        client = std::thread([port = server.port(), request] { talk(port, request); });
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    client.join();
}

}  // namespace
}  // namespace weft
