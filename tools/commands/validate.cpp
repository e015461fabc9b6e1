// `weft validate`: predictions beside every published measurement that is shipped, or beside the user's own.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"
#include "tools/calibrate/device_fit.hpp"
#include "tools/command.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/validate/run.hpp"
#include "tools/validate/scorecard.hpp"

namespace weft::commands {
namespace {

constexpr std::size_t worst_shown = 10;

// Mistakes of all sets at once.
std::vector<ValidationSet> load_sets(const po::variables_map& arguments) {
    const std::vector<std::string> names =
        arguments.count("set") ? arguments["set"].as<std::vector<std::string>>() : validation_set_names();
    std::vector<ValidationSet> sets;
    std::set<std::string> known;
    for_each_with_mistakes(names, [&](const std::string& name) {
        if (known.insert(name).second) sets.push_back(load_validation_set(name));  // else named twice
    });
    return sets;
}

std::string job_of(const std::vector<ValidationSet>& sets, const std::string& name) {
    if (sets.size() != 1) throw OptionError("--job-of: say with --set which set the row belongs to");
    const std::vector<ValidationRow>& rows = sets.front().rows;
    const auto* const found = first_of(rows, [&](const ValidationRow& row) { return row.name == name; });
    if (found != nullptr) return row_job_text(sets.front(), *found);
    const auto known = list_of<std::string>(rows, &ValidationRow::name);
    throw OptionError("--job-of: {} has no row \"{}\"{}", sets.front().name, name, suggestion(name, known));
}

std::vector<ValidatedRow> run_rows(const po::variables_map& arguments, const std::vector<ValidationSet>& sets) {
    ValidationOptions run{.filter = option_text(arguments, "filter"), .threads = threads_option(arguments)};
    run.convention = flops_option(arguments).value_or(FlopConvention::model);
    ProgressBar bar;
    run.progress = [&bar](std::size_t done, std::size_t cases) { bar.show(done, cases); };
    return run_validation(sets, run);
}

Answer run_leave_out(const po::variables_map& arguments) {
    for (const auto& [option, value] : arguments) {
        if (value.defaulted() || option == "leave-out" || option == "jobs") continue;
        throw OptionError("--leave-out takes no --" + option);
    }
    auto names = arguments["leave-out"].as<std::vector<std::string>>();
    const auto shipped = list_of<ValidationSet>(validation_set_names(), load_validation_set);
    if (names == std::vector<std::string>{"all"}) names = validation_set_names();
    for (const std::string& name : names) {
        const LeftOut result = leave_out(load_validation_set(name), shipped, threads_option(arguments));
        fmt::print("{}\n", left_out_text(name, result));
        std::fflush(stdout);
    }
    return {};
}

Answer run_validate(const po::variables_map& arguments) {
    const std::string report = output_option(arguments, "report", {".html"});
    const std::string record = output_option(arguments, "record", {".csv"});
    if (!record.empty() && (arguments.count("set") > 0 || arguments.count("filter") > 0)) {
        throw OptionError("--record is of all shipped sets: it takes no --set and no --filter");
    }
    if (arguments.count("leave-out") > 0) return run_leave_out(arguments);
    const std::vector<ValidationSet> sets = load_sets(arguments);
    if (given(arguments, "list")) return {validation_list(sets)};
    if (arguments.count("job-of")) return {job_of(sets, option_text(arguments, "job-of"))};
    const std::vector<ValidatedRow> rows = run_rows(arguments, sets);
    if (rows.empty())
        throw OptionError("--filter: no row has \"" + option_text(arguments, "filter") + "\" in its name");
    const Coverage coverage = arguments.count("filter") ? Coverage::filtered : Coverage::whole;
    const Validation validation{.sets = sets,
                                .rows = rows,
                                .card = make_scorecard(sets, rows, coverage),
                                .convention = flops_option(arguments)};
    if (!record.empty()) write_file_atomically(record, error_record(sets, rows));
    if (!report.empty()) write_file_atomically(report, validation_page(validation));
    if (given(arguments, "json")) {
        fmt::print("{}", validation_json(validation));
    } else if (given(arguments, "csv") || given(arguments, "markdown")) {
        if (given(arguments, "markdown")) fmt::print("{}", validation_markdown(validation));
        if (given(arguments, "csv")) fmt::print("{}", validation_csv(validation));
    } else {
        if (given(arguments, "rows")) fmt::print("{}\n", validation_rows_text(validation));
        fmt::print("{}", validation_text(validation, given(arguments, "rows") ? 0 : worst_shown));
    }
    std::fflush(stdout);  // before what follows on a shared terminal
    fmt::print(stderr, "{}{}\n", broken_bounds_text(validation), verdict_text(validation));
    return {.exit = validation.card.passed() ? Exit::ok : Exit::mismatch};
}

}  // namespace

extern const Command validate{.name = "validate", .run = run_validate, .group = CommandGroup::inspect};

}  // namespace weft::commands
