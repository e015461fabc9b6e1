// What `rocm-smi --showtopo` prints, as tables or with --json. It says which GPUs exchange by xGMI and over how many
// hops, not how many links join them, and nothing of NICs. A pair's weight is 15 per hop of xGMI; the "hops" are 1 for
// every pair that exchanges by xGMI, however far apart (ROCm/rocm-systems, AMD SMI's description of both).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "workloads/formats/node/node_description.hpp"

namespace weft::formats {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool recognises(const SourceFile& file) {
    return contains(file.text, "between two GPUs") || contains(file.text, "between DRM devices") ||
           contains(file.text, "(Topology) ");
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

struct PairSaying {
    std::uint32_t weight = 0;  // 0: not said
    bool xgmi = false;
};

class GpuTopology {
  public:
    explicit GpuTopology(const SourceFile& file) : file_(file) {
        const std::size_t first = file.text.find_first_not_of(" \t\r\n");
        if (first != std::string::npos && file.text[first] == '{') {
            read_json();
        } else {
            read_tables();
        }
        if (gpus_.empty() && errors_.empty()) fail(0, "names no GPU");
        if (!typed_ && errors_.empty()) fail(0, "lacks the types of links: rocm-smi --showtopo prints them");
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        check_node_size(file.path, gpus_.size(), 0);
    }

    NodeDescription node() const;

  private:
    enum class Part : std::uint8_t { other, weight, type };

    void read_json();
    void read_tables();
    void read_row(Part part, const std::vector<std::string>& words);
    void read_numa(std::string_view line);
    std::string put(Part part, std::uint32_t a, std::uint32_t b, std::string_view value);
    void fail(int line, std::string message) {
        errors_.push_back({.file = file_.path, .line = line, .key = {}, .message = std::move(message)});
    }
    const AcceleratorKind* kind(const LinkCounts& links) const;

    const SourceFile& file_;
    int line_ = 0;
    std::vector<std::uint32_t> columns_;
    std::set<std::uint32_t> gpus_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, PairSaying> pairs_;
    std::set<std::string> numa_nodes_;
    bool typed_ = false;
    int typed_line_ = 0;
    std::vector<Diagnostic> errors_;
};

// What is wrong with the value; empty if nothing is.
std::string GpuTopology::put(Part part, std::uint32_t a, std::uint32_t b, std::string_view value) {
    gpus_.insert(a);
    gpus_.insert(b);
    if (part == Part::other || a == b) return {};
    PairSaying& pair = pairs_[std::minmax(a, b)];
    if (part == Part::type) {
        if (!typed_) typed_line_ = line_;
        typed_ = true;
        if (value != "XGMI" && value != "PCIE" && value != "N/A")
            return fmt::format("expected XGMI or PCIE between GPU {} and GPU {}, got \"{}\"", a, b, value);
        pair.xgmi = pair.xgmi || value == "XGMI";
        return {};
    }
    const std::optional<std::uint32_t> weight = whole_number(value);
    if (!weight && value != "N/A")
        return fmt::format("expected a weight between GPU {} and GPU {}, got \"{}\"", a, b, value);
    pair.weight = weight.value_or(0);
    return {};
}

// "(Topology) Weight between DRM devices 0 and 1": "15", one key per pair.
void GpuTopology::read_json() {
    Document document = Document::parse(file_.path, file_.text);
    Field root = document.root();
    constexpr std::string_view middle = "between DRM devices ";
    constexpr int most_mistakes = 100;
    int mistakes = 0;
    for (const std::string& part_name : root.keys()) {
        if (!root.is_object(part_name)) continue;
        Field part = root.object(part_name);
        if (const auto gpu = whole_number(part_name.starts_with("card") ? part_name.substr(4) : "")) gpus_.insert(*gpu);
        for (const std::string& key : part.keys()) {
            const std::string value = part.is_text(key) ? part.text(key) : part.member(key).as_json();
            if (contains(key, "Numa Node")) numa_nodes_.insert(value);
            const std::size_t at = key.find(middle);
            if (at == std::string::npos) continue;
            const std::size_t numbers = at + middle.size(), word = key.find(" and ", numbers);
            if (word == std::string::npos) continue;
            const auto a = whole_number(std::string_view(key).substr(numbers, word - numbers));
            const auto b = whole_number(std::string_view(key).substr(word + 5));
            std::string mistake = fmt::format("expected the numbers of two devices in \"{}\"", key);
            if (a && b) {
                const bool type = contains(key, "ype between");
                mistake = put(contains(key, "Weight") ? Part::weight : type ? Part::type : Part::other, *a, *b, value);
            }
            if (mistake.empty()) continue;
            part.error(key, std::move(mistake));
            if (++mistakes == most_mistakes) document.check();
        }
    }
    document.check();
}

// "GPU[0]      : (Topology) Numa Node: 0"
void GpuTopology::read_numa(std::string_view line) {
    if (contains(line, "Numa Node:")) numa_nodes_.insert(std::string(line.substr(line.rfind(':') + 1)));
}

void GpuTopology::read_tables() {
    std::istringstream lines(file_.text);
    Part part = Part::other;
    for (std::string line; std::getline(lines, line);) {
        ++line_;
        if (contains(line, "===") || contains(line, "between two GPUs")) {
            part = contains(line, "Weight") ? Part::weight : contains(line, "Type") ? Part::type : Part::other;
            columns_.clear();
            continue;
        }
        read_numa(line);
        std::istringstream words(line);
        std::vector<std::string> row;
        for (std::string word; words >> word;) row.push_back(std::move(word));
        if (!row.empty() && row[0].starts_with("GPU") && !row[0].starts_with("GPU[")) read_row(part, row);
    }
}

void GpuTopology::read_row(Part part, const std::vector<std::string>& words) {
    const auto number_of = [&](const std::string& word) { return whole_number(std::string_view(word).substr(3)); };
    const bool header = words.size() == 1 ? columns_.empty() : words[1].starts_with("GPU");
    if (header) {
        columns_.clear();
        for (const std::string& word : words) {
            const auto gpu = word.starts_with("GPU") ? number_of(word) : std::nullopt;
            if (!gpu) return fail(line_, fmt::format("expected the number of a GPU, got \"{}\"", word));
            columns_.push_back(*gpu);
        }
        return check_node_size(file_.path, columns_.size(), 0);
    }
    const auto gpu = number_of(words[0]);
    if (!gpu || words.size() != columns_.size() + 1) {
        return fail(line_,
                    fmt::format("expected a row of {} values of a GPU, got {}", columns_.size(), words.size() - 1));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (std::string mistake = put(part, *gpu, columns_[i], words[i + 1]); !mistake.empty())
            fail(line_, std::move(mistake));
    }
}

// What the file names, or else what has so many dies and such links.
const AcceleratorKind* GpuTopology::kind(const LinkCounts& links) const {
    std::size_t joined = 0;
    for (const std::vector<std::uint32_t>& row : links) joined += static_cast<std::size_t>(std::ranges::count(row, 1U));
    const std::size_t dies = links.size();
    if (dies == 8 && joined == dies * (dies - 1)) return kind_of_model("MI300X");
    if (dies == 4 && joined == dies * (dies - 1)) return kind_of_model("MI300A");
    if (dies == 8 && joined > 0) return kind_of_model("MI250X");
    return nullptr;
}

NodeDescription GpuTopology::node() const {
    NodeDescription node;
    node.tool = "rocm-smi --showtopo";
    node.path = file_.path;
    node.file = std::string(file_.name());
    node.family = LinkFamily::infinity_fabric;
    node.numa_nodes = static_cast<std::uint32_t>(numa_nodes_.size());
    node.counts_known = false;
    node.links_origin = {.file = file_.path, .line = typed_line_, .key = "XGMI"};
    node.kind_origin = {.file = file_.path, .line = 0, .key = "GPUs"};
    for (const std::uint32_t gpu : gpus_) {
        node.accelerators.push_back({fmt::format("GPU{}", gpu),
                                     {.file = file_.path, .line = typed_line_, .key = fmt::format("GPU{}", gpu)},
                                     0,
                                     0,
                                     {}});
    }
    std::uint32_t one_hop = std::numeric_limits<std::uint32_t>::max();
    for (const auto& [gpus, pair] : pairs_) {
        if (pair.xgmi) one_hop = std::min(one_hop, pair.weight);
    }
    node.links = node.no_links();
    const auto index = [&](std::uint32_t gpu) {
        return static_cast<std::size_t>(std::distance(gpus_.begin(), gpus_.find(gpu)));
    };
    for (const auto& [gpus, pair] : pairs_) {
        if (!pair.xgmi || pair.weight != one_hop) continue;
        node.links[index(gpus.first)][index(gpus.second)] = 1;
        node.links[index(gpus.second)][index(gpus.first)] = 1;
    }
    const std::size_t product = file_.text.find("GFX Version");
    node.kind = kind_of_model(product == std::string::npos ? std::string_view{} : std::string_view(file_.text));
    if (node.kind != nullptr) return node;
    node.kind = kind(node.links);
    node.kind_guess = fmt::format("{} GPUs with such links", gpus_.size());
    return node;
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1)
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "one file describes a node"}});
    Import import;
    make_machine(import, GpuTopology(files.front()).node(), options);
    return import;
}

}  // namespace

extern const Format rocm_smi;
const Format rocm_smi{"rocm-smi", "topology of rocm-smi --showtopo", recognises, read};

}  // namespace weft::formats
