#include "workloads/formats/known_keys.hpp"

#include <algorithm>

#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

using Sections = std::map<std::string, KnownKeys, std::less<>>;

Sections sections_of(const std::string& program) {
    Sections sections;
    Document document = format_table(program + "_keys");
    Field root = document.root();
    for (const std::string& name : root.keys()) {
        KnownKeys& section = sections[name];
        if (root.is_object(name)) {
            Field keys = root.object(name);
            for (const std::string& key : keys.keys()) section.in_order.emplace_back(key, keys.text(key));
        } else {
            for (Field& key : root.list(name)) section.in_order.emplace_back(key.as_text(), "");
        }
        section.by_name.insert(section.in_order.begin(), section.in_order.end());
    }
    document.check();
    return sections;
}

}  // namespace

const KnownKeys& known_keys(std::string_view program, std::string_view section) {
    static const std::map<std::string, Sections, std::less<>> programs = [] {
        std::map<std::string, Sections, std::less<>> all;
        for (const std::string name : {"deepspeed", "megatron", "neox"}) all.emplace(name, sections_of(name));
        return all;
    }();
    return programs.find(program)->second.find(section)->second;
}

void pass_over(Import& import, Field& from, const KnownKeys& keys) {
    for (const auto& [key, what] : keys.in_order) {
        if (from.has(key)) import.without_effect.push_back(from.origin(key));
    }
}

void pass_over_unread(Import& import, Field& from, const KnownKeys& keys) {
    const std::vector<std::string> unread = from.unasked();
    for (const auto& [key, what] : keys.in_order) {
        if (std::ranges::find(unread, key) != unread.end() && from.has(key))
            import.without_effect.push_back(from.origin(key));
    }
}

}  // namespace weft
