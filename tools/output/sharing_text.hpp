// Jobs that share a machine, for people and for programs; and the tables that texts and pages of it have in common.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/quantity.hpp"
#include "tools/output/result_table.hpp"
#include "workloads/sharing/sharing.hpp"

namespace weft {

TextTable sharing_jobs(const Sharing& sharing);  // a row per job: alone and together
// Classes of links where jobs meet, and so many of these links, the busiest: bytes of each job in a step.
TextTable meeting_classes_table(const Sharing& sharing);
TextTable meeting_links_table(const Sharing& sharing, std::uint32_t links);

std::string sharing_heading(const Sharing& sharing);
std::string sharing_text(const Sharing& sharing, std::uint32_t links);
std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall);

}  // namespace weft
