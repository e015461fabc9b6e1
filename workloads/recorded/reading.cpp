#include "workloads/recorded/reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/texts.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {

RecordedRank& RecordedReading::begin_rank(std::uint32_t number, const ByteSource& source) {
    if (number >= most_recorded_ranks)
        source.refuse(fmt::format("rank {}: at most {} ranks", number, most_recorded_ranks));
    if (number >= program.ranks.size()) program.ranks.resize(number + 1);
    RecordedRank& rank = program.ranks[number];
    if (!rank.file.empty()) {
        mistakes.add(
            {.file = source.name(), .key = {}, .message = fmt::format("rank {} is in {}, too", number, rank.file)});
    }
    rank = {};
    rank.file = source.name();
    return rank;
}

std::uint32_t RecordedReading::group(const std::vector<std::uint32_t>& ranks) {
    if (ranks.empty()) return 0;
    const auto [known, is_new] = group_ids.try_emplace(ranks, static_cast<std::uint32_t>(program.groups.size()));
    if (is_new) program.groups.push_back(ranks);
    return known->second;
}

std::uint32_t RecordedReading::undefined_group(const std::string& called) {
    for (const auto& [number, name] : program.undefined_groups) {
        if (name == called) return number;
    }
    const auto number = static_cast<std::uint32_t>(program.groups.size());
    program.groups.emplace_back();
    program.undefined_groups.emplace(number, called);
    return number;
}

std::uint16_t RecordedReading::unit(RecordedRank& rank, std::string_view name, bool is_host) {
    const auto known = std::ranges::find(rank.units, name, &RecordedUnit::name);
    if (known == rank.units.end()) rank.units.push_back({std::string(name), is_host});
    return static_cast<std::uint16_t>(std::ranges::find(rank.units, name, &RecordedUnit::name) - rank.units.begin());
}

void RecordedReading::add(RecordedRank& rank, const RecordedNode& node, const ByteSource& source) {
    if (++nodes > most_recorded_nodes) {
        source.refuse(fmt::format("more than {} nodes of all ranks: replay a part of the ranks, or of the step",
                                  most_recorded_nodes));
    }
    rank.nodes.push_back(node);
}

void RecordedReading::set_dependencies(RecordedRank& rank, std::span<const ReadDependency> dependencies) {
    std::vector<std::uint32_t>& first = rank.first_dependency;
    first.assign(rank.nodes.size() + 1, 0);
    for (const ReadDependency& one : dependencies) ++first[one.node + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    rank.dependencies.resize(dependencies.size());
    std::vector<std::uint32_t> cursor(first.begin(), first.end() - 1);
    for (const ReadDependency& one : dependencies) {
        rank.dependencies[cursor[one.node]++] = {one.on, one.on_begin ? 1U : 0U};
    }
    rank.nodes.shrink_to_fit();
}

namespace {

// The last number in the name: 3 of "all_reduce.3.et" and "rank3_trace.et.gz".
std::optional<std::uint32_t> rank_in_name(std::string_view path) {
    constexpr std::string_view digits = "0123456789";
    path = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
    path = path.substr(0, path.find_last_of(digits) + 1);
    return parse_as<std::uint32_t>(path.substr(path.find_last_not_of(digits) + 1));
}

// {"1": [0, 1], ...}: members by name. ASTRA-sim's --comm-group-configuration.
NamedGroups read_groups(ByteSource& source) {
    Document document = Document::parse(source.name(), std::string(source.peek(longest_input)));
    NamedGroups groups;
    Field root = document.root();
    for (const std::string& name : root.keys())
        groups[name] = list_of<std::uint32_t>(root.list(name), &Field::as_whole);
    document.check();
    return groups;
}

bool is_groups_file(ByteSource& source) {
    const std::string_view text = source.peek(4096);
    return source.name().ends_with(".json") && is_json_object(text) && !contains(text, "traceEvents");
}

const Format& trace_format(ByteSource& source) {
    const SourceFile beginning{source.name(), std::string(source.peek(1U << 16U))};
    const Format* const format = find_format(beginning);
    if (format == nullptr) source.refuse("is of no format that weft knows");
    if (format->name != "chakra" && format->name != "goal" && format->name != "kineto") {
        source.refuse(fmt::format("is a {}: replay reads Chakra, Kineto and GOAL", format->title));
    }
    return *format;
}

void read_trace(ByteSource& source, std::size_t traces, RecordedReading& reading) {
    const std::string_view format = trace_format(source).name;
    // A file that is alone is of rank 0, whatever it is called.
    const std::optional<std::uint32_t> rank = traces == 1 ? 0 : rank_in_name(source.name());
    if (format == "kineto") return read_profiled_rank(source, rank, reading);
    if (format == "chakra") {
        if (!rank) source.refuse("its name does not say its rank, as in NAME.3.et");
        return read_chakra(source, *rank, reading);
    }
    if (traces > 1) source.refuse("is a GOAL schedule, which has all ranks in one file");
    read_goal(source, reading);
}

// One after another: a thousand files open at a time would be too many. `open(i)` gives the source of each.
template <class Open>
RecordedProgram read_files(std::size_t files, Open open) {
    RecordedReading reading;
    std::vector<std::size_t> traces;
    for (std::size_t i = 0; i < files; ++i) {
        ByteSource source = open(i);
        if (source.peek(1).empty()) source.refuse("is empty");
        if (!is_groups_file(source)) {
            traces.push_back(i);
        } else {
            reading.named_groups.merge(read_groups(source));
        }
    }
    if (traces.empty()) refuse_file({}, "no trace among the files");
    for (const std::size_t i : traces) {
        ByteSource source = open(i);
        read_trace(source, traces.size(), reading);
    }
    reading.program.groups.front() = numbers_below<std::uint32_t>(reading.program.ranks.size());
    reading.mistakes.check();
    return std::move(reading.program);
}

}  // namespace

RecordedProgram read_recorded(std::span<const std::string> paths) {
    return read_files(paths.size(), [paths](std::size_t i) { return ByteSource(std::filesystem::path(paths[i])); });
}

RecordedProgram read_recorded(std::span<const SourceFile> files) {
    return read_files(files.size(), [files](std::size_t i) { return ByteSource(files[i].path, files[i].text); });
}

Import recorded_facts(std::span<const SourceFile> files, const FormatOptions&) {
    const RecordedProgram program = read_recorded(files);
    Import import;
    import.kind = FormatKind::trace;
    std::map<std::string, double> bytes;
    std::size_t ranks = 0;
    for (const RecordedRank& rank : program.ranks) {
        if (!rank.file.empty()) ++ranks;
        for (const RecordedNode& node : rank.nodes) {
            if (node.kind == RecordedKind::collective) bytes[std::string(name(node.op))] += node.bytes.value;
            if (node.kind == RecordedKind::send) bytes["send"] += node.bytes.value;
            if (node.kind == RecordedKind::receive) bytes["receive"] += node.bytes.value;
        }
    }
    import.facts.push_back({"ranks", fmt::format("{}", ranks)});
    import.facts.push_back({"nodes", fmt::format("{}", program.nodes())});
    for (const auto& [op, sum] : bytes) import.facts.push_back({"bytes." + op, fmt::format("{:.0f}", sum)});
    for (const std::string& note : program.notes) import.note(Origin{}, note);
    return import;
}

}  // namespace weft
