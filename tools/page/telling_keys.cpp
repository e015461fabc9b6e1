#include "tools/page/telling_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

namespace weft {
namespace {

struct Key {
    std::size_t column = 0;
    std::vector<std::uint32_t> values;  // by row: numbers of distinct values, in order of first arrival
    std::uint32_t distinct = 0;
};

Key key_of(const ResultTable& table, std::size_t column) {
    Key key{.column = column, .values = {}, .distinct = 0};
    std::map<ResultCell, std::uint32_t> numbers;
    for (const std::vector<ResultCell>& row : table.rows) {
        key.values.push_back(
            numbers.try_emplace(row[column], static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    key.distinct = static_cast<std::uint32_t>(numbers.size());
    return key;
}

// Whether rows with equal values of `key` have equal values of `other`.
bool determines(const Key& key, const Key& other) {
    constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> found(key.distinct, unknown);
    for (std::size_t row = 0; row < key.values.size(); ++row) {
        std::uint32_t& value = found[key.values[row]];
        if (value == unknown) value = other.values[row];
        if (value != other.values[row]) return false;
    }
    return true;
}

bool follows(const Key& key, const Key& other) {
    return key.column != other.column && determines(other, key) &&
           (other.column < key.column || !determines(key, other));
}

}  // namespace

std::vector<std::size_t> telling_keys(const ResultTable& table) {
    std::vector<Key> keys;
    std::vector<std::size_t> all, telling;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].kind != ColumnKind::key) continue;
        all.push_back(column);
        keys.push_back(key_of(table, column));
    }
    std::erase_if(keys, [](const Key& key) { return key.distinct < 2; });
    for (const Key& key : keys) {
        if (std::ranges::none_of(keys, [&](const Key& other) { return follows(key, other); })) {
            telling.push_back(key.column);
        }
    }
    return telling.empty() ? all : telling;
}

}  // namespace weft
