#include "workloads/formats/chakra/chakra.hpp"

#include <bit>
#include <initializer_list>

#include "sim/base/texts.hpp"
#include "sim/io/wire.hpp"

namespace weft {
namespace {

std::int64_t zigzag(std::uint64_t value) { return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1)); }

// AttributeProto's value as a number: writers do not agree on which of its kinds a flag or a size has.
std::optional<double> number_of(const WireField& field) {
    const auto is = [&](std::initializer_list<std::uint32_t> kinds) {
        return std::ranges::count(kinds, field.number) > 0;
    };
    if (is({3})) return std::bit_cast<double>(field.value);                                   // double
    if (is({5})) return std::bit_cast<float>(static_cast<std::uint32_t>(field.value));        // float
    if (is({7, 9, 25})) return static_cast<double>(static_cast<std::int64_t>(field.value));   // int, sfixed64
    if (is({15, 17})) return static_cast<double>(zigzag(field.value));                        // sint
    if (is({23})) return static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value));  // sfixed32
    if (is({11, 13, 19, 21, 27})) return static_cast<double>(field.value);                    // uint, fixed, bool
    return is({29}) ? parse_as<double>(field.bytes) : std::nullopt;                           // text
}

// Of a BoolList.
bool has_false(std::string_view list) {
    WireReader fields(list);
    bool found = false;
    for (WireField field; fields.next(field);) {
        found |= field.type == WireType::bytes ? field.bytes.find('\0') != std::string_view::npos : field.value == 0;
    }
    return found;
}

// An AttributeProto. Returns what is wrong with it. STG writes attributes without a value.
std::string_view read_attribute(ChakraAttributes& attributes, std::string_view message) {
    WireReader fields(message);
    std::string_view name;
    WireField value;
    for (WireField field; fields.next(field);) {
        if (field.number == 1) name = field.bytes;
        if (field.number > 2) value = field;
    }
    if (!fields.fault().empty() || value.number == 0) return fields.fault();
    if (name == "pg_name") attributes.group = value.bytes;
    if (name == "involved_dim" && value.number == 28) attributes.some_dimensions = has_false(value.bytes);
    attributes.numbers.emplace_back(name, number_of(value));
    return {};
}

// An IOInfo, of which the values are kept.
std::string_view read_inputs(ChakraNode& node, std::string_view message) {
    WireReader fields(message);
    for (WireField field; fields.next(field);) {
        if (field.number == 1) node.input_values = field.bytes;
    }
    return fields.fault();
}

std::string_view read_packed(ChakraNode& node, std::string_view packed, bool is_control) {
    for (std::uint64_t id = 0; !packed.empty();) {
        if (!take_varint(packed, id)) return "a varint that is cut or has more than 64 bits";
        node.dependencies.push_back({id, is_control});
    }
    return {};
}

void read_number(ChakraNode& node, const WireField& field) {
    if (field.number == 1) node.id = field.value;
    if (field.number == 3) node.type = field.value;
    if (field.number == 4 || field.number == 5) node.dependencies.push_back({field.value, field.number == 4});
    if (field.number == 6) node.start = static_cast<double>(field.value);
    if (field.number == 7) node.duration = static_cast<double>(field.value);
}

}  // namespace

ChakraNode read_chakra_node(std::string_view message) {
    ChakraNode node;
    WireReader fields(message);
    for (WireField field; node.fault.empty() && fields.next(field);) {
        if (field.type != WireType::bytes) {
            read_number(node, field);
        } else if (field.number == 2) {
            node.name = field.bytes;
        } else if (field.number == 4 || field.number == 5) {
            node.fault = read_packed(node, field.bytes, field.number == 4);
        } else if (field.number == 8) {
            node.fault = read_inputs(node, field.bytes);
        } else if (field.number == 10) {
            node.fault = read_attribute(node.attributes, field.bytes);
        }
    }
    if (node.fault.empty()) node.fault = fields.fault();
    return node;
}

}  // namespace weft
