#include "tools/collective/collective.hpp"

#include <fmt/format.h>
#include <boost/program_options/errors.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command.hpp"

namespace weft {
namespace {

constexpr double largest = 9007199254740992.0;  // 2^53: beyond, doubles are no longer all whole bytes

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view why) {
    throw boost::program_options::error(
        fmt::format("--{}: expected sizes in bytes as in 8:1G:2 or 8,64K,1M; {} \"{}\"", option, why, text));
}

Bytes parse_size(std::string_view text, std::string_view whole, std::string_view option) {
    std::string_view digits = text;
    for (const std::string_view unit : {"iB", "B"}) {
        if (digits.ends_with(unit)) {
            digits.remove_suffix(unit.size());
            break;
        }
    }
    double factor = 1.0;
    constexpr std::string_view prefixes = "KMGT";
    if (!digits.empty()) {
        const char last = digits.back();
        const std::size_t power = prefixes.find(last >= 'a' && last <= 'z' ? static_cast<char>(last - 32) : last);
        if (power != prefixes.npos) {
            factor = std::pow(1024.0, static_cast<double>(power + 1));
            digits.remove_suffix(1);
        }
    }
    const std::optional<double> number = to_number(digits);
    const double bytes = number.value_or(0.0) * factor;
    if (!number || bytes < 1.0 || bytes > largest || bytes != std::trunc(bytes)) {
        refuse(option, whole, fmt::format("\"{}\" is none, in", text));
    }
    return Bytes{bytes};
}

std::vector<Bytes> parse_range(std::string_view text, std::string_view option) {
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    const Bytes begin = parse_size(text.substr(0, first), text, option);
    const Bytes end = parse_size(text.substr(first + 1, second - first - 1), text, option);
    const std::optional<double> factor = second == text.npos ? 2.0 : to_number(text.substr(second + 1));
    constexpr double slowest = 1.01;  // 2^53 in fewer than 4,000 sizes
    if (!factor || *factor < slowest) refuse(option, text, "the factor must be a number above 1, in");
    if (end < begin) refuse(option, text, "the last size is smaller than the first, in");
    std::vector<Bytes> sizes;
    for (double size = begin.value; size <= end.value; size *= *factor) {
        const Bytes whole{std::trunc(size)};
        if (sizes.empty() || sizes.back() < whole) sizes.push_back(whole);
    }
    return sizes;
}

using Words = std::vector<std::string>;

// One of `allowed`; its place there.
std::size_t one_of(const po::variables_map& arguments, const char* option, const Words& allowed) {
    const std::string text = option_text(arguments, option);
    const auto found = std::find(allowed.begin(), allowed.end(), text);
    if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
    throw OptionError("--{}: expected {}, got \"{}\"{}", option, fmt::join(allowed, ", "), text,
                      suggestion(text, allowed));
}

Collective read_op(const std::string& text) {
    if (const auto op = find_collective(text)) return *op;
    const Words known = all_enumerator_names<Collective>();
    throw OptionError("no collective is called \"{}\"{} (known: {})", text, suggestion(text, known),
                      fmt::join(known, ", "));
}

std::uint32_t read_rank(std::string_view text, std::uint32_t ranks) {
    if (const auto rank = parse_as<std::uint32_t>(text); rank && *rank < ranks) return *rank;
    throw OptionError("--order: expected ranks from 0 to {} as in 0,2-5,1; got \"{}\"", ranks - 1, text);
}

// "0,2,4-7": each rank once.
std::vector<std::uint32_t> read_order(std::string_view text, std::uint32_t ranks) {
    std::vector<std::uint32_t> order;
    std::vector<char> named(ranks, 0);
    for (const auto& [from, to] : ranges_in(text)) {
        const std::uint32_t first = read_rank(from, ranks), last = read_rank(to, ranks);
        for (std::uint32_t rank = first; rank <= last; ++rank) {
            if (named[rank] != 0) throw OptionError("--order: rank {} stands there twice", rank);
            named[rank] = 1;
            order.push_back(rank);
        }
    }
    if (order.size() == ranks) return order;
    throw OptionError("--order: expected all {} ranks, got {}", ranks, order.size());
}

SetLayout read_layout(const po::variables_map& arguments, const MachineInfo& machine) {
    constexpr CountOption channels{.name = "channels", .most = 1024, .reason = "more than any library opens"};
    SetLayout layout =
        layout_of(*count_option(arguments, {"ranks"}), ranks_per_node_option(arguments, machine), machine);
    layout.groups = count_option(arguments, {"groups"}).value_or(1);
    layout.channels = count_option(arguments, channels).value_or(0);
    if (layout.ranks % layout.groups != 0) {
        throw OptionError("--groups: {} ranks do not fill {} equal groups", layout.ranks, layout.groups);
    }
    if (arguments.count("order") > 0) layout.order = read_order(option_text(arguments, "order"), layout.ranks);
    return layout;
}

}  // namespace

std::vector<Bytes> parse_sizes(std::string_view text, std::string_view option) {
    if (text.find(':') != text.npos) return parse_range(text, option);
    return list_of<Bytes>(parts_of(text, ','), [&](std::string_view part) { return parse_size(part, text, option); });
}

const Library& library_named(const MachineInfo& machine, const std::string& name) {
    if (name.empty()) return machine.library();
    if (const Library* const library = machine.find_library(name)) return *library;
    const auto known = list_of<std::string>(machine.libraries, &Library::name);
    throw OptionError("--library: {} has no \"{}\"{} (it has: {})", machine.name, name, suggestion(name, known),
                      fmt::join(known, ", "));
}

std::uint32_t ranks_per_node_option(const po::variables_map& arguments, const MachineInfo& machine) {
    const std::uint32_t ranks = count_option(arguments, {"ranks-per-node"}).value_or(machine.accelerators_per_node);
    if (ranks <= machine.accelerators_per_node) return ranks;
    throw OptionError("--ranks-per-node: a node of {} has {} accelerators, not {}", machine.name,
                      machine.accelerators_per_node, ranks);
}

SetLayout layout_of(std::uint32_t ranks, std::uint32_t ranks_per_node, const MachineInfo& machine) {
    const SetLayout layout{.ranks = ranks, .ranks_per_node = ranks_per_node};
    if (layout.nodes() <= machine.most_nodes) return layout;
    throw OptionError("--ranks: {} has {} nodes, which hold {} ranks at {} per node, not {}", machine.name,
                      machine.most_nodes, std::uint64_t{machine.most_nodes} * ranks_per_node, ranks_per_node, ranks);
}

MeasurementHints measurement_hints(const po::variables_map& arguments) {
    MeasurementHints hints;
    if (arguments.count("convention") > 0) {
        hints.convention =
            one_of(arguments, "convention", {"nccl", "osu"}) == 0 ? SizeConvention::nccl : SizeConvention::osu;
    }
    hints.place = one_of(arguments, "place", {"out", "in"}) == 0 ? ResultPlace::out_of_place : ResultPlace::in_place;
    for (const std::string& each : option_texts(arguments, "where")) {
        const std::size_t equals = each.find('=');
        if (equals == each.npos || equals == 0) {
            throw OptionError("--where: expected COLUMN=VALUE, got \"{}\"", each);
        }
        hints.where.emplace_back(each.substr(0, equals), each.substr(equals + 1));
    }
    return hints;
}

Calls calls_option(const po::variables_map& arguments) {
    return one_of(arguments, "calls", {"blocking", "queued"}) == 0 ? Calls::blocking : Calls::queued;
}

void read_samples(const po::variables_map& arguments, CollectiveRequest& request) {
    if (arguments.count("samples") == 0) {
        if (arguments.count("jobs") > 0) throw OptionError("--jobs: only with --samples");
        return;
    }
    if (request.routing().routing != Routing::ecmp) {
        throw OptionError("--samples: of calls routed by ECMP, each with other hashes (--routing ecmp); here it is {}",
                          to_text(request.routing()));
    }
    request.samples = *count_option(arguments, {.name = "samples", .most = 10'000'000});
    request.jobs = threads_option(arguments);
}

CollectiveRequest collective_request(const po::variables_map& arguments) {
    const Collective op = read_op(option_text(arguments, "op"));
    CollectiveRequest request{.machine = Machine::load(option_text(arguments, "machine")), .op = op};
    request.library = &library_named(request.machine.info(), option_text(arguments, "library"));
    request.layout = read_layout(arguments, request.machine.info());
    print_growth(request.machine.info(), request.layout.nodes());
    request.fabric = fabric_option(arguments, request.machine.info(), request.layout.nodes());
    request.preference = {.algorithm = option_text(arguments, "algorithm"),
                          .protocol = option_text(arguments, "protocol")};
    request.calls = calls_option(arguments);
    request.convention = one_of(arguments, "format", {"nccl", "osu"}) == 0 ? SizeConvention::nccl : SizeConvention::osu;
    request.hottest_of_class = 3;
    read_samples(arguments, request);
    request.detail = arguments["explain"].as<bool>() ? Detail::explained : Detail::plain;
    for (const Bytes size : parse_sizes(option_text(arguments, "sizes"), "sizes")) {
        request.messages.push_back(full_size(op, size, request.convention, request.layout.members()));
    }
    return request;
}

}  // namespace weft
