// A node that is exported and imported again has the same links.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "topologies/machine.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

// Links of a node and its ports: kinds and numbers of both ends, and the specified bandwidth.
using LinkList = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double>;

LinkList links_of(const Machine& machine) {
    const Topology topology = machine.topology(1);
    LinkList links;
    for (LinkId id{}; static_cast<std::uint32_t>(id) < topology.links(); id = next(id)) {
        const auto [tail, head] = topology.ends(id);
        const bool port = topology.node_kind(tail) == NodeKind::network_switch ||
                          topology.node_kind(head) == NodeKind::network_switch;
        if (topology.node_kind(tail) == NodeKind::network_switch &&
            topology.node_kind(head) == NodeKind::network_switch)
            continue;
        const auto number = [&](NodeId vertex) {  // which switch a port leads to is the network's matter
            return topology.node_kind(vertex) == NodeKind::network_switch ? 0 : static_cast<std::uint32_t>(vertex);
        };
        links[{number(tail), number(head), port ? 1U : 0U}] += topology.link(id).nominal.value;
    }
    return links;
}

std::optional<std::string> exported(const Machine& machine) {
    try {
        return find_export("nccl-xml").machine(machine);
    } catch (const ConfigError&) {
        return std::nullopt;  // no accelerators of NCCL or RCCL
    }
}

Import imported(const std::string& text, const std::string& like = {}) {
    FormatOptions options;
    options.like = like;
    const std::vector<SourceFile> files{{"topology.xml", text}};
    return import_files(format_of(files, ""), files, options);
}

TEST(exports, a_topology_file_has_the_links_of_the_machine_that_it_was_made_of) {
    std::size_t machines = 0;
    for (const std::string& name : machine_names()) {
        SCOPED_TRACE(name);
        const Machine machine = Machine::load(name);
        const std::optional<std::string> text = exported(machine);
        if (!text) continue;
        ++machines;
        const Import import = imported(*text, name);
        const Machine again = Machine::read(import.object.document("topology.xml"));
        EXPECT_EQ(again.info().device, machine.info().device);
        if (machine.info().accelerators_per_node == 1) continue;  // nothing is between accelerators
        EXPECT_EQ(links_of(again), links_of(machine)) << *text << import.object.text();
    }
    EXPECT_GE(machines, 10U);
}

// Without a word of the user the device is found by its PCI number.
TEST(exports, a_topology_file_names_the_accelerators) {
    for (const std::string& name : machine_names()) {
        SCOPED_TRACE(name);
        const Machine machine = Machine::load(name);
        const std::optional<std::string> text = exported(machine);
        if (!text) continue;
        EXPECT_EQ(Machine::read(imported(*text).object.document("topology.xml")).info().device, machine.info().device);
    }
}

std::string refused(const std::string& machine) {
    try {
        find_export("nccl-xml").machine(Machine::read(Document::parse("own.json", machine)));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(exports, a_topology_file_has_whole_numbers_of_links) {
    EXPECT_EQ(refused(R"({"extends": "dgx-h100"})"), "");
    EXPECT_NE(refused(R"({"extends": "dgx-h100", "links.nvlink.bandwidth.nominal": "460 GB/s"})")
                  .find("node: 460 GB/s are no whole number of links of 25 GB/s, as H100 has"),
              std::string::npos);
    EXPECT_NE(refused(R"({"extends": "dgx-h100", "device": "mi300x"})").find("node: "), std::string::npos);
    EXPECT_NE(refused(R"({"extends": "tpu-v4"})").find("device: neither NCCL nor RCCL runs on"), std::string::npos);
}

TEST(exports, a_topology_file_says_devices_as_libraries_look_for_them) {
    const std::string h100 = find_export("nccl-xml").machine(Machine::load("dgx-h100"));
    for (const char* const part :
         {"<system version=\"1\">", "vendor=\"0x10de\" device=\"0x2330\"", "sm=\"90\" rank=\"0\"",
          "<nvlink target=\"ffff:00:00.0\" count=\"18\" tclass=\"0x068000\"/>", "speed=\"400000\""})
        EXPECT_NE(h100.find(part), std::string::npos) << part;
    const std::string frontier = find_export("nccl-xml").machine(Machine::load("frontier"));
    for (const char* const part : {"<system version=\"2\">", "vendor=\"0x1002\" device=\"0x7408\"",
                                   "sm=\"104\" gcn=\"910\" arch=\"0\"", "<xgmi target=\"0001:02:00.0\" count=\"4\""})
        EXPECT_NE(frontier.find(part), std::string::npos) << part;
}

TEST(exports, accelerators_of_other_libraries_are_refused) {
    EXPECT_THROW(find_export("nccl-xml").machine(Machine::load("tpu-v4")), ConfigError);
    EXPECT_THROW(find_export("nccl-xml").machine(Machine::load("aurora")), ConfigError);
}

}  // namespace
}  // namespace weft
