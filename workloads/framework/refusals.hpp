// What frameworks refuse of a job, and what their releases lack of it.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// Collects why a job cannot run, by the key to change.
class Refusals {
  public:
    explicit Refusals(std::vector<JobError>& errors) : errors_(errors) {}

    template <class... Args>
    void operator()(std::string_view key, fmt::format_string<Args...> why, Args&&... args) const {
        errors_.push_back({std::string(key), fmt::format(why, std::forward<Args>(args)...)});
    }
    template <class... Args>
    void when(bool refused, std::string_view key, fmt::format_string<Args...> why, Args&&... args) const {
        if (refused) (*this)(key, why, std::forward<Args>(args)...);
    }

  private:
    std::vector<JobError>& errors_;
};

// Every axis but data, and what needs one. Experts are like any parameters: every rank has all of them.
void check_data_only(const Job& job, std::vector<JobError>& errors);
// What torchtitan does not compose with fully_shard, and what is not simulated of it.
void check_composition(const Job& job, std::vector<JobError>& errors);
// What DeepSpeed cannot run; settings, given other than by default, that the job's ZeRO stage does not read; and what
// ZeRO++ asks of the layout.
void check_deepspeed(const Job& job, std::vector<JobError>& errors);
// Appends, by the key that asks for it, what the job's version of Megatron-LM has not, and the first that has.
void lacking_megatron_features(const Job& job, std::vector<JobError>& lacking);

}  // namespace weft
