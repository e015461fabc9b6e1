// `weft plan JOB`: which layout is best for a model on a machine.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/base/texts.hpp"
#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/plan_text.hpp"
#include "tools/output/result_file.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"
#include "workloads/exports/export.hpp"

namespace weft::commands {
namespace {

PlanRequest request_of(const po::variables_map& arguments) {
    PlanRequest request{.job = job_path(arguments), .overrides = job_overrides(arguments), .among = {}};
    for (const std::string& text : option_texts(arguments, "fix")) {
        Variation fixed = parse_variation(text);
        if (fixed.steps.size() > 1) throw std::invalid_argument("--fix " + text + ": several values; use --among");
        request.among.push_back(std::move(fixed));
    }
    for (const std::string& text : option_texts(arguments, "among")) request.among.push_back(parse_variation(text));
    return request;
}

SearchOptions options_of(const po::variables_map& arguments, ProgressBar& bar) {
    const std::optional<unsigned> asked = count_option(arguments, {"simulate"});
    return {.simulations = asked.value_or(std::max(usual_simulations, *count_option(arguments, {"top"}))),
            .most_simulations = asked.value_or(most_usual_simulations),
            .searched = given(arguments, "modelled") ? Searched::modelled : Searched::runnable,
            .every = arguments.count("out") + arguments.count("report") > 0,  // which have a row for each
            .threads = threads_option(arguments),
            .progress = [&bar](std::size_t done, std::size_t count) { bar.show(done, count); }};
}

PlanResult search(const PlanRequest& request, const po::variables_map& arguments) {
    ProgressBar bar;
    return find_layouts(request, options_of(arguments, bar));
}

// --tokens and --price.
std::optional<RunQuestion> run_question(const po::variables_map& arguments, std::size_t machines) {
    const std::optional<double> tokens = decimal_option(arguments, "tokens", "15T");
    const std::string prices = option_text(arguments, "price");
    if (!tokens && !prices.empty()) throw OptionError("--price is of a run; give its --tokens");
    if (!tokens) return std::nullopt;
    RunQuestion question{.tokens = *tokens, .prices = {}};
    if (prices.empty()) return question;
    for (const std::string_view text : parts_of(prices, ',')) {
        const auto price = parse_as<double>(text);
        if (!price || !(*price > 0)) throw OptionError("--price: expected prices such as 2.5,6, got \"{}\"", prices);
        question.prices.push_back(*price);
    }
    if (question.prices.size() == machines) return question;
    if (question.prices.size() > 1) {
        throw OptionError("--price: {} prices for {} machines", question.prices.size(), machines);
    }
    question.prices.resize(machines, question.prices.front());
    return question;
}

// --machines.
Answer plan_machines(const po::variables_map& arguments) {
    for (const char* const option : {"report", "out", "write-job", "launch", "machine"}) {
        if (arguments.count(option)) throw OptionError("--{} is of one machine, --machines of several", option);
    }
    const std::string all = option_text(arguments, "machines");
    const auto machines = list_of<std::string>(parts_of(all, ','), [](std::string_view said) {
        return named_here(embedded::machines(), "machine", trimmed(said));
    });
    const std::optional<RunQuestion> question = run_question(arguments, machines.size());
    ProgressBar bar;
    const std::vector<MachineAnswer> answers =
        ask_machines(request_of(arguments), machines, options_of(arguments, bar), question);
    const bool any = std::ranges::any_of(answers, &MachineAnswer::has_layout);
    return {given(arguments, "json") ? machines_json(answers) : machines_text(answers),
            any ? Exit::ok : Exit::does_not_fit};
}

void write_files(const PlanRequest& request, const PlanResult& result, const po::variables_map& arguments,
                 const ExportFormat* launch) {
    if (arguments.count("out")) {
        const std::string& path = arguments["out"].as<std::string>();
        write_results(path, plan_record(result), plan_rows(result));
        fmt::print(stderr, "{}: {} candidates\n", path, result.candidates.size());
    }
    if (const std::string page = output_option(arguments, "report", {".html"}); !page.empty()) {
        write_file_atomically(page, search_page(request, result,
                                                {.plan = typed_command("plan", arguments, {"fix", "among"}),
                                                 .simulate = typed_command("simulate", arguments),
                                                 .launch = launch}));
    }
    if (!arguments.count("write-job")) return;
    const std::string& path = arguments["write-job"].as<std::string>();
    if (result.simulated.empty()) {
        fmt::print(stderr, "{}: not written, no layout fits\n", path);
        return;
    }
    write_file_atomically(path, job_text(request, simulated_layout(result, 0), path));
    fmt::print(stderr, "{}: written\n", path);
}

// What launches the best layout that the format can say, on stdout in place of the table. Throws ConfigError with why
// not the best one, where there is none among the simulated.
void print_launch(const PlanRequest& request, const PlanResult& result, const ExportFormat& format) {
    std::optional<ConfigError> first;
    for (std::size_t place = 0; place < result.simulated.size(); ++place) {
        try {
            const std::string text = launch_text(request, simulated_layout(result, place), format);
            if (first) fmt::print(stderr, "{} launches layout {}, not 1: {}\n", format.name, place + 1, first->what());
            fmt::print("{}", text);
            return;
        } catch (const ConfigError& error) {
            if (!first) first = error;
        }
    }
    if (first) throw ConfigError(*first);
}

const ExportFormat* launch_format(const po::variables_map& arguments) {
    if (!arguments.count("launch")) return nullptr;
    const ExportFormat& format = find_export(arguments["launch"].as<std::string>());
    if (format.job == nullptr) throw OptionError("--launch: " + std::string(format.name) + " is of machines");
    return &format;
}

bool can_say(const ExportFormat& format, const Study& base, const std::string& schedule) {
    Study study = base;
    study.job.schedule = find_schedule(schedule);
    study.job.layout.pipeline = 2;  // on one stage every schedule is the same
    try {
        format.job(study);
    } catch (const ConfigError& error) {
        return std::ranges::none_of(error.diagnostics(), [](const Diagnostic& each) { return each.key == "schedule"; });
    }
    return true;
}

// Whoever wants a script is not helped by schedules that it cannot have: unless the user lists some, they are not
// tried.
void leave_out_unsayable(PlanRequest& request, const ExportFormat& format) {
    const auto of_schedules = [](const Variation& each) { return each.keys.front() == "schedule"; };
    if (std::ranges::any_of(request.among, of_schedules)) return;
    const PlanSpace space = read_space(request);
    const auto left = list_of_those<std::string>(
        schedule_keys(), [&](const std::string& key) { return can_say(format, space.space.bases().front(), key); });
    if (left.empty() || left.size() == schedule_keys().size()) return;
    request.among.push_back(parse_variation(fmt::format("schedule={}", fmt::join(left, ","))));
}

Exit verdict(const PlanResult& result) {
    if (!result.simulated.empty()) return Exit::ok;
    return result.count(Verdict::does_not_fit) > 0 ? Exit::does_not_fit : Exit::bad_input;
}

Answer run_plan(const po::variables_map& arguments) {
    const unsigned top = *count_option(arguments, {"top"});
    try {
        if (arguments.count("machines")) return plan_machines(arguments);
        output_option(arguments, "report", {".html"});  // refuses other names before anything runs
        if (arguments.count("out")) result_format(arguments["out"].as<std::string>());
        const ExportFormat* const launch = launch_format(arguments);
        PlanRequest request = request_of(arguments);
        if (launch != nullptr) leave_out_unsayable(request, *launch);
        print_job_notes(arguments);
        const PlanResult result = search(request, arguments);
        fmt::print(launch == nullptr ? stdout : stderr, "{}",
                   given(arguments, "json") ? plan_json(result, job_record(arguments), top) : plan_text(result, top));
        write_files(request, result, arguments, launch);
        if (launch != nullptr) print_launch(request, result, *launch);
        return {.exit = verdict(result)};
    } catch (const std::invalid_argument& error) {
        throw OptionError(error.what());
    }
}

}  // namespace

extern const Command plan{.name = "plan", .run = run_plan, .group = CommandGroup::run};

}  // namespace weft::commands
