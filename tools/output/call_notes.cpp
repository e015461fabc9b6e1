#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

// Sizes at which the library's own choice makes a larger message the faster one.
std::string inversion_notes(std::span<const CollectiveRow> rows) {
    std::string text;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const CollectiveRow &small = rows[i - 1], &large = rows[i];
        if (small.message >= large.message || large.time >= small.time || !small.is_tuned) continue;
        const bool same = small.algorithm == large.algorithm && small.protocol == large.protocol;
        text += fmt::format("# {:.0f} B take longer than {:.0f} B: the library's own table {}\n", small.message.value,
                            large.message.value,
                            same ? "cuts them into shorter chunks"
                                 : fmt::format("has {} {} up to there", small.algorithm, small.protocol));
    }
    return text;
}

// What groups that go through the same NICs lose besides their share.
std::string sharing_note(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    for (const CollectiveRow& row : rows) {
        const ProtocolCost& cost = *request.library->find(request.op, row.algorithm, row.protocol);
        if (!row.shares_ports || cost.efficiency_shared == cost.efficiency_across) continue;
        return fmt::format("# groups share NICs, of which {} {} reaches {:g} then, {:g} where a group has them alone\n",
                           row.algorithm, row.protocol, cost.efficiency_shared, cost.efficiency_across);
    }
    return "";
}

// How well calls of each range of sizes are known.
std::string validity_notes(const CollectiveRequest& request) {
    std::string text, last;
    for (const Bytes message : request.messages) {
        const JobTraits call = call_traits(request, message);
        const Evidence evidence = evidence_of(call);
        const std::string one =
            evidence.errors.rows == 0
                ? fmt::format("no evidence: nothing measured of {}\n", call.values[0])
                : evidence_text(call.values[3] + "  ", evidence, call).substr(2) + causes_text(evidence.causes, "#   ");
        if (one != last) text += fmt::format("{} {}", text.empty() ? "# measured calls of this kind:\n# " : "# ", one);
        last = one;
    }
    return text;
}

}  // namespace

std::string call_notes(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    return inversion_notes(rows) + sharing_note(request, rows) + validity_notes(request);
}

}  // namespace weft
