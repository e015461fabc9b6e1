#include "tools/output/check_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string_view severity_word(FormatNote::Severity severity) {
    switch (severity) {
        case FormatNote::Severity::note:
            return "note";
        case FormatNote::Severity::warning:
            return "warning";
        case FormatNote::Severity::error:
            return "error";
    }
    return {};
}

}  // namespace

Json diagnostic_json(const Diagnostic& diagnostic) {
    Json json;
    if (!diagnostic.file.empty()) json["file"] = diagnostic.file;
    if (diagnostic.line > 0) json["line"] = diagnostic.line;
    if (diagnostic.column > 0) json["column"] = diagnostic.column;
    if (!diagnostic.key.empty()) json["key"] = diagnostic.key;
    json["message"] = diagnostic.message;
    const std::vector<std::string> names = suggested_names(diagnostic.message);
    if (!names.empty()) json["suggestion"] = names.front();
    return json;
}

Json diagnostics_json(std::span<const Diagnostic> diagnostics) {
    Json json = Json::array();
    for (const Diagnostic& diagnostic : diagnostics) json.push_back(diagnostic_json(diagnostic));
    return json;
}

Json notes_json(std::span<const FormatNote> notes) {
    Json json = Json::array();
    for (const FormatNote& note : notes) {
        json.push_back({{"key", note.origin.key},
                        {"severity", severity_word(note.severity)},
                        {"message", note.message},
                        {"file", note.origin.file},
                        {"line", note.origin.line}});
    }
    return json;
}

Json advice_json(std::span<const MemoryAdvice> advice) {
    Json json = Json::array();
    for (const MemoryAdvice& each : advice) {
        json.push_back({{"changes", each.changes},
                        {"peak_bytes", std::llround(each.peak.value)},
                        {"saved_bytes", std::llround(each.saved.value)},
                        {"fits", each.fits}});
    }
    return json;
}

Json planned_memory_json(const Plan& plan, std::span<const MemoryAdvice> advice) {
    const MemoryUse& memory = plan.stages[plan.fullest_stage()].memory;
    Json json{{"fits", plan.fits()},
              {"fullest_stage", plan.fullest_stage()},
              {"peak_bytes", std::llround(memory.total().value)},
              {"allocated_bytes", std::llround(memory.allocated().value)},
              {"least_bytes", std::llround(memory.least().value)},
              {"most_bytes", std::llround(memory.most().value)},
              {"capacity_bytes", std::llround(plan.device.memory.value)}};
    if (!advice.empty()) json["advice"] = advice_json(advice);
    return json;
}

}  // namespace weft
