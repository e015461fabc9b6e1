#include "sim/io/reading_record.hpp"

#include "sim/io/document_state.hpp"

namespace weft {
namespace {

using Readings = std::map<std::string, KeyReading, std::less<>>;

ValueRecord& made(std::unique_ptr<ValueRecord>& record) {
    if (record == nullptr) record = std::make_unique<ValueRecord>();
    return *record;
}

void add(ValueRecord& record, const KeyReading& reading) {
    record.takes.insert(reading.takes.begin(), reading.takes.end());
    if (!reading.otherwise.empty()) record.defaults.insert(reading.otherwise);
}

}  // namespace

void Document::record() { state_->records = true; }

void Document::State::add_to(ValueRecord& record, std::size_t row, Extent extent) const {
    const Value& value = values[row];
    const auto found = readings.find(row);
    if (value.kind == ValueKind::list) {
        for (const Member& member : value.members) add_to(made(record.element), member.value, extent);
    }
    if (found == readings.end()) return;
    const Readings& asked = found->second;
    if (const auto own = asked.find(""); own != asked.end()) add(record, own->second);
    if (value.kind != ValueKind::object) return;
    const bool any = asked.contains(any_name);
    const Member* kind = asked.contains("kind") ? value.find("kind") : nullptr;
    ObjectRecord* object = any ? nullptr : &record.objects[kind == nullptr ? std::string() : values[kind->value].text];
    if (object != nullptr && extent == Extent::whole) ++object->seen;
    for (const auto& [key, reading] : asked) {
        if (key.empty() || key == any_name) continue;
        ValueRecord& inner = any ? made(record.any) : object->members[key].value;
        if (!any && extent == Extent::whole && reading.required) ++object->members[key].required;
        add(inner, reading);
        if (const Member* member = value.find(key)) add_to(inner, member->value, extent);
    }
}

void Document::add_to(ValueRecord& record, Extent extent) const { state_->add_to(record, 0, extent); }

}  // namespace weft
