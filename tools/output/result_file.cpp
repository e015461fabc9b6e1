#include "tools/output/result_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "sim/base/enumerators.hpp"
#include "sim/io/files.hpp"
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
    return '"' + boost::replace_all_copy(std::string(name), "\"", "\"\"") + '"';
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
    std::set<std::string> known;  // in lower case: SQLite does not mind that of ASCII letters
    Statement names(file, "SELECT name FROM pragma_table_info('results')");
    while (names.step()) known.insert(boost::to_lower_copy(std::get<std::string>(names.value(0))));
    std::set<std::string> taken{"run", "point"};
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& name = table.columns[i].name;
        if (!taken.insert(boost::to_lower_copy(name)).second)
            file.refuse(fmt::format("it has another column called \"{}\"", name));
        if (known.contains(boost::to_lower_copy(name))) continue;
        file.execute(fmt::format("ALTER TABLE results ADD COLUMN {} {}", sql_name(name), type_of(table, i)));
    }
}

void remove_run(SqliteFile& file, const RunRecord& run) {
    Statement find(file, "SELECT run FROM runs WHERE command = ? AND inputs = ?");
    if (!find.with({run.command, run.inputs}).step()) return;
    const auto number = std::get<std::int64_t>(find.value(0));
    find.with({});  // ends the query
    for (const char* name : {"results", "columns", "runs"}) {
        file.execute(fmt::format("DELETE FROM {} WHERE run = {}", name, number));
    }
}

std::int64_t add_run(SqliteFile& file, const RunRecord& run, const ResultTable& table) {
    const auto results =
        std::ranges::count_if(table.rows, [&](const std::vector<ResultCell>& row) { return has_result(table, row); });
    Statement insert(file, "INSERT INTO runs (command, job, inputs, weft, points, results) VALUES (?, ?, ?, ?, ?, ?)");
    insert.with({run.command, run.job, run.inputs, std::string(version), static_cast<std::int64_t>(table.rows.size()),
                 static_cast<std::int64_t>(results)});
    insert.step();
    return file.last_row();
}

void describe_columns(const SqliteFile& file, std::int64_t run, const ResultTable& table) {
    Statement insert(file, "INSERT INTO columns (run, name, unit, meaning, kind) VALUES (?, ?, ?, ?, ?)");
    for (const Column& column : table.columns) {
        insert.with({run, column.name, column.unit, column.meaning, std::string(enumerator_name(column.kind))}).step();
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
        insert.with({run, point++});
        for (std::size_t i = 0; i < row.size(); ++i) insert.bind(static_cast<int>(i) + 3, row[i]);
        insert.step();
    }
}

constexpr int patience = 60'000;  // milliseconds to wait for another writer

sqlite3* opened(const std::filesystem::path& path) {
    sqlite3* database = nullptr;
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path.c_str(), &database, flags, nullptr) == SQLITE_OK) return database;
    const std::string reason = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
    sqlite3_close(database);
    throw std::runtime_error("cannot write " + path.string() + ": " + reason);
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

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void SqliteFile::Statement::Finish::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteFile::SqliteFile(const std::filesystem::path& path) : path_(path), database_(opened(path)) {
    sqlite3_busy_timeout(database_.get(), patience);
}

SqliteFile::SqliteFile() : database_(opened(":memory:")) {}

void SqliteFile::execute(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) refuse();
}

std::int64_t SqliteFile::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }

void SqliteFile::refuse() const { refuse(sqlite3_errmsg(database_.get())); }

void SqliteFile::refuse(const std::string& reason) const {
    if (path_.empty()) throw std::invalid_argument(reason);
    throw std::runtime_error("cannot write " + path_.string() + ": " + reason);
}

SqliteFile::Statement::Statement(const SqliteFile& file, std::string_view sql) : file_(file) {
    sqlite3_stmt* statement = nullptr;
    const int code =
        sqlite3_prepare_v2(file.database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    statement_.reset(statement);
    if (code != SQLITE_OK) file_.refuse();
}

void SqliteFile::Statement::bind(int position, const ResultCell& value) {
    const int code = std::visit(
        [&](const auto& held) {
            using Held = std::decay_t<decltype(held)>;
            sqlite3_stmt* const statement = statement_.get();
            if constexpr (std::is_same_v<Held, std::string>) {
                return sqlite3_bind_text64(statement, position, held.data(), held.size(), SQLITE_TRANSIENT,
                                           SQLITE_UTF8);
            } else if constexpr (std::is_same_v<Held, double>) {
                return sqlite3_bind_double(statement, position, held);
            } else if constexpr (std::is_same_v<Held, std::monostate>) {
                return sqlite3_bind_null(statement, position);
            } else {
                return sqlite3_bind_int64(statement, position, held);
            }
        },
        value);
    if (code != SQLITE_OK) file_.refuse();
}

bool SqliteFile::Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) file_.refuse();
    return code == SQLITE_ROW;
}

Statement& SqliteFile::Statement::with(std::initializer_list<ResultCell> values) {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    int position = 0;
    for (const ResultCell& value : values) bind(++position, value);
    return *this;
}

ResultCell SqliteFile::Statement::value(int column) const {
    sqlite3_stmt* const statement = statement_.get();
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER:
            return std::int64_t{sqlite3_column_int64(statement, column)};
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement, column);
        case SQLITE_NULL:
            return {};
        default: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_blob(statement, column));
            return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
        }
    }
}

}  // namespace weft
