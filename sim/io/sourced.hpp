// Constants of files that say where they come from.
#pragma once

#include <string_view>

#include "sim/io/document.hpp"

namespace weft {

// { "value": ..., "source": "..." } at `key`: what `reader(field)` makes of it, which reads "value".
template <class Reader>
auto sourced(Field& parent, std::string_view key, Reader reader) {
    Field field = parent.object(key);
    auto value = reader(field);
    field.text("source", "");
    field.done();
    return value;
}
inline Seconds sourced_duration(Field& parent, std::string_view key) {
    return sourced(parent, key, [](Field& field) { return field.duration("value"); });
}

}  // namespace weft
