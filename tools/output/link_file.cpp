#include "tools/output/timeline_trace.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

namespace {

Table<LinkId, std::uint16_t> count_cables(const Topology& topology) {
    std::unordered_map<std::uint64_t, std::uint16_t> cables;  // by both ends; only looked up
    Table<LinkId, std::uint16_t> numbers;
    numbers.reserve(topology.links());
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        const LinkEnds ends = topology.ends(link);
        numbers.push_back(cables[std::uint64_t{index(ends.tail)} << 32U | index(ends.head)]++);
    }
    return numbers;
}

}  // namespace

LinkFile::LinkFile(const std::filesystem::path& path, const Topology& topology, std::string_view before)
    : topology_(topology), names_(topology), cable_(count_cables(topology)), out_(path) {
    out_.put(before).put("from,to,cable,class,bandwidth_bytes_per_s,load_bytes,busy\n");
}

void LinkFile::add(const LinkTraffic& traffic, std::string_view before, const LinkTraffic* whole) {
    for (LinkId link{}; link != traffic.bytes.end_id(); link = next(link)) {
        if (whole != nullptr && !(whole->bytes[link] > Bytes{})) continue;
        const LinkEnds ends = topology_.ends(link);
        const LinkClass& link_class = topology_.link(link);
        out_.format("{}{},{},{},{},{},{},{}\n", before, csv_cell(names_[ends.tail]), csv_cell(names_[ends.head]),
                    cable_[link], csv_cell(link_class.name), number_text(link_class.bandwidth.value),
                    number_text(traffic.bytes[link].value), number_text(traffic.busy(topology_, link)));
    }
}

void write_step_links(const Simulation& run, const std::filesystem::path& path) {
    const LinkTraffic whole = link_traffic(run);
    const std::uint32_t slices = run.options.slices;
    LinkFile file(path, run.topology(), slices > 0 ? "slice,begin_s,end_s," : "");
    if (slices == 0) file.add(whole, "");
    for (std::uint32_t i = 0; i < slices; ++i) {
        const LinkTraffic traffic = slice_traffic(run, i);
        const auto time = [&](std::uint32_t at) { return number_text(whole.time.value * at / slices); };
        file.add(traffic, fmt::format("{},{},{},", i, time(i), time(i + 1)), &whole);
    }
    file.commit();
}

}  // namespace weft
