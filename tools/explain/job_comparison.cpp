#include "tools/explain/job_explanation.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/output/job_json.hpp"

namespace weft {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;  // JSON text by key, in the order of the job

void flatten(const Json& json, const std::string& prefix, Values& values) {
    for (const auto& [key, value] : json.items()) {
        const std::string path = prefix.empty() ? key : prefix + "." + key;
        if (value.is_object()) {
            flatten(value, path, values);
        } else {
            values.emplace_back(path, value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
}

// What the job came to, and of what that does not tell, what its file says.
Values inputs_of(const std::string& said, const Plan& plan) {
    constexpr std::array not_inputs{"name", "overrides", "weft_version", "input_digest"};
    Json json = job_json(plan.job, plan.machine, {});
    for (const char* const key : not_inputs) json.erase(key);
    const Json file = Json::parse(said);
    for (const auto& [key, value] : file.items()) {
        if (!json.contains(key)) json[key] = value;
    }
    Values values;
    flatten(json, {}, values);
    return values;
}

std::vector<ComparedInput> compared_inputs(const std::vector<Values>& jobs) {
    std::vector<ComparedInput> inputs;
    std::map<std::string, std::size_t> known;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        for (const auto& [key, value] : jobs[job]) {
            const auto [at, fresh] = known.try_emplace(key, inputs.size());
            if (fresh) inputs.push_back({.key = key, .values = std::vector<std::string>(jobs.size())});
            inputs[at->second].values[job] = value;
        }
    }
    std::erase_if(inputs, [](const ComparedInput& input) {
        return std::ranges::all_of(input.values, [&](const std::string& each) { return each == input.values.front(); });
    });
    return inputs;
}

std::vector<ComparedCause> compared_causes(const std::vector<JobExplanation>& jobs) {
    std::map<Cause, std::vector<std::int64_t>> sums;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        for (const ExplainedCause& each : jobs[job].explanation.causes) {
            std::vector<std::int64_t>& ticks = sums[each.cause];
            ticks.resize(jobs.size(), 0);
            ticks[job] += each.ticks;
        }
    }
    std::vector<ComparedCause> causes;
    for (auto& [cause, ticks] : sums) causes.push_back({cause, std::move(ticks)});
    std::ranges::stable_sort(causes, std::ranges::greater{}, [](const ComparedCause& cause) {
        std::int64_t most = 0;
        for (const std::int64_t own : cause.ticks) most = std::max(most, std::abs(own - cause.ticks.front()));
        return most;
    });
    return causes;
}

}  // namespace

JobComparison compare_jobs(const std::vector<ComparedJob>& jobs, const ExplainOptions& options) {
    JobComparison comparison;
    std::vector<Values> inputs;
    for (const ComparedJob& job : jobs) {
        Document document = open_job(job.file.source, job.file.overrides).document;
        const std::string said = document.text();
        comparison.names.push_back(job.name);
        comparison.jobs.push_back(explain_job(read_study(std::move(document)), job.file, options));
        inputs.push_back(inputs_of(said, comparison.jobs.back().step.run.plan));
    }
    comparison.causes = compared_causes(comparison.jobs);
    comparison.inputs = compared_inputs(inputs);
    return comparison;
}

}  // namespace weft
