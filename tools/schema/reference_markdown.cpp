#include "tools/schema/reference_markdown.hpp"

#include <fmt/format.h>

#include "tools/schema/key_tables.hpp"

namespace weft {

std::string reference_markdown(const Reference& reference) {
    std::string text;
    for (const KeyTable& table : key_tables(reference)) {
        if (!table.path.empty()) {
            text += fmt::format("\n### `{}`{}\n", table.path, table.kind.empty() ? "" : ", kind `" + table.kind + "`");
        }
        text += "\n| key | takes | default | meaning |\n|---|---|---|---|\n";
        for (const KeyRow& row : table.rows) {
            text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, row.takes, row.otherwise, row.meaning);
        }
    }
    return text;
}

}  // namespace weft
