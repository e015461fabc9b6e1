#include "topologies/machine.hpp"

#include "sim/io/diagnostics.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

// NCCL's and RCCL's; MPI libraries', by message size; XPMEM and the like inside a node.
const std::vector<std::string> protocols{"LL", "LL128", "Simple", "inject", "eager", "rendezvous", "bulk", "ipc"};

std::vector<std::string> algorithm_names() {
    return each_once(list_of<std::string>(collective::all(), &Algorithm::name));
}

double read_efficiency(Field& row, std::string_view key, double otherwise) {
    const double value = row.number(key, otherwise);
    if (value > 0.0 && value <= 1.0) return value;
    row.error(key, "expected a number above 0 and at most 1, got {}", value);
    return 1.0;
}

std::vector<Collective> read_operations(Field& row) {
    std::vector<Collective> ops;
    for (Field& element : row.list_if_given("operations")) {
        const std::string text = element.as_text();
        if (const std::optional<Collective> op = find_collective(text)) {
            ops.push_back(*op);
        } else if (!text.empty()) {
            row.error("operations", "no collective is called \"{}\"{}", text,
                      suggestion(text, all_enumerator_names<Collective>()));
        }
    }
    return ops;
}

ProtocolCost read_cost(Field row) {
    ProtocolCost cost;
    cost.algorithm = row.choice("algorithm", algorithm_names());
    cost.protocol = row.choice("protocol", protocols);
    cost.ops = read_operations(row);
    cost.launch = row.duration("launch", Seconds{});
    cost.step_in_node = row.duration("step_in_node");
    cost.step_across = row.duration("step_across");
    cost.post_in_node = row.duration("post_in_node", Seconds{});
    cost.post_across = row.duration("post_across", Seconds{});
    cost.post_channel = row.duration("post_channel", Seconds{});
    cost.channel_part = row.bytes("channel_part", cost.channel_part);
    if (!(cost.channel_part > Bytes{})) row.error("channel_part", "expected more than 0 B");
    cost.most_channels = row.count("most_channels", 1);
    cost.chunk = row.bytes("chunk", cost.chunk);
    cost.halved_below = list_of<double>(row.list_if_given("halved_below"), &Field::as_number);
    cost.efficiency_in_node = read_efficiency(row, "efficiency_in_node", 1.0);
    cost.efficiency_across = read_efficiency(row, "efficiency_across", 1.0);
    cost.efficiency_shared = read_efficiency(row, "efficiency_shared", cost.efficiency_across);
    cost.rate_in_node = row.bandwidth("rate_in_node", cost.rate_in_node);
    cost.rate_across = row.bandwidth("rate_across", cost.rate_across);
    cost.overlap = row.number("overlap", 1.0);
    if (cost.overlap < 1.0) row.error("overlap", "expected at least 1, got {}", cost.overlap);
    cost.over = row.bytes("over", cost.over);
    cost.most = row.bytes("most", cost.most);
    row.text("source", "");
    row.done();
    return cost;
}

// "ratio" for all groups, or "ratio_few" and "ratio_many".
template <class T>
ByNodes<T> read_by_nodes(Field& row, const std::string& key, const ByNodes<T>& otherwise,
                         T (Field::*read)(std::string_view, std::optional<T>)) {
    if (row.has(key)) {
        const T value = (row.*read)(key, otherwise.few);
        return {value, value};
    }
    return {(row.*read)(key + "_few", otherwise.few), (row.*read)(key + "_many", otherwise.many)};
}

TunerRow read_tuner_row(Field row) {
    TunerRow read;
    read.algorithm = row.choice("algorithm", {"ring", "tree", "nvls", "nvls_tree", "pat"});
    read.protocol = row.choice("protocol", protocols);
    read.ops = read_operations(row);
    read.base = row.duration("base");
    read.in_node = row.duration("in_node");
    read.across = row.duration("across");
    if (row.has("across_alone")) read.across_alone = row.duration("across_alone");
    read.post = row.duration("post", Seconds{});
    read.plateau = row.number("plateau", read.plateau);
    read.ratio = read_by_nodes(row, "ratio", read.ratio, &Field::number);
    read.most = read_by_nodes(row, "most", read.most, &Field::bandwidth);
    read.channel = read_by_nodes(row, "channel", read.channel, &Field::bandwidth);
    read.correction = list_of<double>(row.list_if_given("correction"), &Field::as_number);
    row.text("source", "");
    row.done();
    return read;
}

TunerTable read_table(Field table) {
    TunerTable result;
    if (table.has("bus")) result.bus = table.bandwidth("bus");
    result.doubled_up_to = table.whole("doubled_up_to", 0);
    result.extra_across = table.whole("extra_across", 0);
    table.text("source", "");
    result.rows = list_of<TunerRow>(table.list("rows"), read_tuner_row);
    table.done();
    return result;
}

Decision read_decision(Field& field) {
    Decision decision;
    decision.algorithm = field.choice("algorithm", algorithm_names());
    decision.ops = read_operations(field);
    if (decision.ops.empty()) field.error("operations", "expected the collectives that the decision is for");
    decision.least_members = field.whole("least_members", 0);
    decision.most_members = field.count("most_members", decision.most_members);
    decision.power_of_two = field.flag("power_of_two", false);
    decision.where = field.enumerator("where", Decision::Where::anywhere);
    decision.over = field.bytes("over", decision.over);
    decision.most = field.bytes("most", decision.most);
    field.text("source", "");
    field.done();
    return decision;
}

std::optional<Tuner> read_tuner(Field& library) {
    const std::string tuner = library.text("tuner", "");
    if (tuner.empty()) return std::nullopt;
    const std::vector<std::string> known = shipped_names(embedded::tuners());
    if (!is_path(tuner) && std::find(known.begin(), known.end(), tuner) == known.end()) {
        library.error("tuner", "no tuner is called \"{}\"{}", tuner, suggestion(tuner, known));
        return std::nullopt;
    }
    try {
        return load_tuner(tuner);
    } catch (const ConfigError& error) {
        error_at(library, "tuner", error);
        return std::nullopt;
    }
}

}  // namespace

std::optional<Collective> find_collective(std::string_view name) {
    const auto letters = [](std::string_view text) {
        std::string kept(text);
        std::erase_if(kept, [](char c) { return c == '_' || c == '-'; });
        return kept;
    };
    for (const Collective op : every_collective) {
        if (letters(name) == letters(weft::name(op))) return op;
    }
    if (letters(name) == "sendrecv") return Collective::send_receive;
    if (letters(name) == "bcast") return Collective::broadcast;
    return std::nullopt;
}

void extend_libraries(Field machine) {
    for (const Field& library : machine.list_if_given("libraries")) {
        extend(library, [](const std::string& fabric) {
            return open_shipped(embedded::fabrics(), "library of a fabric", fabric).document;
        });
    }
}

std::vector<Library> read_libraries(Field& machine) {
    std::vector<Library> libraries;
    for (Field& field : machine.list("libraries")) {
        Library& library = libraries.emplace_back();
        library.name = field.text("name");
        library.tuner = read_tuner(field);
        library.in_rank_order = field.choice("order", {"links", "ranks"}, "links") == "ranks";
        library.launch = sourced_duration(field, "launch");
        library.blocking = sourced_duration(field, "blocking");
        Field costs = field.object("costs");
        for (const std::string& row : costs.keys()) library.costs.push_back(read_cost(costs.object(row)));
        field.text("source", "");
        field.done();
    }
    if (libraries.empty()) machine.error("libraries", "expected at least one communication library");
    return libraries;
}

Tuner load_tuner(std::string_view name) {
    NamedDocument file = open_shipped(embedded::tuners(), "tuner", name);
    Field root = file.document.root();
    root.text("source", "");
    Tuner tuner;
    tuner.decisions = list_of<Decision>(root.list_if_given("decisions"), read_decision);
    if (tuner.decisions.empty() || root.has("in_node")) tuner.in_node = read_table(root.object("in_node"));
    if (tuner.decisions.empty() || root.has("across")) tuner.across = read_table(root.object("across"));
    root.done();
    file.document.check();
    return tuner;
}

}  // namespace weft
