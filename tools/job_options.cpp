#include "tools/job_options.hpp"

namespace weft {

void add_job_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("job", po::value<std::string>()->required()->value_name("JOB"),
                          "job file (JSON, comments allowed)")(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
        "override a key of the job, e.g. layout.tensor=8; repeatable");
    positional.add("job", 1);
}

std::string job_path(const po::variables_map& arguments) { return arguments["job"].as<std::string>(); }

std::vector<std::string> job_overrides(const po::variables_map& arguments) {
    return arguments.count("set") ? arguments["set"].as<std::vector<std::string>>() : std::vector<std::string>{};
}

Study job_study(const po::variables_map& arguments, Purpose purpose) {
    return load_study(job_path(arguments), job_overrides(arguments), purpose);
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
