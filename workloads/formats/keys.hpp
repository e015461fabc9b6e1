// Taking keys of a foreign file over, so that each is used, known to have no effect, or noted.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Gives `to` the member `name` from the key of `from`, if it is there; whether it is.
bool take_count(Field& from, std::string_view key, Draft& to, std::string_view name);  // integer >= 1
bool take_flag(Field& from, std::string_view key, Draft& to, std::string_view name);

// Those of the keys that are there change neither time nor memory.
void without_effect(Import& import, Field& from, std::initializer_list<std::string_view> keys);
// The same of keys that nothing has asked for so far.
void unread_without_effect(Import& import, Field& from, std::span<const std::string> keys);
void unread_without_effect(Import& import, Field& from, std::string_view keys);  // blanks between them
// A key that changes what a step does, and that weft cannot represent: nothing is made where it is given.
void refuse_key(Import& import, Field& from, std::string_view key, std::string_view why);
// A key that is read and changes something which is not simulated.
void warn_key(Import& import, Field& from, std::string_view key, std::string_view what);
// Every key that nobody asked for is noted: it may change what a step does.
void note_rest(Import& import, const Field& from);

// A table of one of these rooms: workloads/formats/*/<name>.json.
Document format_table(std::string_view name);
std::vector<std::string> texts(std::vector<Field> list);

// The document's mistakes become notes of the import, told together with what it refuses.
void take_mistakes(Import& import, const Document& document);

// Ranks of the job that the options name, machine and nodes; 0 where they do not.
std::uint64_t ranks_of(const FormatOptions& options);
// Whether the user overrides this key of what is made ("batch.micro").
bool overridden_by_user(const FormatOptions& options, std::string_view path);

}  // namespace weft
