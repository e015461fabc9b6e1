#include "tools/serve/server.hpp"

#include <sys/socket.h>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace weft {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::uint32_t most_header_bytes = 64U << 10U;  // a job fits into an address
constexpr std::uint64_t most_body_bytes = 1U << 20U;
constexpr std::chrono::seconds for_reading{30};  // of a request, from when the connection is free for it
constexpr std::chrono::seconds for_writing{60};
constexpr std::chrono::seconds for_closing{2};  // until the client has read a last answer

std::string copied(beast::string_view text) { return {text.data(), text.size()}; }

HttpResponse plain_refusal(unsigned status, std::string why) {
    return refusal({.status = status, .error = std::move(why)}, "");
}

// What is answered to something that is no request; the connection ends with it.
std::optional<HttpResponse> answer_to(const beast::error_code& problem) {
    if (problem == http::error::body_limit) {
        return plain_refusal(413, "a job of more than " + std::to_string(most_body_bytes) + " bytes is not taken");
    }
    if (problem == http::error::header_limit) {
        return plain_refusal(431, "an address and header fields of more than " + std::to_string(most_header_bytes) +
                                      " bytes are not taken: post the job");
    }
    const bool is_no_request = problem.category() == make_error_code(http::error::bad_method).category() &&
                               problem != http::error::end_of_stream && problem != http::error::partial_message;
    if (!is_no_request) return std::nullopt;  // the client left, or took too long
    return plain_refusal(400, "not a request: " + problem.message());
}

// Alive as long as an operation on its socket or its work is under way: these share it.
class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(asio::ip::tcp::socket socket, Serving& serving, Welcome welcome)
        : stream_(std::move(socket)), serving_(serving), welcome_(welcome) {
        ++serving_.open;
    }
    ~Session() {
        --serving_.open;
        serving_.on_close();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read() {
        is_head_ = false;
        parser_.emplace();
        parser_->header_limit(most_header_bytes);
        parser_->body_limit(most_body_bytes);
        stream_.expires_after(welcome_ == Welcome::served ? for_reading : for_closing);
        http::async_read_header(
            stream_, buffer_, *parser_,
            [self = shared_from_this()](beast::error_code problem, std::size_t) { self->on_header(problem); });
    }

  private:
    void on_header(beast::error_code problem) {
        if (problem) return on_problem(problem);
        if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) return ask_for_body();
        read_body();
    }

    void ask_for_body() {
        static constexpr beast::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        asio::async_write(stream_, asio::buffer(go_on.data(), go_on.size()),
                          [self = shared_from_this()](beast::error_code problem, std::size_t) {
                              if (!problem) self->read_body();
                          });
    }

    void read_body() {
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](beast::error_code problem, std::size_t) {
                             if (problem) return self->on_problem(problem);
                             self->on_request();
                         });
    }

    void on_problem(const beast::error_code& problem) {
        if (auto answer = answer_to(problem)) refuse(*std::move(answer));
    }

    void refuse(HttpResponse answer) {
        keep_ = false;
        write(std::move(answer));
    }

    void refuse_for_now(const char* why) {
        HttpResponse busy = plain_refusal(503, why);
        busy.fields.emplace_back("Retry-After", "1");
        write(std::move(busy));
    }

    void on_request() {
        stream_.expires_never();
        http::request<http::string_body> read = parser_->release();
        keep_ = read.keep_alive() && welcome_ == Welcome::served;
        is_head_ = read.method() == http::verb::head;
        if (welcome_ == Welcome::too_many) return refuse_for_now("too many connections");
        left_ = std::stop_source();
        HttpRequest request{.method = copied(read.method_string()),
                            .target = copied(read.target()),
                            .body = std::move(read.body()),
                            .host = read.count(http::field::host) == 1 ? copied(read[http::field::host]) : "",
                            .origin = copied(read[http::field::origin]),
                            .fetch_site = copied(read["Sec-Fetch-Site"]),
                            .fetch_mode = copied(read["Sec-Fetch-Mode"]),
                            .accept = copied(read[http::field::accept]),
                            .left = left_.get_token()};
        Workers& workers =
            work_of(request.target) == AnswerWork::many_simulations ? serving_.searches : serving_.simulations;
        const bool taken = workers.hand_out([self = shared_from_this(), request = std::move(request)]() mutable {
            const std::stop_callback at_end(self->serving_.end,
                                            [left = self->left_]() mutable { left.request_stop(); });
            HttpResponse made = answer(self->serving_.site, request);
            const auto executor = self->stream_.get_executor();  // before self is moved: arguments have no order
            asio::post(executor, [self = std::move(self), made = std::move(made)]() mutable {
                self->on_answer(std::move(made));
            });
        });
        if (!taken) return refuse_for_now("too many requests at once");
        watch();
    }

    // While it is worked for, a client that closes its side has left.
    void watch() {
        working_ = true;
        stream_.socket().async_wait(
            asio::socket_base::wait_read, [self = shared_from_this()](beast::error_code problem) {
                if (problem || !self->working_) return;
                char next = 0;
                const ssize_t there = ::recv(self->stream_.socket().native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
                if (there <= 0) self->left_.request_stop();
            });
    }

    void on_answer(HttpResponse made) {
        working_ = false;
        beast::error_code none;
        stream_.socket().cancel(none);  // the watch
        write(std::move(made));
    }

    void write(HttpResponse made) {
        response_ = {};
        response_.result(made.status);
        response_.set(http::field::content_type, made.type);
        for (const auto& [name, value] : security_fields(made)) response_.set(name, value);
        for (const auto& [name, value] : made.fields) response_.set(name, value);
        response_.keep_alive(keep_);
        response_.content_length(made.body.size());
        if (!is_head_) response_.body() = std::move(made.body);
        stream_.expires_after(for_writing);
        http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code problem, std::size_t) {
            self->response_ = {};
            if (problem) return;
            if (self->keep_) return self->read();
            self->close();
        });
    }

    // What the client still sends is read, as a connection that is closed before takes the answer with it.
    void close() {
        beast::error_code none;
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, none);
        stream_.expires_after(for_closing);
        drain();
    }

    void drain() {
        stream_.async_read_some(asio::buffer(drained_),
                                [self = shared_from_this()](beast::error_code problem, std::size_t) {
                                    if (!problem) self->drain();
                                });
    }

    beast::tcp_stream stream_;
    Serving& serving_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> response_;
    std::stop_source left_;
    const Welcome welcome_;
    bool keep_ = true, is_head_ = false, working_ = false;
    std::array<char, 4096> drained_{};
};

}  // namespace

void serve_connection(asio::ip::tcp::socket socket, Serving& serving, Welcome welcome) {
    std::make_shared<Session>(std::move(socket), serving, welcome)->read();
}

}  // namespace weft
