// What a job says that no file of another tool has words for: machine, versions, and of its run which ranks of the
// nodes it takes, faults, the fabric, how the host works. Nothing of what is as it is by default.
#include "workloads/exports/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <variant>

namespace weft {
namespace {

struct Comments {
    template <class Value>
    void add_if(bool given, std::string_view key, const Value& value) {
        if (given) text += fmt::format("# weft: {}={}\n", key, value);
    }

    std::string text;
};

std::string slow_gpus(const Job& job) {
    std::string list;
    for (const SlowRanks& slow : job.faults.slow) {
        const bool rank = slow.count == 1;
        list += fmt::format(R"({}{{"{}": {}, "factor": {}}})", list.empty() ? "" : ", ", rank ? "rank" : "node",
                            index(slow.first) / (rank ? 1 : slow.count), slow.factor);
    }
    return "[" + list + "]";
}

std::string slow_links(const Job& job) {
    std::string list;
    for (const LinkFault& fault : job.fabric.link_faults) {
        std::string where;
        if (const auto* cable = std::get_if<NicCable>(&fault.where)) {
            where = fmt::format(R"("node": {}, "nic": {})", cable->node, cable->nic);
        } else {
            const auto& route = std::get<RouteCables>(fault.where);
            where = fmt::format(R"("from": {}, "to": {})", index(route.from), index(route.to));
            if (!route.link_class.empty()) where += fmt::format(R"(, "class": "{}")", route.link_class);
        }
        list += fmt::format(R"({}{{{}, "bandwidth": {}}})", list.empty() ? "" : ", ", where, fault.share);
    }
    return "[" + list + "]";
}

void add_faults(Comments& comments, const Job& job) {
    const Faults& faults = job.faults;
    comments.add_if(!faults.slow.empty(), "faults.slow_gpus", slow_gpus(job));
    comments.add_if(faults.spread != (faults.slow.empty() ? 1.0 : 0.0), "faults.spread", faults.spread);
    comments.add_if(!job.fabric.link_faults.empty(), "faults.links", slow_links(job));
    comments.add_if(faults.jitter.spread > 0, "faults.jitter",
                    fmt::format(R"({{"spread": {}, "seed": {}}})", faults.jitter.spread, faults.jitter.seed));
}

void add_fabric(Comments& comments, const Fabric& fabric) {
    if (fabric.routing) comments.add_if(true, "fabric.routing", to_text(*fabric.routing));
    std::string background;
    for (const auto& [link_class, share] : fabric.background)
        background += fmt::format(R"({}"{}": {})", background.empty() ? "" : ", ", link_class, share);
    comments.add_if(!background.empty(), "fabric.background", "{" + background + "}");
}

void add_deepspeed(Comments& comments, const Job& job) {
    if (job.framework->name != "deepspeed") return;
    const DeepSpeedSettings& settings = job.deepspeed;
    comments.add_if(settings.pipe_partitioned == Setting::off, "deepspeed.pipe_partitioned", false);
    comments.add_if(settings.grad_partitioned == Setting::off, "deepspeed.grad_partitioned", false);
    comments.add_if(settings.attention_mask == Setting::off, "deepspeed.attention_mask", false);
}

// A machine of the user's own is one by its file, which a name does not tell.
void add_machine(Comments& comments, const std::string& machine) {
    const std::vector<std::string> shipped = machine_names();
    const bool is_shipped = std::ranges::binary_search(shipped, machine);
    comments.add_if(is_shipped, "machine", machine);
    if (!is_shipped)
        comments.text += fmt::format("# {} is a machine of your own: to read this back give --machine FILE\n", machine);
}

void add_imbalance(Comments& comments, const Job& job) {
    const bool balanced = job.experts.balancing != Balancing::even || job.model.experts.balancing_bias;
    if (job.experts.by_layer.empty())
        return comments.add_if(job.experts.imbalance > 1.0 || balanced, "experts.imbalance", job.experts.imbalance);
    std::vector<double> given;
    for (std::uint32_t layer = 0; layer < job.experts.by_layer.size(); ++layer) {
        if (job.layer_place(layer) >= layer_kinds) given.push_back(job.experts.by_layer[layer]);
    }
    comments.add_if(true, "experts.imbalance", fmt::format("[{}]", fmt::join(given, ",")));
}

void add_run(Comments& comments, const Job& job) {
    comments.add_if(job.layout.ranks() != std::uint64_t{job.nodes} * job.ranks_per_node, "layout.data",
                    job.layout.data);
    comments.add_if(job.step == StepKind::first, "step", "first");
    comments.add_if(job.first_use.value > 0, "first_use", fmt::format("\"{} s\"", job.first_use.value));
    comments.add_if(job.blocking_launches == Setting::on, "blocking_launches", true);
    comments.add_if(job.framework->name == "deepspeed" && job.cuda_graphs != CudaGraphs::none, "cuda_graphs",
                    job.cuda_graphs == CudaGraphs::layer ? "layer" : "full");
    comments.add_if(job.batch.document > 0, "batch.document", job.batch.document);
    comments.add_if(job.batch.documents.mean_length() > 0, "batch.documents", documents_json(job.batch.documents));
    add_faults(comments, job);
    add_fabric(comments, job.fabric);
    add_deepspeed(comments, job);
}

}  // namespace

std::string own_keys(const Study& study, std::string_view framework) {
    const Job& job = study.job;
    Comments comments;
    add_machine(comments, study.machine.info().name);
    comments.add_if(true, "nodes", job.nodes);
    comments.add_if(job.model.name.find_first_of("\"\\\n") == std::string::npos, "model.name",
                    fmt::format("\"{}\"", job.model.name));
    comments.add_if(true, "model.vocabulary", job.model.vocabulary);
    comments.add_if(framework == "megatron", "megatron.version", job.megatron.version.name);
    comments.add_if(framework == "deepspeed", "deepspeed.version", fmt::format("\"{}\"", job.deepspeed.version.name));
    comments.add_if(job.sustained_clock < 1.0, "sustained_clock", job.sustained_clock);
    comments.add_if(job.communication_units > 0, "communication_units", job.communication_units);
    add_imbalance(comments, job);
    comments.add_if(!job.library.empty(), "library", job.library);
    add_run(comments, job);
    return comments.text;
}

void refuse_placement(const Study& study, Unsayable& unsayable) {
    unsayable.unless(study.job.fabric.placement.empty(), "fabric.placement",
                     "which nodes a job gets is the scheduler's to say");
}

}  // namespace weft
