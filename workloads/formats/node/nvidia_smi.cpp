// The matrix that `nvidia-smi topo -m` prints. Words: nvidia-smi topo -h. It says by how many NVLinks a pair of GPUs is
// joined, directly or through NVSwitches, and how near GPUs and NICs are, nothing of their kind and speed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft::formats {
namespace {

bool is_nvidia_smi_file(const SourceFile& file) {
    const std::string& text = file.text;
    if (contains(text, "XGMI") || contains(text, "ROCm") || contains(text, "<") || contains(text, "{")) return false;
    return contains(text, "GPU0") && (contains(text, "CPU Affinity") || contains(text, " X ") || contains(text, "\tX"));
}

// Nearest first; a GPU or NIC with itself is nearest of all.
constexpr std::array<std::string_view, 6> nearness{"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr std::uint32_t within_switches = 2;  // PIX, PXB

std::optional<std::uint32_t> nvlinks(std::string_view cell) {
    constexpr std::uint32_t most = 1000;
    const std::optional<std::uint32_t> links =
        cell.starts_with("NV") ? parse_as<std::uint32_t>(cell.substr(2)) : std::nullopt;
    return links.value_or(0) > most ? std::nullopt : links;
}

// Older drivers call NODE and SYS by the name that they had then.
std::uint32_t distance(std::string_view cell) {
    if (cell == "SOC") cell = "SYS";
    const auto found = std::ranges::find(nearness, cell);
    return static_cast<std::uint32_t>(found - nearness.begin());  // an NVLink: farther than all
}

bool is_cell(std::string_view cell) { return nvlinks(cell) || distance(cell) < nearness.size(); }

bool is_gpu(std::string_view name) { return name.starts_with("GPU") && name.size() > 3 && std::isdigit(name[3]) != 0; }

// Terminals underline the header.
std::string without_escapes(std::string_view line) {
    std::string text(line);
    for (std::size_t at = text.find('\x1b'); at != text.npos; at = text.find('\x1b', at))
        text.erase(at, std::min(text.find('m', at), text.size()) - at + 1);
    return text;
}

class TopologyMatrix {
  public:
    explicit TopologyMatrix(const SourceFile& file) : file_(file) {
        each_line(file.text, [&](std::string_view line, int number) {
            const std::string text = without_escapes(line);
            const std::vector<std::string_view> parts = words(text);
            read_line({parts.begin(), parts.end()}, number);
            return true;
        });
        if (columns_.empty()) fail(0, "no line names the GPUs of the matrix");
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (!is_gpu(columns_[i])) continue;
            gpus_.push_back(i);
            if (!rows_.contains(columns_[i])) fail(0, fmt::format("no row of {}", columns_[i]));
        }
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
    }

    NodeDescription node() const {
        NodeDescription node("nvidia-smi topo -m", file_);
        std::set<std::string> numa;
        for (const std::size_t gpu : gpus_) {
            node.accelerators.push_back({columns_[gpu], at(gpu, columns_[gpu])});
            numa.insert(row(gpu).numa);
        }
        node.numa_nodes = static_cast<std::uint32_t>(numa.size() - numa.count("") - numa.count("N/A"));
        node.kind_origin = node.accelerators.front().origin;
        tell_links(node);
        tell_nics(node);
        return node;
    }

  private:
    struct Row {
        int line = 0;
        std::vector<std::string> cells{};
        std::string numa{};
    };

    void read_line(const std::vector<std::string>& words, int line) {
        if (words.empty()) return;
        const bool has_cells = words.size() > 1 && is_cell(words[1]);
        if (is_gpu(words[0]) && !has_cells && columns_.empty()) return read_header(words, line);
        if (words.size() == 2 && words[0].ends_with(':'))
            nic_names_[words[0].substr(0, words[0].size() - 1)] = words[1];
        if (columns_.empty() || std::ranges::find(columns_, words[0]) == columns_.end() || rows_.contains(words[0]))
            return;
        Row& found = rows_[words[0]];
        found.line = line;
        for (std::size_t i = 1; i <= columns_.size(); ++i) {
            const std::string cell = i < words.size() ? words[i] : "";
            found.cells.push_back(cell);
            if (!is_cell(cell))
                return fail(line, fmt::format("{}: expected X, NV<n>, {} for {}, got \"{}\"", words[0],
                                              "PIX, PXB, PHB, NODE or SYS", columns_[i - 1], cell));
        }
        if (words.size() > columns_.size() + 2) found.numa = words[columns_.size() + 2];
    }

    void read_header(const std::vector<std::string>& words, int line) {
        for (const std::string& word : words) {
            if (word == "CPU" || word == "NUMA") break;  // "CPU Affinity"
            columns_.push_back(word);
        }
        check_node_size(file_.path, columns_.size(), 0);
        std::set<std::string> names(columns_.begin(), columns_.end());
        if (names.size() < columns_.size()) fail(line, "two columns have one name");
    }
    void fail(int line, std::string message) {
        errors_.push_back({.file = file_.path, .line = line, .key = {}, .message = std::move(message)});
    }
    const Row& row(std::size_t gpu) const { return rows_.at(columns_[gpu]); }
    Origin at(std::size_t gpu, std::string key) const {
        return {.file = file_.path, .line = row(gpu).line, .key = std::move(key)};
    }

    // A GPU has 18 NVLinks at most: more, as between every two of eight, are one set of links to switches.
    void tell_links(NodeDescription& node) const {
        node.set_no_links();
        std::set<std::uint32_t> counts;
        std::uint32_t most = 0;
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            for (std::size_t j = 0; j < gpus_.size(); ++j) {
                const std::uint32_t links = nvlinks(row(gpus_[i]).cells[gpus_[j]]).value_or(0);
                if (i != j) counts.insert(links);
                node.links[i][j] = links;
            }
            most = std::max(most, node.links_of(i));
        }
        node.links_origin = at(gpus_.front(), fmt::format("NV{}", counts.empty() ? 0 : *counts.rbegin()));
        constexpr std::uint32_t most_nvlinks = 18;
        if (most > most_nvlinks && counts.size() == 1) {
            most = *counts.begin();
            for (DescribedAccelerator& each : node.accelerators) each.switch_links = most;
        }
        node.kind = kind_of_nvlinks(most);
        node.kind_guess = fmt::format("{} NVLinks of one GPU", most);
    }

    void tell_nics(NodeDescription& node) const {
        for (std::size_t column = 0; column < columns_.size(); ++column) {
            if (is_gpu(columns_[column])) continue;
            DescribedNic nic;
            const auto named = nic_names_.find(columns_[column]);
            nic.name = named == nic_names_.end() ? columns_[column] : named->second;
            nic.origin = at(gpus_.front(), columns_[column]);
            for (const std::size_t gpu : gpus_) nic.distance.push_back(distance(row(gpu).cells[column]));
            nic.near_accelerator = std::ranges::min(nic.distance) <= within_switches;
            node.nics.push_back(std::move(nic));
        }
    }

    const SourceFile& file_;
    std::vector<std::string> columns_;  // GPUs and NICs
    std::vector<std::size_t> gpus_;     // which columns are those
    std::map<std::string, Row> rows_;
    std::map<std::string, std::string> nic_names_;  // of "NIC0: mlx5_0"
    std::vector<Diagnostic> errors_;
};

Import read_nvidia_smi_files(std::span<const SourceFile> files, const FormatOptions& options) {
    return make_machine(TopologyMatrix(files.front()).node(), options);
}

}  // namespace

extern const Format nvidia_smi{"nvidia-smi", "matrix of nvidia-smi topo -m", is_nvidia_smi_file, read_nvidia_smi_files,
                               "one matrix describes a node"};

}  // namespace weft::formats
