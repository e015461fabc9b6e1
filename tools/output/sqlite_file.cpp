#include "tools/output/sqlite_file.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <type_traits>

namespace weft {
namespace {

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

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void SqliteFile::Statement::Finish::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteFile::SqliteFile(const std::filesystem::path& path) : path_(path), database_(opened(path)) {
    sqlite3_busy_timeout(database_.get(), patience);
}

void SqliteFile::execute(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) refuse();
}

std::int64_t SqliteFile::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }

void SqliteFile::refuse() const { refuse(sqlite3_errmsg(database_.get())); }

void SqliteFile::refuse(const std::string& reason) const {
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

void SqliteFile::Statement::reset() {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
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
