// Keys of other programs as data: workloads/formats/<program>/<program>_keys.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Keys, each with what the file says of it; of a list nothing.
struct KnownKeys {
    std::vector<std::pair<std::string, std::string>> in_order;
    std::map<std::string, std::string, std::less<>> by_name;

    bool contains(std::string_view key) const { return by_name.contains(key); }
};

const KnownKeys& known_keys(std::string_view program, std::string_view section);

// Those that the file has change neither time nor memory.
void pass_over(Import& import, Field& from, const KnownKeys& keys);
// The same of keys that nothing has asked for so far.
void pass_over_unread(Import& import, Field& from, const KnownKeys& keys);

}  // namespace weft
