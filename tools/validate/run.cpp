#include "tools/validate/run.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/parallel.hpp"
#include "tools/validate/quantity.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

bool measures_collective(const ValidationRow& row) {
    return std::ranges::any_of(row.measured, [](const PublishedValue& m) { return m.quantity == collective_quantity; });
}

ConfigError plain_error(std::string message) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    return ConfigError({std::move(diagnostic)});
}

std::variant<Study, CollectiveRequest> read_subject(const ValidationSet& set, const ValidationRow& row) {
    if (!measures_collective(row)) return read_study(row_document(set, row));
    if (row.measured.size() > 1) {
        throw plain_error("a collective on its own has no other measurement");
    }
    return read_collective(row_document(set, row));
}

Prediction predict_step(const Study& study, const ValidationRow& row, FlopConvention convention) {
    const Simulation run = simulate_step(study, make_plan(study));
    const Report report = make_report(run);
    Prediction prediction{.values = {},
                          .fits = run.plan.fits(),
                          .step_flops = step_flops(study.job, convention),
                          .ranks = static_cast<double>(study.job.layout.ranks()),
                          .job = job_traits(run.plan)};
    for (const PublishedValue& one : row.measured) {
        prediction.values.push_back(predicted_quantity(one.quantity, run, report));
    }
    return prediction;
}

void put_devices(const std::vector<Device>& devices, ValidationCase& one) {
    Study* const study = std::get_if<Study>(&one.subject);
    if (study == nullptr) return;
    const auto same = std::ranges::find(devices, study->device.name, &Device::name);
    if (same != devices.end()) study->device = *same;
}

void add_rows(const ValidationCase& one, const ValidationRow& row, const Prediction& prediction,
              std::vector<ValidatedRow>& rows) {
    for (std::size_t m = 0; m < row.measured.size(); ++m) {
        ValidatedRow validated{.set = one.set,
                               .row = one.row,
                               .quantity = row.measured[m].quantity,
                               .measured = row.measured[m].value,
                               .predicted = prediction.values[m],
                               .fits = prediction.fits || of_one_layer(row.measured[m].quantity),
                               .job = prediction.job};
        if (validated.quantity == "step_s") {
            const double tera = prediction.step_flops.value / prediction.ranks / 1e12;
            validated.measured_tflops = tera / validated.measured;
            validated.predicted_tflops = tera / validated.predicted;
        }
        rows.push_back(std::move(validated));
    }
}

constexpr std::uint32_t long_context = 32768;  // tokens of a sequence

std::string precision_class(Precision precision) {
    return precision == Precision::fp32  ? "32 bit"
           : precision == Precision::fp8 ? "8 bit"
           : precision == Precision::fp4 ? "4 bit"
                                         : "16 bit";
}

std::string sharding_class(const Job& job) {
    const StateShares shares = job.framework->shares(job);
    if (shares.parameters > 1) return "parameters sharded";
    return shares.gradients > 1 || shares.optimizer > 1 ? "optimizer sharded" : "nothing sharded";
}

}  // namespace

JobTraits job_traits(const Plan& plan) {
    const Job& job = plan.job;
    const bool is_long = job.layout.context > 1 || job.batch.sequence >= long_context;
    return {
        .values = {plan.device.die, std::string(job.framework->name), job.model.experts.count > 0 ? "experts" : "dense",
                   plan.host_bound ? "layers at the host's pace" : "layers at the device's pace",
                   precision_class(job.precision), sharding_class(job),
                   is_long ? "long or split context" : "short context"},
        .ranks = static_cast<double>(job.layout.ranks())};
}

std::vector<ValidationCase> validation_cases(std::span<const ValidationSet> sets, std::string_view filter) {
    std::vector<ValidationCase> cases;
    RowErrors errors;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        for (std::size_t r = 0; r < sets[s].rows.size(); ++r) {
            const ValidationRow& row = sets[s].rows[r];
            if (row.name.find(filter) == row.name.npos) continue;
            try {
                cases.push_back({s, r, read_subject(sets[s], row)});
            } catch (const ConfigError& error) {
                errors.add(sets[s], row, error);
            }
        }
    }
    errors.check();
    return cases;
}

Prediction predict(const ValidationCase& one, const ValidationRow& row, FlopConvention convention) {
    if (const Study* const study = std::get_if<Study>(&one.subject)) return predict_step(*study, row, convention);
    return {.values = {collective_time(std::get<CollectiveRequest>(one.subject)).value}};
}

std::vector<ValidatedRow> run_validation(std::span<const ValidationSet> sets, const ValidationOptions& options) {
    std::vector<ValidationCase> cases = validation_cases(sets, options.filter);
    for (ValidationCase& one : cases) put_devices(options.devices, one);
    std::vector<std::optional<Prediction>> predictions(cases.size());
    std::vector<std::optional<ConfigError>> failures(cases.size());
    const auto work = [&](std::size_t i) {
        const ValidationRow& row = sets[cases[i].set].rows[cases[i].row];
        try {
            predictions[i] = predict(cases[i], row, options.convention);
        } catch (const ConfigError& error) {
            failures[i] = error;
        } catch (const RangeError& error) {
            failures[i] = plain_error(error.what());
        }
    };
    for_each_in_parallel(cases.size(), options.threads, work, options.progress);
    std::vector<ValidatedRow> rows;
    RowErrors errors;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const ValidationSet& set = sets[cases[i].set];
        const ValidationRow& row = set.rows[cases[i].row];
        if (failures[i]) {
            errors.add(set, row, *failures[i]);
        } else {
            add_rows(cases[i], row, *predictions[i], rows);
        }
    }
    errors.check();
    return rows;
}

}  // namespace weft
