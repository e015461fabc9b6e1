#include "sim/io/json_stream.hpp"

#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string>

namespace weft {
namespace {

using Json = nlohmann::json;

class Buffer : public std::streambuf {
  public:
    explicit Buffer(ByteSource& source) : source_(source) {}

  protected:
    int_type underflow() override {
        constexpr std::size_t piece = std::size_t{1} << 16;
        source_.skip(taken_);
        piece_ = source_.peek(piece);
        taken_ = piece_.size();
        setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
        return piece_.empty() ? traits_type::eof() : traits_type::to_int_type(piece_.front());
    }

  private:
    ByteSource& source_;
    std::size_t taken_ = 0;
    std::string piece_;
};

class Events : public nlohmann::json_sax<Json> {
  public:
    Events(const ByteSource& source, JsonListener& listener) : source_(source), listener_(listener) {}

    bool null() override { return listener_.null(), true; }
    bool boolean(bool value) override { return listener_.word(value), true; }
    bool number_integer(number_integer_t n) override { return whole(n); }
    bool number_unsigned(number_unsigned_t n) override { return whole(n); }
    bool number_float(number_float_t, const string_t& digits) override { return listener_.number(digits), true; }
    bool string(string_t& text) override { return listener_.text(text), true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return opened(); }
    bool start_array(std::size_t) override { return opened(); }
    bool end_object() override { return --depth_, listener_.close(), true; }
    bool end_array() override { return --depth_, listener_.close(), true; }
    bool key(string_t& name) override { return listener_.key(name), true; }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override {
        source_.refuse(fmt::format("byte {}: is no JSON from here on, or is cut off", byte));
    }

  private:
    bool whole(auto value) {
        const fmt::format_int digits(value);
        return listener_.number({digits.data(), digits.size()}), true;
    }
    bool opened() {
        constexpr int deepest = 64;
        if (++depth_ > deepest) source_.refuse(fmt::format("objects lie more than {} deep in one another", deepest));
        return listener_.open(), true;
    }

    const ByteSource& source_;
    JsonListener& listener_;
    int depth_ = 0;
};

}  // namespace

void stream_json(ByteSource& source, JsonListener& listener) {
    Buffer buffer(source);
    std::istream stream(&buffer);
    stream.exceptions(std::ios::badbit);  // what underflow() throws goes on to the caller
    Events events(source, listener);
    Json::sax_parse(stream, &events);
}

}  // namespace weft
