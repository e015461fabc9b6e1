#include "tools/sweep/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

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

MergedRows merge_shards(const std::vector<std::filesystem::path>& paths) {
    Merger merger;
    for (const std::filesystem::path& path : paths) merger.add(path);
    return merger.finish();
}

}  // namespace weft
