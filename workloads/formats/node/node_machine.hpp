// How a described node becomes a machine.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/formats/node/like_machine.hpp"
#include "workloads/formats/node/node_description.hpp"

namespace weft {

class NodeMachine {
  public:
    NodeMachine(Import& import, NodeDescription node, const FormatOptions& options)
        : import_(import), node_(std::move(node)), options_(options) {}

    void make();

  private:
    Origin of_file(std::string key) const { return in_file(node_.path, std::move(key)); }
    Origin of_links(std::string_view more) const {
        return {.file = node_.links_origin.file,
                .line = node_.links_origin.line,
                .key = fmt::format("{} {}", node_.links_origin.key, more)};
    }
    Origin of_like(std::string_view what) const {
        return {.file = {}, .line = 0, .key = fmt::format("{}, as {}", what, like_.name)};
    }

    void add_facts();
    bool find_kind();
    void write_head();
    void write_joined();
    void write_crossbar(std::string_view link_class, const Origin& origin);
    void write_switched();
    void write_through_host();
    void write_as_like();
    void write_graph();
    void write_graph_classes();
    void write_packages();
    void write_class(std::string_view name, double nominal, const LikeLink* measured, const Origin& origin);
    void write_host_class(const Origin& origin);
    void write_nics();
    void spread_nics_of_like();
    void leave_out_slow_nics();
    void write_nic_bandwidths();
    void write_network();

    Draft& links() { return import_.object.object("links"); }
    Draft& block() { return import_.object.object("node"); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(node_.accelerators.size()); }
    void make_symmetric();
    void count_links();
    bool same_family() const { return like_.node_link.starts_with(to_text(node_.family)); }
    std::string family() const {
        return same_family() && !like_.crossbar ? like_.node_link : std::string(to_text(node_.family));
    }

    Import& import_;
    NodeDescription node_;
    const FormatOptions& options_;
    LikeMachine like_;
    std::size_t nics_ = 0;
    bool through_host_ = false;  // some accelerators reach each other through the host
};

// The least that is said of the links of some devices; 0: nothing is.
template <class Devices>
double narrowest_pcie(const Devices& devices) {
    double narrowest = 0;
    for (const auto& each : devices) {
        if (each.pcie_gigabytes > 0 && (narrowest == 0 || each.pcie_gigabytes < narrowest))
            narrowest = each.pcie_gigabytes;
    }
    return narrowest;
}

}  // namespace weft
