// `weft serve`: simulations on pages in a browser, from this machine for this machine.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "tools/command.hpp"
#include "tools/parallel.hpp"
#include "tools/serve/server.hpp"
#include "tools/serve/site.hpp"

namespace weft::commands {
namespace {

std::optional<StartingJob> own_job(const po::variables_map& arguments) {
    const bool asked = arguments.count("job") > 0 || (arguments.count("machine") > 0 && arguments.count("model") > 0);
    if (!asked) return std::nullopt;
    print_job_notes(arguments);
    const std::string name = arguments.count("job") > 0 ? job_path(arguments) : "command line";
    return StartingJob{.name = std::filesystem::path(name).filename().string(),
                       .summary = "of the command line",
                       .parameters = parameters_of(self_contained_job(job_document(arguments)))};
}

// Returns at once, but for what a simulation under way needs to notice: that runs to its end, and holds nothing that
// anybody misses.
Exit leave(const Server& server) {
    constexpr std::chrono::milliseconds patience{200}, nap{5};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (server.is_working() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(nap);
    if (server.is_working()) std::_Exit(static_cast<int>(Exit::interrupted));
    return Exit::interrupted;
}

Answer run_serve(const po::variables_map& arguments) {
    limit_memory();
    const CountOption port_option{.name = "port", .least = 0, .most = 65535, .reason = "a port has 16 bits"};
    const auto port = static_cast<std::uint16_t>(*count_option(arguments, port_option));
    std::stop_source asked_to_end;
    const Interruption interruption([&] { asked_to_end.request_stop(); });  // before the server's threads
    Server server({.port = 0, .choices = form_choices(), .own = own_job(arguments)}, port);
    const std::stop_callback end(asked_to_end.get_token(), [&] { server.stop(); });
    fmt::print("http://localhost:{}/\n", server.port());
    std::fflush(stdout);
    fmt::print(stderr, "open this in a browser of this machine; Ctrl-C ends it\n");
    server.run();
    return {.exit = leave(server)};
}

}  // namespace

extern const Command serve{.name = "serve", .run = run_serve, .group = CommandGroup::run};

}  // namespace weft::commands
