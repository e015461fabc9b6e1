#include "workloads/formats/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topologies/measurements/measurement.hpp"
#include "topologies/placement.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

constexpr std::size_t most_mistakes = 20;  // of a file of another kind

// "switchname" of "  SwitchName = s0"; empty if the line is none.
std::string first_key(std::string_view line) {
    const std::vector<std::string_view> key = words(line.substr(0, std::min(line.find('='), line.size())));
    return key.size() == 1 && line.find('=') != line.npos ? lower_case(key.front()) : "";
}

bool is_yaml(const SourceFile& file) {
    bool topology = false, kind = false;
    each_line(file.text, [&](std::string_view line, int number) {
        const std::string_view word = line.substr(std::min(line.find_first_not_of(" \t-"), line.size()));
        topology = topology || word.starts_with("topology:");
        kind = kind || word.starts_with("tree:") || word.starts_with("block:") || word.starts_with("flat:");
        return number < 1000 && !(topology && kind);
    });
    return topology && kind;
}

// Lines of "Key=Value Key=Value", keys of any case, values quoted or not.
class SlurmLines {
  public:
    SlurmLines(Import& import, const SourceFile& file) : import_(import), path_(file.path) {
        std::string joined;
        int first = 0;
        each_line(file.text, [&](std::string_view line, int number) {
            line = line.substr(0, line.find('#'));
            line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
            if (joined.empty()) first = number;
            const bool goes_on = line.ends_with('\\');
            joined += line.substr(0, line.size() - (goes_on ? 1 : 0));
            if (!goes_on) read_line(std::exchange(joined, {}), first);
            return tree_.mistakes.size() < most_mistakes;
        });
        read_line(joined, first);
    }
    SlurmTree tree() && { return std::move(tree_); }

  private:
    Origin at(int line, std::string_view key) const { return {.file = path_, .line = line, .key = std::string(key)}; }

    void read_line(std::string_view line, int number) {
        std::map<std::string, std::string> values;
        for (std::size_t begin = line.find_first_not_of(" \t"); begin < line.size();) {
            const std::size_t equals = std::min(line.find('=', begin), line.size());
            const std::string_view key = line.substr(begin, equals - begin);
            if (equals == line.size() || key.empty() || key.find_first_of(" \t") != key.npos)
                return tree_.mistake(at(number, ""),
                                     fmt::format("expected Key=Value, got \"{}\"", line.substr(begin, 80)));
            const bool quoted = line.substr(equals + 1).starts_with('"');
            const std::size_t from = equals + 1 + (quoted ? 1 : 0);
            const std::size_t end = std::min(line.find_first_of(quoted ? "\"" : " \t", from), line.size());
            values[lower_case(key)] = line.substr(from, end - from);
            begin = line.find_first_not_of(" \t", std::min(end + (quoted ? 1 : 0), line.size()));
        }
        if (!values.empty()) take(values, number);
    }

    void take(std::map<std::string, std::string>& values, int number) {
        if (values.contains("blockname") || values.contains("blocksizes")) {
            return tree_.blocks.push_back(at(number, values.contains("blockname") ? "BlockName" : "BlockSizes"));
        }
        SlurmSwitch one{.name = values["switchname"], .origin = at(number, "SwitchName")};
        if (one.name.empty()) return tree_.mistake(at(number, values.begin()->first), "expected a SwitchName");
        for (const auto& [key, value] : values) {
            if (key == "nodes") {
                one.nodes = tree_.expand(value, at(number, "Nodes"));
            } else if (key == "switches") {
                one.switches = tree_.expand(value, at(number, "Switches"));
            } else if (key == "linkspeed") {
                import_.without_effect.push_back(at(number, "LinkSpeed"));
            } else if (key != "switchname") {
                import_.note(at(number, key), "not known to weft, and left out");
            }
        }
        tree_.switches.push_back(std::move(one));
    }

    Import& import_;
    const std::string& path_;
    SlurmTree tree_;
};

void read_yaml_switches(Import& import, Field tree, SlurmTree& into) {
    for (Field& field : tree.list("switches")) {
        SlurmSwitch one{.name = field.text("switch"), .origin = field.origin("switch")};
        if (field.has("nodes")) one.nodes = into.expand(field.text("nodes"), field.origin("nodes"));
        if (field.has("children")) one.switches = into.expand(field.text("children"), field.origin("children"));
        if (field.has("link_speed")) import.without_effect.push_back(field.origin("link_speed"));
        note_rest(import, field);
        into.switches.push_back(std::move(one));
    }
}

// A list of topologies, of which Slurm uses the default of the cluster, or the first.
SlurmTree read_yaml(Import& import, const SourceFile& file) {
    Document document = parse_yaml(file.path, file.text);
    std::vector<Field> topologies = document.root().elements();
    SlurmTree into;
    document.check();
    if (topologies.empty()) into.mistake(in_file(file.path), "expected a topology");
    std::size_t chosen = 0;
    for (std::size_t i = topologies.size(); i-- > 0;) {
        if (topologies[i].is_flag("cluster_default") && topologies[i].flag("cluster_default")) chosen = i;
    }
    for (std::size_t i = 0; i < topologies.size(); ++i) {
        Field& one = topologies[i];
        if (i != chosen) {
            import.note(one.origin("topology"), "is not the default of the cluster, and left out");
            continue;
        }
        if (one.has("tree")) read_yaml_switches(import, one.object("tree"), into);
        if (one.has("block")) into.blocks.push_back(one.origin("block"));
        if (one.has("flat")) into.flat.push_back(one.origin("flat"));
        one.text("topology", "");
        note_rest(import, one);
    }
    document.check();
    return into;
}

}  // namespace

void SlurmTree::mistake(const Origin& origin, std::string message) {
    if (mistakes.size() < most_mistakes)
        mistakes.push_back(
            {.file = origin.file, .line = origin.line, .key = origin.key, .message = std::move(message)});
}

std::vector<std::string> SlurmTree::expand(std::string_view list, const Origin& origin) {
    HostNames found = expand_host_names(list, most_slurm_hosts - std::min(most_slurm_hosts, expanded));
    expanded += found.names.size();
    if (!found.mistake.empty()) {
        mistake(origin, expanded < most_slurm_hosts ? found.mistake
                                                    : fmt::format("more than {} names in all", most_slurm_hosts));
    }
    return std::move(found.names);
}

bool is_slurm_topology(const SourceFile& file) {
    bool found = false;
    each_line(file.text, [&](std::string_view line, int number) {
        const std::string key = first_key(line);
        found = key == "switchname" || key == "blockname" || key == "blocksizes";
        return !found && number < 1000;
    });
    return found || is_yaml(file);
}

SlurmTree read_slurm_tree(Import& import, const SourceFile& file) {
    return is_yaml(file) ? read_yaml(import, file) : SlurmLines(import, file).tree();
}

}  // namespace weft
