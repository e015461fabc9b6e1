#include <nlohmann/json.hpp>

#include <sstream>
#include <stdexcept>

#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tests/fuzz/further.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tools/serve/site.hpp"
#include "workloads/job/job.hpp"

namespace weft::test {
namespace {

Document parsed(const std::string& text, const std::vector<std::string>& assignments) {
    Document document = Document::parse("job.json", text);
    for (const std::string& assignment : assignments) document.assign(assignment);
    return document;
}

bool can_be_read(const std::string& text) {
    try {
        static const StudySources sources;
        read_study(Document::parse("job.json", text), Purpose::simulation, sources);
    } catch (const ConfigError&) {
        return false;
    }
    return true;
}

// The job cut down to what is simulated at once, as far as it can be, on as many nodes as its ranks then need.
std::string smaller(std::string text) {
    for (const char* const assignment :
         {"nodes=null", "model.layers=8", "layout.tensor=2", "layout.pipeline=2", "layout.data=4", "layout.expert=2",
          "layout.virtual_stages=2", "batch.global=16", "batch.micro=1", "batch.sequence=1024"}) {
        const std::string with = parsed(text, {assignment}).text();
        if (can_be_read(with)) text = with;
    }
    return text;
}

std::vector<std::string> job_seeds() {
    std::vector<std::string> seeds;
    const auto add = [&seeds](const embedded::File& file) {
        const std::string text = Document::parse("job.json", std::string(file.text)).text();
        if (!can_be_read(text)) return;
        seeds.push_back(text);
        seeds.push_back(smaller(text));
    };
    for (const embedded::File& file : embedded::jobs()) add(file);
    for (const embedded::File& file : embedded::schema_examples()) {
        if (file.name.starts_with("job")) add(file);
    }
    for (const char* const schedule : {"gpipe", "zb-h1", "zb-h2", "zb-v", "dualpipe"}) {
        seeds.push_back(std::string(R"({"machine": "dgx-a100", "framework": "megatron", "schedule": ")") + schedule +
                        R"(", "model": {"layers": 8, "hidden": 256, "heads": 8, "vocabulary": 1024},
                           "layout": {"pipeline": 4, "data": 2}, "batch": {"sequence": 192, "micro": 1, "global": 16},
                           "faults": {"slow_gpus": [{"rank": 3, "factor": 1.2}, {"node": 0, "factor": 1.05}],
                                      "links": [{"node": 0, "nic": 1, "bandwidth": 0.5}],
                                      "jitter": {"spread": 0.02, "seed": 7}},
                           "fabric": {"placement": "random:3", "routing": "adaptive",
                                      "background": {"infiniband.nic": 0.1}}})");
    }
    return seeds;
}

void read_job(const std::string& text) {
    go_on_with(read_study(Document::parse("job.json", text), Purpose::simulation, sources_of_case()));
}

// A line each, on a small job.
void read_overrides(const std::string& text) {
    static const std::string job =
        R"({"machine": "dgx-a100", "framework": "megatron", "sequence_parallel": true,
            "model": {"layers": 8, "hidden": 256, "heads": 8, "vocabulary": 1024},
            "layout": {"tensor": 2, "pipeline": 2, "data": 2}, "batch": {"sequence": 192, "micro": 1, "global": 16}})";
    std::vector<std::string> assignments;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) assignments.push_back(line);
    go_on_with(read_study(parsed(job, assignments), Purpose::simulation, sources_of_case()));
}

void read_posted(const std::string& text) {
    if (!is_utf8(text)) return;  // refused before anything is read of it
    const std::string job = requested_job({.method = "POST", .target = "/job.json", .body = text}, {"/job.json"}).text;
    parameters_of(job);
    go_on_with(read_study(Document::parse("job.json", job), Purpose::simulation, sources_of_case()));
}

// Pages are answered, too, but for those with a step on them.
void read_address(const std::string& text) {
    constexpr std::uint16_t port = 8080;
    static const Site site{.port = port, .choices = form_choices()};
    const std::optional<RequestTarget> target = parse_target(text);
    if (!target || target->path == "/" || target->path == "/job.json") {
        const HttpResponse page = answer(site, {.method = "GET", .target = text, .body = {}, .host = "localhost:8080"});
        if (page.status >= 500) throw std::logic_error("answered with " + page.body);
    }
    if (!target) return;
    const std::string job = requested_job({.method = "GET", .target = text, .body = {}}, *target).text;
    go_on_with(read_study(Document::parse("job.json", job), Purpose::simulation, sources_of_case()));
}

}  // namespace

std::vector<InputKind> job_inputs() {
    const std::vector<std::string> jobs = job_seeds();
    const std::vector<std::string> overrides{
        "layout.tensor=4\nlayout.data=1\nbatch.micro=2",
        "zero=1\nrecompute=selective\nprecision=fp16\noptimizer=adam",
        "model.layers=6\nmodel.experts={\"count\": 8, \"top_k\": 2}\nlayout.expert=2",
        "machine.links.infiniband.nic.bandwidth=800 Gbit/s\nmachine.network.oversubscription=2",
        "faults.slow_gpus=[{\"rank\": 1, \"factor\": 1.2}]\nfaults.jitter.spread=0.1\nfabric.placement=random:3",
        "schedule=interleaved\nlayout.virtual_stages=2\nlayout.order=data,tensor,pipeline",
        "machine=frontier\nmodel=llama3-8b\nframework=deepspeed\nsequence_parallel=false\nlibrary=rccl\nattention="
        "flash"};
    const std::vector<std::string> addresses{
        "/job.json?machine=frontier&nodes=2&model=gpt-neox-1.3b&framework=deepspeed&batch.sequence=2048&batch.micro=1&"
        "batch.global=16&zero=1&layout.tensor=2",
        "/?machine=dgx-h100&nodes=1&model=llama3-8b&framework=fsdp&batch.global=8&fsdp.version=2&"
        "recompute=%7B%22method%22%3A%22every%22%2C%22layers%22%3A2%7D"};
    return {{"job", Syntax::json, jobs, read_job, 12},
            {"override", Syntax::text, overrides, read_overrides, 4},
            {"posted", Syntax::json, jobs, read_posted, 2},
            {"address", Syntax::text, addresses, read_address, 2}};
}

}  // namespace weft::test
