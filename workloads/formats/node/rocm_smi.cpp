// What `rocm-smi --showtopo` prints, as tables or with --json. It says which GPUs exchange by xGMI and over how many
// hops, not how many links join them, and nothing of NICs. A pair's weight is 15 per hop of xGMI; the "hops" are 1 for
// every pair that exchanges by xGMI, however far apart (ROCm/rocm-systems, AMD SMI's description of both).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft::formats {
namespace {

bool is_rocm_smi_file(const SourceFile& file) {
    return contains(file.text, "between two GPUs") || contains(file.text, "between DRM devices") ||
           contains(file.text, "(Topology) ");
}

struct SaidOfPair {
    std::uint32_t weight = 0;  // 0: not said
    bool xgmi = false;
};

class GpuTopology {
  public:
    explicit GpuTopology(const SourceFile& file) : file_(file) {
        if (is_json_object(file.text)) {
            read_json();
        } else {
            read_tables();
        }
        if (gpus_.empty() && errors_.empty()) fail(0, "names no GPU");
        if (!typed_ && errors_.empty()) fail(0, "lacks the types of links: rocm-smi --showtopo prints them");
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        check_node_size(file.path, gpus_.size(), 0);
    }

    NodeDescription node() const {
        NodeDescription node("rocm-smi --showtopo", file_);
        node.family = LinkFamily::infinity_fabric;
        node.numa_nodes = static_cast<std::uint32_t>(numa_nodes_.size());
        node.counts_known = false;
        node.links_origin = {.file = file_.path, .line = typed_line_, .key = "XGMI"};
        node.kind_origin = in_file(file_.path, "GPUs");
        std::map<std::uint32_t, std::size_t> place;
        for (const std::uint32_t gpu : gpus_) {
            place.emplace(gpu, place.size());
            const std::string name = fmt::format("GPU{}", gpu);
            node.accelerators.push_back({name, {.file = file_.path, .line = typed_line_, .key = name}});
        }
        std::uint32_t one_hop = std::numeric_limits<std::uint32_t>::max();
        for (const auto& [gpus, pair] : pairs_) {
            if (pair.xgmi) one_hop = std::min(one_hop, pair.weight);
        }
        node.set_no_links();
        for (const auto& [gpus, pair] : pairs_) {
            if (!pair.xgmi || pair.weight != one_hop) continue;
            const std::size_t a = place.at(gpus.first), b = place.at(gpus.second);
            node.links[a][b] = node.links[b][a] = 1;
        }
        node.kind = contains(file_.text, "GFX Version") ? kind_of_product(file_.text) : nullptr;
        if (node.kind != nullptr) return node;
        node.kind = kind_by(node.links);
        node.kind_guess = fmt::format("{} GPUs with such links", gpus_.size());
        return node;
    }

  private:
    enum class Part : std::uint8_t { other, weight, type };

    static Part part_of(std::string_view title, std::string_view type) {
        return contains(title, "Weight") ? Part::weight : contains(title, type) ? Part::type : Part::other;
    }

    // "(Topology) Weight between DRM devices 0 and 1": "15", one key per pair.
    void read_json() {
        Document document = Document::parse(file_.path, file_.text);
        Field root = document.root();
        constexpr std::string_view middle = "between DRM devices ", conjunction = " and ";
        constexpr int most_mistakes = 100;
        int mistakes = 0;
        for (const std::string& part_name : root.keys()) {
            if (!root.is_object(part_name)) continue;
            Field part = root.object(part_name);
            if (const auto gpu = parse_as<std::uint32_t>(part_name.starts_with("card") ? part_name.substr(4) : ""))
                gpus_.insert(*gpu);
            for (const std::string& key : part.keys()) {
                const std::string value = part.is_text(key) ? part.text(key) : part.member(key).as_json();
                if (contains(key, "Numa Node")) numa_nodes_.insert(value);
                const std::size_t at = key.find(middle), numbers = at + middle.size();
                const std::size_t word = at == key.npos ? key.npos : key.find(conjunction, numbers);
                if (word == key.npos) continue;
                const auto a = parse_as<std::uint32_t>(std::string_view(key).substr(numbers, word - numbers));
                const auto b = parse_as<std::uint32_t>(std::string_view(key).substr(word + conjunction.size()));
                std::string mistake = a && b ? put(part_of(key, "ype between"), *a, *b, value, 0)
                                             : fmt::format("expected the numbers of two devices in \"{}\"", key);
                if (mistake.empty()) continue;
                part.error(key, std::move(mistake));
                if (++mistakes == most_mistakes) document.check();
            }
        }
        document.check();
    }

    void read_tables() {
        Part part = Part::other;
        each_line(file_.text, [&](std::string_view line, int number) {
            if (contains(line, "===") || contains(line, "between two GPUs")) {
                part = part_of(line, "Type");
                columns_.clear();
                return true;
            }
            // "GPU[0]      : (Topology) Numa Node: 0"
            if (contains(line, "Numa Node:")) numa_nodes_.emplace(line.substr(line.rfind(':') + 1));
            const std::vector<std::string_view> row = words(line);
            if (!row.empty() && row[0].starts_with("GPU") && !row[0].starts_with("GPU[")) read_row(part, row, number);
            return true;
        });
    }

    void read_row(Part part, const std::vector<std::string_view>& words, int line) {
        const bool header = words.size() == 1 ? columns_.empty() : words[1].starts_with("GPU");
        if (header) {
            columns_.clear();
            for (const std::string_view word : words) {
                const auto gpu = word.starts_with("GPU") ? parse_as<std::uint32_t>(word.substr(3)) : std::nullopt;
                if (!gpu) return fail(line, fmt::format("expected the number of a GPU, got \"{}\"", word));
                columns_.push_back(*gpu);
            }
            return check_node_size(file_.path, columns_.size(), 0);
        }
        const auto gpu = parse_as<std::uint32_t>(words[0].substr(3));
        if (!gpu || words.size() != columns_.size() + 1) {
            return fail(line,
                        fmt::format("expected a row of {} values of a GPU, got {}", columns_.size(), words.size() - 1));
        }
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (std::string mistake = put(part, *gpu, columns_[i], words[i + 1], line); !mistake.empty())
                fail(line, std::move(mistake));
        }
    }

    // What is wrong with the value; empty if nothing is.
    std::string put(Part part, std::uint32_t a, std::uint32_t b, std::string_view value, int line) {
        gpus_.insert({a, b});
        if (part == Part::other || a == b) return {};
        SaidOfPair& pair = pairs_[std::minmax(a, b)];
        if (part == Part::type) {
            if (!typed_) typed_line_ = line;
            typed_ = true;
            if (value != "XGMI" && value != "PCIE" && value != "N/A")
                return fmt::format("expected XGMI or PCIE between GPU {} and GPU {}, got \"{}\"", a, b, value);
            pair.xgmi = pair.xgmi || value == "XGMI";
            return {};
        }
        const std::optional<std::uint32_t> weight = parse_as<std::uint32_t>(value);
        if (!weight && value != "N/A")
            return fmt::format("expected a weight between GPU {} and GPU {}, got \"{}\"", a, b, value);
        pair.weight = weight.value_or(0);
        return {};
    }
    void fail(int line, std::string message) {
        errors_.push_back({.file = file_.path, .line = line, .key = {}, .message = std::move(message)});
    }

    // What has so many dies and such links.
    static const AcceleratorKind* kind_by(const LinkCounts& links) {
        std::size_t joined = 0;
        for (const std::vector<std::uint32_t>& row : links)
            joined += static_cast<std::size_t>(std::ranges::count(row, 1U));
        const std::size_t dies = links.size();
        const bool all = joined == dies * (dies - 1);
        return dies == 8 && all          ? kind_of_product("MI300X")
               : dies == 4 && all        ? kind_of_product("MI300A")
               : dies == 8 && joined > 0 ? kind_of_product("MI250X")
                                         : nullptr;
    }

    const SourceFile& file_;
    std::vector<std::uint32_t> columns_;
    std::set<std::uint32_t> gpus_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, SaidOfPair> pairs_;
    std::set<std::string> numa_nodes_;
    bool typed_ = false;
    int typed_line_ = 0;
    std::vector<Diagnostic> errors_;
};

Import read_rocm_smi_files(std::span<const SourceFile> files, const FormatOptions& options) {
    return make_machine(GpuTopology(files.front()).node(), options);
}

}  // namespace

extern const Format rocm_smi{"rocm-smi", "topology of rocm-smi --showtopo", is_rocm_smi_file, read_rocm_smi_files,
                             "one file describes a node"};

}  // namespace weft::formats
