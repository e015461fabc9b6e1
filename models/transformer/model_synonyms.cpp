// What other tools call the keys of a model: rows of keys.json.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"

namespace weft {

std::span<const Synonym> model_synonyms() {
    static const auto rows = nlohmann::json::parse(embedded::model_keys().front().text);
    static const std::vector<Synonym> synonyms = [] {
        std::vector<Synonym> all;
        for (const auto& row : rows.items()) {
            if (!row.value().contains("elsewhere")) continue;
            for (const auto& word : row.value()["elsewhere"])
                all.push_back({word.get_ref<const std::string&>(), row.key()});
        }
        return all;
    }();
    return synonyms;
}

}  // namespace weft
