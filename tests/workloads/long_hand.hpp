// The same plan with scripts in which every pass is written out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/plan/plan.hpp"

namespace weft::test {

// Data parallelism that never says that it is idle.
class NeverIdle final : public DataParallel {
  public:
    explicit NeverIdle(std::unique_ptr<DataParallel> own) : own_(std::move(own)) {}

    void start_up(Script& script) override { own_->start_up(script); }
    void begin_step(Script& script) override { own_->begin_step(script); }
    void begin_pass(Script& script, const PassAt& at) override { own_->begin_pass(script, at); }
    void end_pass(Script& script, const PassAt& at) override { own_->end_pass(script, at); }
    void before(Script& script, const PassAt& at, std::size_t index) override { own_->before(script, at, index); }
    void after(Script& script, const PassAt& at, std::size_t index) override { own_->after(script, at, index); }
    void finish_gradients(Script& script) override { own_->finish_gradients(script); }
    void before_optimizer(Script& script) override { own_->before_optimizer(script); }
    void after_optimizer(Script& script) override { own_->after_optimizer(script); }

  private:
    std::unique_ptr<DataParallel> own_;
};

template <std::size_t Number>
std::unique_ptr<DataParallel> never_idle(const ShardingInput& input) {
    return std::make_unique<NeverIdle>(framework::all()[Number]->data_parallel(input));
}

// Of every framework, by its number among all.
inline constexpr std::array never_idle_ones{never_idle<0>, never_idle<1>, never_idle<2>, never_idle<3>};

// Of the plan's framework; it must outlive what is made of it.
inline Framework never_idle(const Plan& plan) {
    const auto all = framework::all();
    Framework framework = *plan.job.framework;
    framework.data_parallel =
        never_idle_ones.at(static_cast<std::size_t>(std::ranges::find(all, plan.job.framework) - all.begin()));
    return framework;
}

}  // namespace weft::test
