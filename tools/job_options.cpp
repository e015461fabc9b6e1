#include "tools/job_options.hpp"

#include <fmt/format.h>

namespace weft {

void add_job_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("job", po::value<std::string>()->required()->value_name("JOB"),
                          "job file (JSON, comments allowed)")(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
        "override a key of the job, e.g. layout.tensor=8; repeatable");
    positional.add("job", 1);
}

std::string job_path(const po::variables_map& arguments) { return arguments["job"].as<std::string>(); }

std::vector<std::string> job_overrides(const po::variables_map& arguments) { return option_texts(arguments, "set"); }

Study job_study(const po::variables_map& arguments, Purpose purpose) {
    return load_study(job_path(arguments), job_overrides(arguments), purpose);
}

std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options) {
    std::string typed = fmt::format("weft {} {}", command, job_path(arguments));
    const auto add = [&](const char* option) {
        for (const std::string& text : option_texts(arguments, option))
            typed += fmt::format(" --{} '{}'", option, text);
    };
    add("set");
    for (const char* const option : options) add(option);
    return typed;
}

void add_network_option(po::options_description& options) {
    options.add_options()("network", po::value<std::string>()->default_value("flow")->value_name("MODEL"),
                          "flow: links shared max-min fairly; ideal: latency and bandwidth of every flow as if alone; "
                          "free: communication takes no time");
}

NetworkKind network_option(const po::variables_map& arguments) {
    const std::string& name = arguments["network"].as<std::string>();
    if (name == "flow") return NetworkKind::flow;
    if (name == "ideal") return NetworkKind::ideal;
    if (name == "free") return NetworkKind::free;
    throw po::error("--network: expected flow, ideal or free, got \"" + name + "\"");
}

}  // namespace weft
