#include "tools/validate/set.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/io/shipped.hpp"
#include "sim/io/text_file.hpp"
#include "tools/validate/set_table.hpp"

namespace weft {
namespace {

std::optional<double> read_bound(Field& bounds, std::string_view key) {
    if (!bounds.has(key)) return std::nullopt;
    const double bound = bounds.number(key);
    if (bound > 0) return bound;
    bounds.error(key, "expected a relative error above 0, such as 0.08");
    return std::nullopt;
}

ErrorBounds read_bounds(Field& root, std::string_view key) {
    ErrorBounds bounds;
    if (!root.has(key)) return bounds;
    Field field = root.object(key);
    bounds.mean = read_bound(field, "mean");
    bounds.median = read_bound(field, "median");
    bounds.percentile_90 = read_bound(field, "p90");
    bounds.largest = read_bound(field, "max");
    field.done();
    return bounds;
}

bool promises(const ErrorBounds& bounds) {
    return bounds.mean || bounds.median || bounds.percentile_90 || bounds.largest;
}

// Everything but the rows; `rows`: the file of the table, as written.
ValidationSet read_head(Document& document, std::string& rows) {
    Field root = document.root();
    const std::filesystem::path path(document.name());
    ValidationSet set{.name = path.stem().string(),
                      .path = path.string(),
                      .table_path = {},
                      .title = root.text("title"),
                      .source = root.text("source"),
                      .assumptions = {},
                      .bounds = read_bounds(root, "bounds"),
                      .residual_bounds = read_bounds(root, "residual_bounds"),
                      .fits = {},
                      .job = {},
                      .rows = {}};
    rows = root.text("rows", set.name + ".csv");
    if (root.has("assumptions")) {
        for (Field& assumption : root.list("assumptions")) set.assumptions.push_back(assumption.as_text());
    }
    if (root.has("fits")) {
        for (Field& each : root.list("fits")) set.fits.push_back(each.as_text());
    }
    root.object("job");
    root.done();
    return set;
}

// `table` finds the text of a table by the name that the set calls it, and says where it is.
struct TableFile {
    std::string path, text;
};
template <class FindTable>
ValidationSet read_set(Document document, FindTable find_table) {
    std::string rows;
    ValidationSet set = read_head(document, rows);
    document.check();
    set.job = nlohmann::ordered_json::parse(document.text()).at("job").dump();
    const TableFile table = find_table(rows);
    set.table_path = table.path;
    set.rows = read_set_table(table.path, table.text);
    const auto marked = [&set](RowUse use) {
        return std::ranges::any_of(set.rows, [use](const ValidationRow& row) { return row.use == use; });
    };
    Field root = document.root();
    if (promises(set.bounds) && !marked(RowUse::predict)) root.error("bounds", "no row is marked predict");
    if (promises(set.residual_bounds) && !marked(RowUse::fit)) root.error("residual_bounds", "no row is marked fit");
    document.check();
    return set;
}

TableFile shipped_table(const std::string& rows) {
    const std::string stem = std::filesystem::path(rows).stem().string();
    for (const embedded::File& file : embedded::validation_tables()) {
        if (file.name == stem) return {std::string(file.path), std::string(file.text)};
    }
    Diagnostic missing;
    missing.message = "no table \"" + rows + "\" is shipped";
    throw ConfigError({std::move(missing)});
}

}  // namespace

std::string_view name(RowUse use) {
    return use == RowUse::predict ? "predict" : use == RowUse::fit ? "fit" : "disturbed";
}

ValidationSet load_validation_set(std::string_view name) {
    if (!is_path(name)) {
        return read_set(open_shipped(embedded::validation(), "validation set", name).document, shipped_table);
    }
    const std::filesystem::path path(name);
    return read_set(Document::read(path), [&path](const std::string& rows) {
        const std::filesystem::path table = path.parent_path() / rows;
        return TableFile{table.string(), read_text(table)};
    });
}

ValidationSet read_validation_set(const std::string& path, std::string text, const std::string& table_path,
                                  std::string_view table) {
    return read_set(Document::parse(path, std::move(text)), [&](const std::string&) {
        return TableFile{table_path, std::string(table)};
    });
}

std::vector<std::string> validation_set_names() { return shipped_names(embedded::validation()); }

}  // namespace weft
