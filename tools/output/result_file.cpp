#include "tools/output/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>

#include "sim/io/files.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/sqlite_file.hpp"
#include "tools/version.hpp"

namespace weft {

namespace {

using Statement = SqliteFile::Statement;

constexpr std::int64_t application = 0x77656674;  // "weft": how a file of ours is told from others
constexpr std::int64_t layout = 1;                // of the tables below

constexpr const char* tables = R"(
CREATE TABLE runs (run INTEGER PRIMARY KEY, command TEXT NOT NULL, job TEXT NOT NULL, inputs TEXT NOT NULL,
                   weft TEXT NOT NULL, points INTEGER NOT NULL, results INTEGER NOT NULL, UNIQUE (command, inputs));
CREATE TABLE columns (run INTEGER NOT NULL REFERENCES runs, name TEXT NOT NULL, unit TEXT NOT NULL,
                      meaning TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE results (run INTEGER NOT NULL REFERENCES runs, point INTEGER NOT NULL, PRIMARY KEY (run, point));
)";

std::int64_t asked_number(const SqliteFile& file, std::string_view query) {
    Statement statement(file, query);
    return statement.step() ? std::get<std::int64_t>(statement.value(0)) : 0;
}

void make_tables(SqliteFile& file) {
    const std::int64_t owner = asked_number(file, "PRAGMA application_id");
    if (owner == application) {
        const std::int64_t found = asked_number(file, "PRAGMA user_version");
        if (found != layout) file.refuse(fmt::format("its tables are of layout {}, not {}", found, layout));
        return;
    }
    if (owner != 0 || asked_number(file, "SELECT count(*) FROM sqlite_master") > 0) {
        file.refuse("it is a database of another program");
    }
    file.execute(tables);
    file.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application, layout));
}

// As SQL has a name: in quotation marks, those within it doubled.
std::string sql_name(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

// SQLite's column names do not mind the case of ASCII letters.
std::string lower(std::string name) {
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    return name;
}

std::string_view type_of(const ResultTable& table, std::size_t column) {
    std::string_view type;
    for (const std::vector<ResultCell>& row : table.rows) {
        const ResultCell& cell = row[column];
        if (std::holds_alternative<std::string>(cell)) return "TEXT";
        if (std::holds_alternative<double>(cell)) type = "REAL";
        if (!std::holds_alternative<std::monostate>(cell) && type.empty()) type = "INTEGER";
    }
    if (!type.empty()) return type;
    return table.columns[column].kind == ColumnKind::metric ? "REAL" : "TEXT";
}

void add_columns(SqliteFile& file, const ResultTable& table) {
    std::set<std::string> known;
    Statement names(file, "SELECT name FROM pragma_table_info('results')");
    while (names.step()) known.insert(lower(std::get<std::string>(names.value(0))));
    std::set<std::string> taken{"run", "point"};
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& name = table.columns[i].name;
        if (!taken.insert(lower(name)).second) file.refuse(fmt::format("it has another column called \"{}\"", name));
        if (known.contains(lower(name))) continue;
        file.execute(fmt::format("ALTER TABLE results ADD COLUMN {} {}", sql_name(name), type_of(table, i)));
    }
}

void remove_run(SqliteFile& file, const RunRecord& run) {
    Statement find(file, "SELECT run FROM runs WHERE command = ? AND inputs = ?");
    find.bind(1, run.command);
    find.bind(2, run.inputs);
    if (!find.step()) return;
    const auto number = std::get<std::int64_t>(find.value(0));
    find.reset();
    for (const char* name : {"results", "columns", "runs"}) {
        file.execute(fmt::format("DELETE FROM {} WHERE run = {}", name, number));
    }
}

bool has_result(const ResultTable& table, const std::vector<ResultCell>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].kind == ColumnKind::metric && !std::holds_alternative<std::monostate>(row[i])) return true;
    }
    return false;
}

std::int64_t add_run(SqliteFile& file, const RunRecord& run, const ResultTable& table) {
    const auto results =
        std::ranges::count_if(table.rows, [&](const std::vector<ResultCell>& row) { return has_result(table, row); });
    Statement insert(file, "INSERT INTO runs (command, job, inputs, weft, points, results) VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(1, run.command);
    insert.bind(2, run.job);
    insert.bind(3, run.inputs);
    insert.bind(4, std::string(version));
    insert.bind(5, static_cast<std::int64_t>(table.rows.size()));
    insert.bind(6, static_cast<std::int64_t>(results));
    insert.step();
    return file.last_row();
}

std::string_view name(ColumnKind kind) {
    return kind == ColumnKind::key ? "key" : kind == ColumnKind::metric ? "metric" : "note";
}

void describe_columns(const SqliteFile& file, std::int64_t run, const ResultTable& table) {
    Statement insert(file, "INSERT INTO columns (run, name, unit, meaning, kind) VALUES (?, ?, ?, ?, ?)");
    for (const Column& column : table.columns) {
        insert.bind(1, run);
        insert.bind(2, column.name);
        insert.bind(3, column.unit);
        insert.bind(4, column.meaning);
        insert.bind(5, std::string(name(column.kind)));
        insert.step();
        insert.reset();
    }
}

void add_rows(const SqliteFile& file, std::int64_t run, const ResultTable& table) {
    std::string names = "run, point", values = "?, ?";
    for (const Column& column : table.columns) {
        names += ", " + sql_name(column.name);
        values += ", ?";
    }
    Statement insert(file, fmt::format("INSERT INTO results ({}) VALUES ({})", names, values));
    std::int64_t point = 0;
    for (const std::vector<ResultCell>& row : table.rows) {
        insert.bind(1, run);
        insert.bind(2, point++);
        for (std::size_t i = 0; i < row.size(); ++i) insert.bind(static_cast<int>(i) + 3, row[i]);
        insert.step();
        insert.reset();
    }
}

}  // namespace

void append_sqlite(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table) {
    const bool is_new = !std::filesystem::exists(path);
    try {
        SqliteFile file(path);
        file.execute("BEGIN IMMEDIATE");
        make_tables(file);
        remove_run(file, run);
        add_columns(file, table);
        const std::int64_t number = add_run(file, run, table);
        describe_columns(file, number, table);
        add_rows(file, number, table);
        file.execute("COMMIT");
    } catch (...) {
        std::error_code ignored;  // what was not there before is not left behind
        if (is_new && std::filesystem::file_size(path, ignored) == 0) std::filesystem::remove(path, ignored);
        throw;
    }
}

ResultFormat result_format(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".csv") return ResultFormat::csv;
    if (ending == ".jsonl") return ResultFormat::json_lines;
    if (ending == ".sqlite") return ResultFormat::sqlite;
    throw std::invalid_argument("expected a name that ends in .csv, .jsonl or .sqlite, got \"" + path.string() + "\"");
}

void write_results(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table) {
    switch (result_format(path)) {
        case ResultFormat::csv:
            return write_file_atomically(path, result_csv(table));
        case ResultFormat::json_lines:
            return write_file_atomically(path, result_json_lines(table));
        case ResultFormat::sqlite:
            return append_sqlite(path, run, table);
    }
}

}  // namespace weft
