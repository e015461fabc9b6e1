// The matrix that `nvidia-smi topo -m` prints. Words: nvidia-smi topo -h. It says by how many NVLinks a pair of GPUs is
// joined, directly or through NVSwitches, and how near GPUs and NICs are, nothing of their kind and speed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "workloads/formats/node/node_description.hpp"

namespace weft::formats {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool recognises(const SourceFile& file) {
    const std::string& text = file.text;
    if (contains(text, "XGMI") || contains(text, "ROCm") || contains(text, "<") || contains(text, "{")) return false;
    return contains(text, "GPU0") && (contains(text, "CPU Affinity") || contains(text, " X ") || contains(text, "\tX"));
}

// Nearest first; a GPU or NIC with itself is nearest of all.
constexpr std::array<std::string_view, 6> ways{"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr std::uint32_t within_switches = 2;  // PIX, PXB

std::optional<std::uint32_t> nvlinks(std::string_view cell) {
    if (!cell.starts_with("NV")) return std::nullopt;
    std::uint32_t links = 0;
    const auto [end, error] = std::from_chars(cell.data() + 2, cell.data() + cell.size(), links);
    constexpr std::uint32_t most = 1000;
    if (error != std::errc() || end != cell.data() + cell.size() || links > most) return std::nullopt;
    return links;
}

// Older drivers call NODE and SYS by the name that they had then.
std::uint32_t distance(std::string_view cell) {
    if (cell == "SOC") cell = "SYS";
    return static_cast<std::uint32_t>(std::ranges::find(ways, cell) - ways.begin());  // an NVLink: farther than all
}

bool is_cell(std::string_view cell) { return nvlinks(cell) || distance(cell) < ways.size(); }

// Terminals underline the header.
std::string without_escapes(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            text += line[i];
            continue;
        }
        while (i + 1 < line.size() && line[i] != 'm') ++i;
    }
    return text;
}

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    const std::string text = without_escapes(line);
    constexpr std::string_view blank = " \t\r";
    for (std::size_t begin = text.find_first_not_of(blank); begin != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(blank, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(blank, end);
    }
    return words;
}

bool is_gpu(std::string_view name) { return name.starts_with("GPU") && name.size() > 3 && std::isdigit(name[3]) != 0; }

class TopologyMatrix {
  public:
    explicit TopologyMatrix(const SourceFile& file) : file_(file) {
        const std::string_view text = file.text;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            ++line_;
            read_line(words_of(text.substr(begin, end - begin)));
            begin = end + 1;
        }
        if (columns_.empty()) fail(0, "no line names the GPUs of the matrix");
        for (const std::string& column : columns_) {
            if (!columns_.empty() && is_gpu(column) && !rows_.contains(column))
                fail(0, fmt::format("no row of {}", column));
        }
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
    }

    NodeDescription node() const;

  private:
    struct Row {
        int line = 0;
        std::vector<std::string> cells;
        std::string numa;
    };

    void read_line(const std::vector<std::string>& words);
    void read_header(const std::vector<std::string>& words);
    void fail(int line, std::string message) {
        errors_.push_back({.file = file_.path, .line = line, .key = {}, .message = std::move(message)});
    }
    std::vector<std::size_t> gpu_columns() const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (is_gpu(columns_[i])) found.push_back(i);
        }
        return found;
    }
    Origin at(const std::string& row, std::string key) const {
        return {.file = file_.path, .line = rows_.at(row).line, .key = std::move(key)};
    }
    void tell_links(NodeDescription& node) const;
    void tell_nics(NodeDescription& node) const;

    const SourceFile& file_;
    int line_ = 0;
    std::vector<std::string> columns_;
    std::map<std::string, Row> rows_;
    std::map<std::string, std::string> nic_names_;  // of the legend
    std::vector<Diagnostic> errors_;
};

void TopologyMatrix::read_header(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "CPU" || word == "NUMA") break;  // "CPU Affinity"
        columns_.push_back(word);
    }
    check_node_size(file_.path, columns_.size(), 0);
    std::set<std::string> names(columns_.begin(), columns_.end());
    if (names.size() < columns_.size()) fail(line_, "two columns have one name");
}

void TopologyMatrix::read_line(const std::vector<std::string>& words) {
    if (words.empty()) return;
    const bool row = words.size() > 1 && is_cell(words[1]);
    if (is_gpu(words[0]) && !row && columns_.empty()) return read_header(words);
    if (words.size() == 2 && words[0].ends_with(':')) nic_names_[words[0].substr(0, words[0].size() - 1)] = words[1];
    if (columns_.empty() || std::ranges::find(columns_, words[0]) == columns_.end() || rows_.contains(words[0])) return;
    Row& found = rows_[words[0]];
    found.line = line_;
    for (std::size_t i = 1; i <= columns_.size(); ++i) {
        const std::string cell = i < words.size() ? words[i] : "";
        found.cells.push_back(cell);
        if (!is_cell(cell))
            return fail(line_, fmt::format("{}: expected X, NV<n>, {} for {}, got \"{}\"", words[0],
                                           "PIX, PXB, PHB, NODE or SYS", columns_[i - 1], cell));
    }
    if (words.size() > columns_.size() + 2) found.numa = words[columns_.size() + 2];
}

// A GPU has 18 NVLinks at most: more, as between every two of eight, are one set of links to switches.
void TopologyMatrix::tell_links(NodeDescription& node) const {
    const std::vector<std::size_t> gpus = gpu_columns();
    node.links = node.no_links();
    std::set<std::uint32_t> counts;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        for (std::size_t j = 0; j < gpus.size(); ++j) {
            const std::uint32_t links = nvlinks(rows_.at(columns_[gpus[i]]).cells[gpus[j]]).value_or(0);
            if (i != j) counts.insert(links);
            node.links[i][j] = links;
        }
        most = std::max(most, node.links_of(i));
    }
    node.links_origin = at(columns_[gpus.front()], fmt::format("NV{}", counts.empty() ? 0 : *counts.rbegin()));
    constexpr std::uint32_t most_nvlinks = 18;
    if (most > most_nvlinks && counts.size() == 1) {
        most = *counts.begin();
        for (DescribedAccelerator& each : node.accelerators) each.switch_links = most;
    }
    node.kind = kind_of_nvlinks(most);
    node.kind_guess = fmt::format("{} NVLinks of one GPU", most);
}

void TopologyMatrix::tell_nics(NodeDescription& node) const {
    const std::vector<std::size_t> gpus = gpu_columns();
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        if (is_gpu(columns_[column])) continue;
        DescribedNic nic;
        const auto named = nic_names_.find(columns_[column]);
        nic.name = named == nic_names_.end() ? columns_[column] : named->second;
        nic.origin = at(columns_[gpus.front()], columns_[column]);
        for (const std::size_t gpu : gpus) nic.distance.push_back(distance(rows_.at(columns_[gpu]).cells[column]));
        nic.near_accelerator = std::ranges::min(nic.distance) <= within_switches;
        node.nics.push_back(std::move(nic));
    }
}

NodeDescription TopologyMatrix::node() const {
    NodeDescription node;
    node.tool = "nvidia-smi topo -m";
    node.path = file_.path;
    node.file = std::string(file_.name());
    std::set<std::string> numa;
    for (const std::size_t gpu : gpu_columns()) {
        const Row& row = rows_.at(columns_[gpu]);
        node.accelerators.push_back({columns_[gpu], at(columns_[gpu], columns_[gpu]), 0, 0, {}});
        if (!row.numa.empty() && row.numa != "N/A") numa.insert(row.numa);
    }
    node.numa_nodes = static_cast<std::uint32_t>(numa.size());
    node.kind_origin = node.accelerators.front().origin;
    tell_links(node);
    tell_nics(node);
    return node;
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1)
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "one matrix describes a node"}});
    Import import;
    make_machine(import, TopologyMatrix(files.front()).node(), options);
    return import;
}

}  // namespace

extern const Format nvidia_smi;
const Format nvidia_smi{"nvidia-smi", "matrix of nvidia-smi topo -m", recognises, read};

}  // namespace weft::formats
