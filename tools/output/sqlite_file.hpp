// SQLite's C interface with owners and exceptions. What goes wrong is a std::runtime_error with the file and the
// reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace weft {

class SqliteFile {
  public:
    explicit SqliteFile(const std::filesystem::path& path);  // made, empty, where there is none

    void execute(const std::string& sql);  // one or several statements without values
    std::int64_t last_row() const;         // the rowid of what was inserted last

    [[noreturn]] void refuse() const;                           // with SQLite's reason for the last failure
    [[noreturn]] void refuse(const std::string& reason) const;  // with ours

    // A statement with values for its question marks, and the rows that it gives.
    class Statement {
      public:
        Statement(const SqliteFile& file, std::string_view sql);
        void bind(int position, const ResultCell& value);  // from 1
        bool step();  // to the next row; false: there is none. Then reset() runs it anew
        void reset();
        ResultCell value(int column) const;  // of the row; from 0

      private:
        struct Finish {
            void operator()(sqlite3_stmt* statement) const;
        };
        const SqliteFile& file_;
        std::unique_ptr<sqlite3_stmt, Finish> statement_;
    };

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace weft
