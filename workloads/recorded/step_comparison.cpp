#include "workloads/recorded/step_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

constexpr std::int64_t of_nanosecond = 1'000'000;

std::int64_t clock_ticks(Seconds time) { return std::llround(time.value * Instant::ticks_per_second); }

double flops(const ProductShape& of) { return 2 * of.m * of.n * of.k * of.count; }

// Dimensions of a product by those of its operands.
ProductShape product_dims(std::string_view text) {
    std::vector<std::vector<double>> operands = dims_of(text);
    // addmm has what it adds before its factors, all have further arguments behind them.
    std::erase_if(operands, [](const auto& dims) { return dims.size() < 2; });
    if (operands.size() >= 3 && operands[2].size() == operands[1].size() &&
        operands[1].back() == operands[2][operands[2].size() - 2] && operands[0].back() == operands[2].back()) {
        operands.erase(operands.begin());
    }
    if (operands.size() < 2) return {};
    const std::vector<double>&a = operands[0], &b = operands[1];
    ProductShape dims{.m = a[a.size() - 2], .n = b.back(), .k = a.back(), .count = a.size() > 2 ? a[0] : 1};
    if (a.size() > 3) dims.count *= a[1];
    return dims;
}

// The class of a product of these dimensions: the same work, and the most dimensions in common.
WorkClass product_class(std::string_view text, const std::vector<ProductShape>& shapes) {
    const ProductShape dims = product_dims(text);
    WorkClass best = WorkClass::other_products;
    int most = 0;
    for (const ProductShape& shape : shapes) {
        if (std::abs(flops(shape) - flops(dims)) > 0.02 * flops(shape)) continue;
        std::multiset<double> own{shape.m, shape.n, shape.k};
        int common = 1;
        for (const double each : {dims.m, dims.n, dims.k}) {
            const auto found = own.find(each);
            if (found == own.end()) continue;
            own.erase(found);
            ++common;
        }
        if (common > most) best = shape.what;
        most = std::max(most, common);
    }
    return best;
}

class Comparer {
  public:
    Comparer(const KinetoTrace& trace, const Simulation& run) : trace_(trace), run_(run), report_(make_report(run)) {}

    StepComparison compare() {
        const Layout& layout = run_.plan.job.layout;
        const bool known = trace_.rank >= 0 && trace_.rank < layout.ranks();
        found_.stage = known ? layout.grid().coordinate(static_cast<RankId>(trace_.rank), "pipeline") : 0;
        const Stage& stage = run_.plan.stages[found_.stage];
        step_ = recorded_step(trace_, stage.layers());
        number_layers(stage);
        work_ = simulated_work(run_.plan, found_.stage);
        name_products();
        add_recorded();
        add_simulated();
        join();
        add_gaps();
        found_.calls = compared_calls(trace_, step_, run_, found_.stage);
        found_.trace = trace_.file;
        found_.device = trace_.device;
        found_.ranks = {trace_.ranks, std::int64_t{layout.ranks()}};
        found_.recorded = std::move(step_);
        return std::move(found_);
    }

  private:
    // As the model does, part by part.
    void number_layers(const Stage& stage) {
        std::vector<std::int32_t> numbers;
        for (const Chunk& chunk : stage.chunks) {
            for (std::uint32_t i = 0; i < chunk.layers; ++i)
                numbers.push_back(static_cast<std::int32_t>(chunk.first_layer + i));
        }
        for (RecordedKernel& kernel : step_.kernels) {
            if (kernel.layer != no_layer) kernel.layer = numbers.at(static_cast<std::size_t>(kernel.layer));
        }
    }

    void name_products() {
        for (RecordedKernel& kernel : step_.kernels) {
            if (kernel.what == WorkClass::other_products) {
                kernel.what = product_class(trace_.texts[kernel.dims], work_.products);
            }
            kernel.what = work_.compared(kernel.what);
        }
    }

    void add_recorded() {
        for (const RecordedKernel& kernel : step_.kernels) {
            const DeviceEvent& event = trace_.kernels[kernel.event];
            ComparedWork& work = of({kernel.pass, kernel.layer, kernel.what});
            work.kernels[0] += event.kind != DeviceEvent::Kind::fill;
            work.femtoseconds[0] += (event.end - event.begin) * of_nanosecond;
            work.beside += kernel.beside * of_nanosecond;
            const bool is_call = kernel.what == WorkClass::communication;
            (is_call ? exposed_calls_ : work.exposed[0]) += kernel.exposed * of_nanosecond;
            auto& longest = longest_[work.key];
            if (longest == nullptr || event.end - event.begin > duration(*longest)) longest = &kernel;
        }
        found_.duration[0] = step_.duration() * of_nanosecond;
        estimate_profiling();
        found_.memory = {trace_.allocated, run_.plan.stages[found_.stage].memory.allocated().value};
    }

    // Of a step that waits for its host, all that recording costs the host, but no more than it waited.
    void estimate_profiling() {
        const Seconds each = trace_.is_simulated ? Seconds{} : profiling_of_operation;
        const std::int64_t late = (step_.gaps.host + step_.gaps.synchronisation) * of_nanosecond;
        const std::int64_t cost = clock_ticks(each * static_cast<double>(step_.operations));
        found_.profiling = std::min(late, cost);
        const auto issue = [each](const RecordedStep::LayerIssue& layer) {
            return std::max<std::int64_t>(layer.time * of_nanosecond - clock_ticks(each * layer.operations), 0);
        };
        found_.host_forward = {issue(step_.forward), clock_ticks(work_.host_forward)};
        found_.host_backward = {issue(step_.backward), clock_ticks(work_.host_backward)};
        double alone = 0;  // kernels: what lies between those beside communication is not told from it
        for (const RecordedKernel& kernel : step_.kernels) {
            const auto time = static_cast<double>(std::max<std::int64_t>(duration(kernel), 1));
            const bool is_call = kernel.what == WorkClass::communication;
            alone += is_call ? 0.0 : 1.0 - static_cast<double>(kernel.beside) / time;
        }
        if (alone >= 1) found_.between = std::llround(double(step_.gaps.between * of_nanosecond) / alone);
    }

    std::int64_t duration(const RecordedKernel& kernel) const {
        return trace_.kernels[kernel.event].end - trace_.kernels[kernel.event].begin;
    }

    void add_simulated() {
        for (const auto& [key, sum] : work_.sums) {
            ComparedWork& work = of({key.pass, key.layer, work_.compared(key.what)});
            work.kernels[1] += sum.kernels;
            work.femtoseconds[1] += clock_ticks(sum.time);
            work.exposed[1] += clock_ticks(sum.time);
            work.flops += sum.flops;
            work.bytes += sum.bytes;
        }
        found_.duration[1] = run_.timeline.end.femtoseconds;
    }

    ComparedWork& of(const WorkKey& key) {
        ComparedWork& work = cells_[key];
        work.key = key;
        return work;
    }

    void join() {
        std::map<WorkKey, ComparedWork> classes;
        std::int64_t all = 0, named = 0, matched = 0;
        for (const auto& [key, work] : cells_) {
            found_.layers.push_back(work);
            ComparedWork& sum = classes[{key.pass, no_layer, key.what}];
            sum.key = {key.pass, no_layer, key.what};
            for (const std::size_t side : {0U, 1U}) {
                sum.kernels[side] += work.kernels[side];
                sum.femtoseconds[side] += work.femtoseconds[side];
                sum.exposed[side] += work.exposed[side];
            }
            sum.beside += work.beside;
            sum.flops += work.flops;
            sum.bytes += work.bytes;
            all += work.femtoseconds[0];
            if (key.what != WorkClass::other) named += work.femtoseconds[0];
            // Calls are matched by operation and group.
            const bool both = work.femtoseconds[0] > 0 && work.femtoseconds[1] > 0;
            if (both || key.what == WorkClass::communication) {
                matched += work.femtoseconds[0];
            } else {
                add_unmatched(work);
            }
        }
        for (auto& [key, sum] : classes) found_.classes.push_back(sum);
        const auto largest = [](const auto& work) { return -std::abs(work.difference()); };
        std::ranges::stable_sort(found_.classes, {}, largest);
        std::ranges::stable_sort(found_.unmatched, std::ranges::greater{}, &Unmatched::femtoseconds);
        if (all > 0) found_.named = static_cast<double>(named) / static_cast<double>(all);
        if (all > 0) found_.matched = static_cast<double>(matched) / static_cast<double>(all);
    }

    void add_unmatched(const ComparedWork& work) {
        const Side side = work.femtoseconds[0] > 0 ? Side::recorded : Side::simulated;
        const auto s = static_cast<std::size_t>(side);
        Unmatched row{.side = side,
                      .key = work.key,
                      .kernel = {},
                      .operation = {},
                      .kernels = work.kernels[s],
                      .femtoseconds = work.femtoseconds[s]};
        if (side == Side::recorded) {
            const RecordedKernel& kernel = *longest_.at(work.key);
            row.kernel = trace_.texts[trace_.kernels[kernel.event].name];
            row.operation = trace_.texts[kernel.operation];
        }
        found_.unmatched.push_back(std::move(row));
    }

    void add_gaps() {
        const StageReport& stage = report_.stages[found_.stage];
        const auto ticks = [this](Seconds WorkSum::*of) {
            return sum_of<std::int64_t>(work_.sums, [&](const auto& each) { return clock_ticks(each.second.*of); });
        };
        const std::int64_t host = clock_ticks(Seconds{report_.metric("step.waiting_for_host_s")});
        const std::int64_t slower = clock_ticks(Seconds{report_.metric("step.interference_s")});
        const RecordedGaps& gaps = step_.gaps;
        found_.gaps = {{"between kernels", {gaps.between * of_nanosecond, ticks(&WorkSum::gaps)}},
                       {"waiting for the host", {gaps.host * of_nanosecond, host}, true},
                       {"host, after it waited for the device", {gaps.synchronisation * of_nanosecond, 0}, true},
                       {"behind the last kernel", {gaps.end * of_nanosecond, 0}},
                       {"slower beside communication", {0, slower}},
                       {"waiting for other ranks", {gaps.waiting * of_nanosecond, clock_ticks(stage.idle)}},
                       {"exposed communication", {exposed_calls_, 0}}};
        for (const DimensionTime& dimension : stage.dimensions) {
            found_.gaps.back().femtoseconds[1] += clock_ticks(dimension.time);
        }
        std::int64_t rest = found_.duration[1] - ticks(&WorkSum::time);
        for (const ComparedGap& gap : found_.gaps) rest -= gap.femtoseconds[1];
        if (std::abs(rest) < of_nanosecond) {  // what is rounded above
            found_.gaps.front().femtoseconds[1] += rest;
        } else {
            found_.gaps.push_back({"not attributed", {0, rest}});
        }
        std::erase_if(found_.gaps, [](const ComparedGap& gap) { return gap.femtoseconds == Sides<std::int64_t>{}; });
    }

    const KinetoTrace& trace_;
    const Simulation& run_;
    const Report report_;
    RecordedStep step_;
    SimulatedWork work_;
    std::int64_t exposed_calls_ = 0;  // fs, of recorded ones
    std::map<WorkKey, ComparedWork> cells_;
    std::map<WorkKey, const RecordedKernel*> longest_;
    StepComparison found_;
};

}  // namespace

StepComparison compare_step(const KinetoTrace& trace, const Simulation& run) {
    constexpr double most = 9e12;  // ns that the clock of the simulation has room for
    const auto time = [](const DeviceEvent& kernel) { return static_cast<double>(kernel.end - kernel.begin); };
    const auto whole = static_cast<double>(trace.kernels.back().end - trace.kernels.front().begin);
    if (std::max(sum_of<double>(trace.kernels, time), whole) > most)
        refuse_file(trace.file, "lasts longer than 9,000 s: record a few steps");
    return Comparer(trace, run).compare();
}

}  // namespace weft
