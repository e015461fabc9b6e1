#include "tools/output/step_links.hpp"

#include <fmt/format.h>

#include "tools/output/link_file.hpp"
#include "tools/output/number.hpp"

namespace weft {

void write_step_links(const Simulation& run, const std::filesystem::path& path) {
    const LinkTraffic whole = link_traffic(run);
    const std::uint32_t slices = run.options.slices;
    LinkFile file(path, run.topology(), slices > 0 ? "slice,begin_s,end_s," : "");
    if (slices == 0) file.add_all(whole);
    for (std::uint32_t i = 0; i < slices; ++i) {
        const LinkTraffic traffic = slice_traffic(run, i);
        const auto time = [&](std::uint32_t at) { return number_text(whole.time.value * at / slices); };
        file.add_used(traffic, whole, fmt::format("{},{},{},", i, time(i), time(i + 1)));
    }
    file.commit();
}

}  // namespace weft
