#include "workloads/formats/nemo/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

constexpr int deepest_reference = 32;
constexpr int most_lookups = 20'000;  // references can double themselves

// The end of "${" at the front.
std::size_t end_of_reference(std::string_view text) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i).starts_with("${")) ++open;
        if (text[i] == '}' && --open == 0) return i;
    }
    return std::string_view::npos;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
    std::vector<std::string_view> parts;
    int open = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        open += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (i < text.size() && (c != ',' || open > 0)) continue;
        parts.push_back(trimmed(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    return parts;
}

// "model.optim.lr" seen from there: ".name" is beside it, "..name" a level above.
std::string absolute_path(std::string_view reference, std::string_view from) {
    if (!reference.starts_with('.')) {
        // In the launcher's configuration all of this file is under "training".
        if (reference.starts_with("training.")) reference.remove_prefix(9);
        return std::string(reference);
    }
    std::string_view base = from;
    while (reference.starts_with('.')) {
        reference.remove_prefix(1);
        const std::size_t dot = base.rfind('.');
        base = dot == std::string_view::npos ? std::string_view() : base.substr(0, dot);
    }
    return base.empty() ? std::string(reference) : fmt::format("{}.{}", base, reference);
}

}  // namespace

HydraValues::HydraValues(Field root, std::span<const std::string> variables) : root_(std::move(root)) {
    for (const std::string& assignment : variables) {
        const std::size_t equals = std::min(assignment.find('='), assignment.size());
        variables_[assignment.substr(0, equals)] = assignment.substr(std::min(equals + 1, assignment.size()));
    }
}

std::string HydraValues::text(std::string_view path, std::vector<std::string>& unknown) {
    Field in = root_;
    std::string_view rest = path;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        const std::string_view step = rest.substr(0, dot);
        rest.remove_prefix(dot + 1);
        if (!in.is_object(step)) {
            unknown.emplace_back(path);
            return {};
        }
        in = in.object(step);
    }
    if (!in.has(rest)) {
        if (std::ranges::count(in.keys(), rest) > 0) return "null";
        unknown.emplace_back(path);
        return {};
    }
    return in.is_text(rest) ? filled(in.text(rest), path, unknown) : in.member(rest).as_json();
}

std::string HydraValues::filled(std::string_view text, std::string_view path, std::vector<std::string>& unknown) {
    if (++depth_ > deepest_reference || ++lookups_ > most_lookups) {
        unknown.emplace_back(path);
        --depth_;
        return {};
    }
    std::string result;
    while (!text.empty()) {
        const std::size_t begin = std::min(text.find("${"), text.size());
        result += text.substr(0, begin);
        text.remove_prefix(begin);
        if (text.empty()) break;
        const std::size_t end = end_of_reference(text);
        if (end == std::string_view::npos) {
            result += text;
            break;
        }
        result += resolved(text.substr(2, end - 2), path, unknown);
        text.remove_prefix(end + 1);
    }
    --depth_;
    return result;
}

std::string HydraValues::resolved(std::string_view inside, std::string_view path, std::vector<std::string>& unknown) {
    const std::size_t colon = inside.find(':');
    if (colon != std::string_view::npos && inside.substr(0, colon).find_first_of("${} ") == std::string_view::npos)
        return computed(inside.substr(0, colon), inside.substr(colon + 1), path, unknown);
    const std::string reference = filled(trimmed(inside), path, unknown);
    if (const auto given = variables_.find(reference); given != variables_.end()) return given->second;
    if (++depth_ > deepest_reference) {
        unknown.push_back(reference);
        --depth_;
        return {};
    }
    std::string value = text(absolute_path(reference, path), unknown);
    --depth_;
    return value;
}

// Resolvers of NeMo's launcher (nemo_launcher/core) and of OmegaConf.
std::string HydraValues::computed(std::string_view function, std::string_view arguments, std::string_view path,
                                  std::vector<std::string>& unknown) {
    std::vector<std::string> values;
    for (const std::string_view part : split_arguments(arguments)) values.push_back(filled(part, path, unknown));
    if (function == "oc.env" && !values.empty()) {
        if (const auto given = variables_.find(values[0]); given != variables_.end()) return given->second;
        if (values.size() > 1) return values[1];
        unknown.push_back(values[0]);
        return {};
    }
    const auto combined = [&](double a, double b) -> std::optional<double> {
        if (function == "multiply") return a * b;
        if (function == "sum" || function == "add") return a + b;
        if (b == 0) return std::nullopt;
        if (function == "divide_ceil") return std::ceil(a / b);
        if (function == "divide_floor") return std::floor(a / b);
        return function == "divide" ? std::optional(a / b) : std::nullopt;
    };
    std::optional<double> result = to_number(values.front());
    for (std::size_t i = 1; i < values.size() && result; ++i) {
        const std::optional<double> next = to_number(values[i]);
        result = next && std::isfinite(*result) ? combined(*result, *next) : std::nullopt;
    }
    if (result && values.size() > 1) return fmt::format("{}", *result);
    if (unknown.empty()) unknown.emplace_back(fmt::format("{}:{}", function, arguments));
    return {};
}

}  // namespace weft
