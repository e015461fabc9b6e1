// Protobuf's wire format, as far as traces (Chakra, Perfetto) need it: fields of a message, one after another, read and
// written. Source: the "Encoding" page of Protocol Buffers. Any bytes are read or refused.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weft {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
    std::uint32_t number = 0;
    WireType type{};
    std::uint64_t value = 0;      // of all but bytes
    std::string_view bytes = {};  // a text, a message, or packed numbers
};

// Takes a varint off the front of `text`. False: it is cut, or has more than 64 bits.
inline bool take_varint(std::string_view& text, std::uint64_t& value) {
    value = 0;
    for (unsigned i = 0; i < text.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (i == 9 && byte > 1) return false;
        value |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if (byte < 0x80U) return text.remove_prefix(i + 1), true;
    }
    return false;
}

class WireReader {
  public:
    explicit WireReader(std::string_view message) : rest_(message) {}

    // False: the message is over, or wrong.
    bool next(WireField& field) {
        if (rest_.empty() || !fault_.empty()) return false;
        std::uint64_t key = 0;
        if (!take_varint(rest_, key)) return fail("a varint that is cut or has more than 64 bits");
        field.number = static_cast<std::uint32_t>(key >> 3U);
        if (field.number == 0 || key >> 32U != 0) return fail("a field number out of range");
        field.type = static_cast<WireType>(key & 7U);
        switch (field.type) {
            case WireType::varint:
                return take_varint(rest_, field.value) || fail("a varint that is cut or has more than 64 bits");
            case WireType::fixed64:
                return fixed(field, 8);
            case WireType::fixed32:
                return fixed(field, 4);
            case WireType::bytes:
                if (!take_varint(rest_, field.value)) return fail("a length that is cut or has more than 64 bits");
                if (field.value > rest_.size()) return fail("a field that is longer than its message");
                field.bytes = rest_.substr(0, field.value);
                rest_.remove_prefix(field.value);
                return true;
        }
        return fail("a wire type that there is not");
    }
    // What is wrong; empty: nothing.
    std::string_view fault() const { return fault_; }

  private:
    bool fixed(WireField& field, std::size_t size) {
        if (rest_.size() < size) return fail("a number that is cut");
        field.value = 0;
        std::memcpy(&field.value, rest_.data(), size);
        rest_.remove_prefix(size);
        return true;
    }
    bool fail(std::string_view why) { return fault_ = why, false; }

    std::string_view rest_;
    std::string_view fault_;
};

inline void append_varint(std::string& message, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) message += static_cast<char>(value | 0x80U);
    message += static_cast<char>(value);
}
inline void append_field(std::string& message, std::uint32_t number, std::uint64_t value) {
    append_varint(message, std::uint64_t{number} << 3U | static_cast<std::uint64_t>(WireType::varint));
    append_varint(message, value);
}
inline void append_field(std::string& message, std::uint32_t number, std::string_view bytes) {
    append_varint(message, std::uint64_t{number} << 3U | static_cast<std::uint64_t>(WireType::bytes));
    append_varint(message, bytes.size());
    message += bytes;
}

}  // namespace weft
