// Rows of a sweep on disk, complete or not: the journal of a sweep under way, and the result of a shard. JSON Lines: a
// header, then one list per row: a checksum of what follows it, the row's number, its cells. Lines are only ever added,
// so that a crash costs the last ones at most; a line that changed on the disk costs its own row.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/output/result_table.hpp"
#include "tools/sweep/request.hpp"

namespace weft {

using Row = std::vector<ResultCell>;
using RowsByNumber = std::map<std::size_t, Row>;  // from 0, in the order of the whole sweep's table

struct RowHeader {
    std::string job;  // its name
    SweepInputs inputs;
    std::size_t points = 0;  // of the whole sweep
    SweepShard shard;
    std::vector<Column> columns;
};

struct RowFile {
    RowHeader header;
    RowsByNumber rows;
    std::size_t whole_bytes = 0;           // up to the end of the last whole line; 0: not even the header is whole
    std::vector<Diagnostic> damaged = {};  // lines that are no whole rows of this file
};

// One line each, with its end.
std::string header_line(const RowHeader& header);
std::string row_line(std::size_t number, const Row& row);
// The reverse; throws std::invalid_argument for a text that row_line() does not give.
std::pair<std::size_t, Row> parse_row(std::string_view line);

// Drops a last line that was not written to its end, and tells of others that are damaged: their checksum is another; a
// row number twice or beyond the header's points, a row of another length than its columns. Throws ConfigError: no such
// file, or the header is damaged.
RowFile read_row_file(const std::filesystem::path& path);

// Whether the shard, or the whole sweep, has all its rows.
bool is_complete(const RowFile& file);
// How many rows a shard has.
std::size_t rows_of(std::size_t points, SweepShard shard);

// One table of the shards of a sweep.
struct MergedRows {
    std::string job;
    SweepInputs inputs;
    ResultTable table;
};

// Throws ConfigError with every mistake: files that are no shards, not complete, of other inputs or another number of
// shards than the first; shards twice or missing.
MergedRows merge_shards(const std::vector<std::filesystem::path>& paths);

}  // namespace weft
