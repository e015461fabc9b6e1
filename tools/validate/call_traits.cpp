// What kind of call a collective is: enough to tell which measured calls are like it.
#include "tools/validate/run.hpp"

namespace weft {

JobTraits call_traits(const CollectiveRequest& request, Bytes message) {
    const SetLayout& layout = request.layout;
    const std::string_view size = message <= 64_KiB  ? "up to 64 KiB"
                                  : message <= 8_MiB ? "64 KiB to 8 MiB"
                                                     : "above 8 MiB";
    return {.values = {request.library->name, layout.ranks > layout.ranks_per_node ? "across nodes" : "in a node",
                       std::string(name(request.op)), std::string(size), request.machine.info().name,
                       layout.groups > 1 ? "several groups" : "one group", ""},
            .ranks = static_cast<double>(layout.members())};
}

}  // namespace weft
