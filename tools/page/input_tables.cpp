#include "tools/page/input_tables.hpp"

#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

using Kind = HtmlColumn::Kind;
using Rows = std::vector<std::vector<HtmlCell>>;

std::string table(std::string_view caption, const Rows& rows) {
    return html_table(caption, {{"", Kind::text}, {"", Kind::text}}, rows);
}

std::string shapes_text(const Transformer& model) {
    std::string text =
        fmt::format("{} layers, hidden {}, {} heads of {}", model.layers, model.hidden, model.heads, model.head_size);
    if (model.kv_heads != model.heads) text += fmt::format(" ({} of keys and values)", model.kv_heads);
    text += fmt::format(", MLP {}{}, vocabulary {}", model.ffn_hidden, model.gated ? " gated" : "", model.vocabulary);
    if (model.experts.count > 0) {
        text += fmt::format(", {} experts of {}, {} per token", model.experts.count, model.experts.ffn_hidden,
                            model.experts.top_k);
        if (model.experts.shared > 0) text += fmt::format(" and {} shared", model.experts.shared);
    }
    return text;
}

std::string resolved(const Plan& plan) {
    const Job& job = plan.job;
    return table(
        "As it was understood.",
        {{{"machine"}, {plan.machine.title}},
         {{"nodes"},
          {fmt::format("{} of {}, with {} accelerators each", job.nodes, plan.machine.nodes, job.ranks_per_node)}},
         {{"device"},
          {fmt::format("{}: {} at the job's precision, {}, {}", plan.device.title,
                       to_text(plan.device.peak(job.precision)), to_text(plan.device.memory),
                       to_text(plan.device.memory_bandwidth))}},
         {{"model"}, {job.model.name + ": " + shapes_text(job.model)}},
         {{"layout"}, {axes(job.layout) + fmt::format(", innermost first: {}", fmt::join(job.layout.order, ", "))}},
         {{"batch"},
          {fmt::format("{} sequences of {} tokens in {} micro-batches of {} per data rank", job.batch.global,
                       job.batch.sequence, job.micro_batches(), job.batch.micro)}},
         {{"library"}, {job.library.empty() ? plan.machine.library().name : job.library}}});
}

std::string source_table(const JobInput& input, const Plan& plan) {
    Rows rows;
    for (const Source& source : sources(input, plan)) rows.push_back({{source.file}, {source.what}, {source.text}});
    if (rows.empty()) return "";
    return html_details(fmt::format("Sources of {} constants", rows.size()),
                        html_table("As the data files state them.",
                                   {{"file", Kind::text}, {"what", Kind::text}, {"source", Kind::text}}, rows));
}

std::string job_text(const JobInput& input) {
    const auto json = nlohmann::ordered_json::parse(input.text, nullptr, false);
    return json.is_discarded() ? input.text : json.dump(2);
}

}  // namespace

std::string input_tables(const Simulation& run, const JobInput& input) {
    return resolved(run.plan) + source_table(input, run.plan) +
           html_details("The job, overrides applied", "<pre>" + xml_escaped(job_text(input)) + "</pre>");
}

}  // namespace weft
