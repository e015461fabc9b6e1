// Traces written for tests: Chakra's messages byte by byte, GOAL as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/recorded/reading.hpp"

namespace weft::test {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
    return bytes + static_cast<char>(value);
}
inline std::string number_field(std::uint32_t field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}
inline std::string bytes_field(std::uint32_t field, std::string_view bytes) {
    return varint(field << 3U | 2U) + varint(bytes.size()) + std::string(bytes);
}
inline std::string message(std::string_view bytes) { return varint(bytes.size()) + std::string(bytes); }

// An attribute whose value is a number of this kind (a field of AttributeProto): int64 by default.
inline std::string attribute(std::string_view name, std::uint64_t value, std::uint32_t kind = 9) {
    return bytes_field(10, bytes_field(1, name) + number_field(kind, value));
}
inline std::string text_attribute(std::string_view name, std::string_view value) {
    return bytes_field(10, bytes_field(1, name) + bytes_field(29, value));
}

struct ChakraFile {
    std::string bytes = message("");  // metadata of no byte, as STG writes it

    ChakraFile& node(std::uint64_t id, std::uint64_t type, const std::string& rest) {
        bytes +=
            message(number_field(1, id) + bytes_field(2, "node " + std::to_string(id)) + number_field(3, type) + rest);
        return *this;
    }
    ChakraFile& compute(std::uint64_t id, std::uint64_t microseconds, const std::string& rest = "") {
        return node(id, 4, number_field(7, microseconds) + rest);
    }
    ChakraFile& collective(std::uint64_t id, std::uint64_t op, std::uint64_t size, const std::string& rest = "") {
        return node(
            id, 7,
            attribute("is_cpu_op", 0, 27) + attribute("comm_type", op) + attribute("comm_size", size, 13) + rest);
    }
    ChakraFile& send(std::uint64_t id, std::uint64_t to, std::uint64_t size) {
        return node(id, 5, attribute("comm_dst", to, 7) + attribute("comm_size", size));
    }
    ChakraFile& receive(std::uint64_t id, std::uint64_t from, std::uint64_t size) {
        return node(id, 6, attribute("comm_src", from, 7) + attribute("comm_size", size));
    }
};
inline std::string after(std::uint64_t id) { return number_field(5, id); }

// One file per rank.
inline RecordedProgram read_chakra_files(const std::vector<ChakraFile>& files) {
    std::vector<SourceFile> sources;
    for (std::size_t i = 0; i < files.size(); ++i) {
        sources.push_back({"rank." + std::to_string(i) + ".et", files[i].bytes});
    }
    return read_recorded(std::span<const SourceFile>(sources));
}

inline RecordedProgram read_goal_text(std::string text) {
    const SourceFile file{"schedule.goal", std::move(text)};
    return read_recorded(std::span(&file, 1));
}

}  // namespace weft::test
