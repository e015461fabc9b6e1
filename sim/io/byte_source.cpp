#include "sim/io/byte_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <istream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {

struct ByteSource::Opened {
    explicit Opened(gzFile opened) : file(opened) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() { gzclose(file); }

    gzFile file;
    bool is_over = false;
};

ByteSource::ByteSource(const std::filesystem::path& path) : name_(path.string()) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) refuse("cannot be read: is a directory");
    const gzFile file = gzopen(name_.c_str(), "rb");  // reads files that are not packed as they are
    if (file == nullptr) refuse("cannot be read: " + std::generic_category().message(errno));
    gzbuffer(file, 1U << 17U);
    opened_ = std::make_unique<Opened>(file);
}

ByteSource::ByteSource(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

ByteSource::~ByteSource() = default;

void ByteSource::refuse(std::string message) const {
    throw ConfigError({{.file = name_, .key = {}, .message = std::move(message)}});
}

std::string_view ByteSource::peek(std::size_t count) {
    if (rest_.size() < count && opened_ && !opened_->is_over) fill(count);
    return rest_.substr(0, count);
}

void ByteSource::skip(std::size_t count) {
    rest_.remove_prefix(count);
    offset_ += count;
}

void ByteSource::fill(std::size_t count) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    buffer_.erase(0, buffer_.size() - rest_.size());
    while (buffer_.size() < count && !opened_->is_over) {
        const std::size_t before = buffer_.size();
        if (offset_ + before > most_bytes) {
            refuse(fmt::format("has more than {} MiB unpacked: not an input", most_bytes >> 20U));
        }
        buffer_.resize(before + piece);
        const int read = gzread(opened_->file, buffer_.data() + before, static_cast<unsigned>(piece));
        buffer_.resize(before + static_cast<std::size_t>(std::max(read, 0)));
        if (read == static_cast<int>(piece)) continue;
        opened_->is_over = true;
        int problem = Z_OK;
        gzerror(opened_->file, &problem);
        if (problem == Z_ERRNO) refuse("cannot be read to its end");
        if (problem != Z_OK && problem != Z_STREAM_END) {
            refuse(fmt::format("is no whole gzip file: it ends, or is damaged, after {} unpacked bytes",
                               offset_ + buffer_.size()));
        }
    }
    rest_ = buffer_;
}

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
