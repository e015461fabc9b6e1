#include "tools/sweep/sweep.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "sim/base/enumerators.hpp"
#include "sim/io/files.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view mark = "rows of a sweep";
constexpr int layout = 2;  // of the lines

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

// CRC-32, which tells any change within four bytes of one another, and others but for one in four billion.
std::string checksum_of(std::string_view text) {
    const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());  // NOLINT: zlib's own type of bytes
    return fmt::format("{:08x}", crc32_z(0, bytes, text.size()));
}

ColumnKind kind_called(const std::string& name) {
    if (const auto kind = enumerator_called<ColumnKind>(name)) return *kind;
    throw std::invalid_argument("no kind of column is called \"" + name + "\"");
}

// Throws nlohmann's exceptions and std::invalid_argument.
RowHeader parse_header(std::string_view line) {
    const Json json = Json::parse(line);
    if (json.at("weft").get<std::string>() != mark) throw std::invalid_argument("no rows of a sweep");
    if (json.at("layout") != layout) throw std::invalid_argument("rows of another version of weft");
    Json plain = json;
    plain.erase("checksum");
    if (json.at("checksum").get<std::string>() != checksum_of(line_of(plain))) {
        throw std::invalid_argument("the checksum is that of another line");
    }
    RowHeader header;
    header.job = json.at("job").get<std::string>();
    for (const auto& [name, digest] : json.at("inputs").items()) {
        header.inputs.parts.emplace_back(name, digest.get<std::string>());
    }
    if (!json.at("points").is_number_unsigned()) throw std::invalid_argument("no number of rows");
    header.points = json.at("points").get<std::size_t>();
    header.shard = parse_shard(json.at("shard").get<std::string>());
    for (const Json& column : json.at("columns")) {
        header.columns.push_back({.name = column.at(0).get<std::string>(),
                                  .unit = column.at(1).get<std::string>(),
                                  .meaning = column.at(2).get<std::string>(),
                                  .kind = kind_called(column.at(3).get<std::string>())});
    }
    return header;
}

void add_row(RowFile& file, std::string_view line) {
    auto [number, row] = parse_row(line);
    const RowHeader& header = file.header;
    if (number >= header.points || number % header.shard.of != header.shard.number - 1) {
        throw std::invalid_argument(fmt::format("row {} is none of this file", number));
    }
    if (row.size() != header.columns.size()) {
        throw std::invalid_argument(fmt::format("{} cells for {} columns", row.size(), header.columns.size()));
    }
    if (!file.rows.emplace(number, std::move(row)).second) {
        throw std::invalid_argument(fmt::format("row {} a second time", number));
    }
}

class Merger {
  public:
    void add(const std::filesystem::path& path) {
        RowFile file;
        try {
            file = read_row_file(path);
        } catch (const ConfigError& error) {
            errors_.insert(errors_.end(), error.diagnostics().begin(), error.diagnostics().end());
            return;
        }
        errors_.insert(errors_.end(), file.damaged.begin(), file.damaged.end());
        const SweepShard shard = file.header.shard;
        if (file.whole_bytes == 0) return refuse(path, "no rows of a sweep");
        if (!is_complete(file)) {
            return refuse(path, fmt::format("not complete: {} of {} rows; --resume goes on", file.rows.size(),
                                            rows_of(file.header.points, shard)));
        }
        if (first_.empty()) {
            first_ = path;
            header_ = file.header;
        } else if (file.header.inputs != header_.inputs) {
            return refuse(path, fmt::format("of other inputs than {} ({})", first_.string(),
                                            file.header.inputs.difference(header_.inputs)));
        } else if (shard.of != header_.shard.of) {
            return refuse(path, fmt::format("one of {} shards, but {} is one of {}", shard.of, first_.string(),
                                            header_.shard.of));
        }
        const auto [known, is_new] = shards_.emplace(shard.number, path);
        if (!is_new) return refuse(path, fmt::format("shard {} as {} is", shard.number, known->second.string()));
        rows_.merge(file.rows);
    }

    MergedRows finish() {
        if (errors_.empty() && !first_.empty() && shards_.size() < header_.shard.of) {
            refuse(first_, fmt::format("of {} shards, these are missing: {}", header_.shard.of, missing_shards()));
        }
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        MergedRows merged{
            .job = header_.job, .inputs = header_.inputs, .table = {.columns = header_.columns, .rows = {}}};
        for (auto& [number, row] : rows_) merged.table.rows.push_back(std::move(row));
        return merged;
    }

  private:
    // The first ones by name.
    std::string missing_shards() const {
        constexpr std::size_t most = 20;
        const std::size_t missing = header_.shard.of - shards_.size();
        std::vector<std::uint32_t> named;
        for (std::uint32_t number = 1; named.size() < std::min(missing, most); ++number) {
            if (!shards_.contains(number)) named.push_back(number);
        }
        const std::string text = fmt::format("{}", fmt::join(named, ", "));
        return named.size() == missing ? text : fmt::format("{} and {} more", text, missing - named.size());
    }

    void refuse(const std::filesystem::path& path, std::string reason) {
        errors_.push_back({.file = path.string(), .key = {}, .message = std::move(reason)});
    }

    std::filesystem::path first_;
    RowHeader header_;  // of the first
    std::map<std::uint32_t, std::filesystem::path> shards_;
    RowsByNumber rows_;
    std::vector<Diagnostic> errors_;
};

}  // namespace

std::string header_line(const RowHeader& header) {
    Json json{{"weft", mark}, {"layout", layout}, {"job", header.job}, {"inputs", Json::object()}};
    for (const auto& [name, digest] : header.inputs.parts) json["inputs"][name] = digest;
    json["points"] = header.points;
    json["shard"] = fmt::format("{}/{}", header.shard.number, header.shard.of);
    json["columns"] = Json::array();
    for (const Column& column : header.columns) {
        const std::string_view kind = enumerator_name(column.kind);
        json["columns"].push_back(Json::array({column.name, column.unit, column.meaning, kind}));
    }
    json["checksum"] = checksum_of(line_of(json));
    return line_of(json);
}

std::string row_line(std::size_t number, const Row& row) {
    std::string text = fmt::to_string(number);
    for (const ResultCell& cell : row) text += ',' + cell_json(cell);
    return fmt::format("[\"{}\",{}]\n", checksum_of(text), text);
}

std::pair<std::size_t, Row> parse_row(std::string_view line) {
    constexpr std::size_t before = 12;  // ["01234567",
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.size() <= before || !line.ends_with(']')) throw std::invalid_argument("no row");
    const std::string_view text = line.substr(before, line.size() - before - 1);
    if (line.substr(0, before) != fmt::format("[\"{}\",", checksum_of(text))) {
        throw std::invalid_argument("the checksum is that of another row");
    }
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_array() || json.size() < 2 || !json[1].is_number_unsigned()) throw std::invalid_argument("no row");
    Row row;
    for (std::size_t i = 2; i < json.size(); ++i) {
        if (json[i].is_structured()) throw std::invalid_argument("a list or an object in a row");
        row.push_back(cell_of_json(json[i].dump()));
    }
    return {json[1].get<std::size_t>(), std::move(row)};
}

RowFile read_row_file(const std::filesystem::path& path) {
    constexpr std::size_t longest = std::size_t{16} << 30;  // rows of sweeps are many, and written by us
    const std::string text = read_text(path, longest);
    RowFile file;
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        ++number;
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos) break;  // torn: the process was stopped while it wrote
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        begin = end + 1;
        try {
            if (number == 1) {
                file.header = parse_header(line);
            } else {
                add_row(file, line);
            }
        } catch (const std::exception& error) {  // of nlohmann's, or ours
            file.damaged.push_back({.file = path.string(),
                                    .line = number,
                                    .column = 1,
                                    .key = {},
                                    .message = fmt::format("damaged, or not written by weft sweep: {}", error.what())});
            if (number == 1) throw ConfigError(file.damaged);
        }
        file.whole_bytes = begin;
    }
    return file;
}

std::size_t rows_of(std::size_t points, SweepShard shard) { return (points + shard.of - shard.number) / shard.of; }

bool is_complete(const RowFile& file) {
    return file.whole_bytes > 0 && file.rows.size() == rows_of(file.header.points, file.header.shard);
}

MergedRows merge_shards(const std::vector<std::filesystem::path>& paths) {
    Merger merger;
    for (const std::filesystem::path& path : paths) merger.add(path);
    return merger.finish();
}

}  // namespace weft
