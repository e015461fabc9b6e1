// The program: runs the command line and alone turns failures into messages and exit codes.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <stdexcept>

#include "sim/base/keep_memory.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command_line.hpp"

namespace weft {
namespace {

Exit fail(Exit code, std::string_view message) {
    std::cout.flush();
    std::cerr << message << "\n";
    return code;
}

Exit report_fault(std::string_view what) {
    return fail(Exit::internal, fmt::format("internal error: {}\nThis is a fault of weft, not of your input. Please "
                                            "report it with the command line and its input files.",
                                            what));
}

// Whoever read our output has left (as in `weft ... | head`): no failure, and nobody to tell.
bool reader_has_left() {
    pollfd standard_output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    return ::poll(&standard_output, 1, 0) == 1 && (standard_output.revents & POLLERR) != 0;
}

Exit guarded_run(std::span<const char* const> arguments) {
    try {
        return run_command_line(arguments);
    } catch (const UsageError& error) {
        return fail(Exit::usage, fmt::format("error: {}", error.what()));
    } catch (const ConfigError& error) {
        return fail(Exit::bad_input, error.what());
    } catch (const std::runtime_error& error) {
        if (reader_has_left()) return Exit::ok;
        return fail(Exit::bad_input, fmt::format("error: {}", error.what()));
    } catch (const std::bad_alloc&) {
        return fail(Exit::internal, "error: out of memory");
    } catch (const std::exception& error) {
        return report_fault(error.what());
    }
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
    using namespace weft;
    keep_memory();
    std::signal(SIGPIPE, SIG_IGN);  // a failed write is seen below instead
    const Exit code = guarded_run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
    std::cout.flush();
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
    if (written || reader_has_left()) return static_cast<int>(code);
    return static_cast<int>(fail(Exit::bad_input, "error: cannot write to standard output"));
}
