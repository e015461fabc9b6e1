// Numbers, models and methods as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/transformer/transformer.hpp"
#include "sim/program/program.hpp"

namespace weft {

std::string percent(double share);              // 0.0421: "4.2 %"
std::string signed_percent_text(double ratio);  // "+4.2 %"
std::string rounded(double number);             // to a whole one: "1048576"
std::string grouped(double number);             // a whole one, digits in groups of three: "12,345"
std::string short_count(std::uint64_t count);   // three digits, as people count parameters: "8.03B", "125M"

// What `text` makes of each, with commas between; what it makes nothing of is left out.
template <class Rows, class Text>
std::string comma_list(const Rows& rows, Text text, std::string_view comma = ", ") {
    std::string all;
    for (const auto& row : rows) {
        if (const std::string one(text(row)); !one.empty()) all += (all.empty() ? "" : std::string(comma)) + one;
    }
    return all;
}

// "llama3-8b (8.03B parameters)", "mixtral-8x7b (46.7B parameters, 12.9B active)"
std::string model_text(std::string_view name, std::uint64_t parameters, std::uint64_t active, std::uint64_t trained);
std::string model_text(const Transformer& model);

// "ring simple, 8 channels"; empty where nobody chose a method.
std::string method_text(const Method& method);

}  // namespace weft
