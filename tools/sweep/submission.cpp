#include "tools/sweep/submission.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "sim/io/atomic_file.hpp"
#include "sim/io/embedded.hpp"

namespace weft {
namespace {

constexpr std::string_view script_name = "sweep-array";

std::string_view script() {
    return std::ranges::find(embedded::slurm_scripts(), script_name, &embedded::File::name)->text;
}

// Waits for the end of the command, which has this process's output. Its exit code.
int run(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (const int error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
        error != 0) {
        throw std::runtime_error(fmt::format("{}: {}; is this a machine with Slurm? Otherwise run shards (--shard I/N)",
                                             words[0], std::generic_category().message(error)));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void submit_to_slurm(const Submission& submission) {
    const std::filesystem::path folder = submission.out.string() + ".shards";
    std::filesystem::create_directories(folder);
    const std::filesystem::path path = folder / fmt::format("{}.sh", script_name);
    write_file_atomically(path, script());
    ::setenv("WEFT", std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);  // what the script is to run
    std::vector<std::string> words{"sbatch",
                                   fmt::format("--array=1-{}", submission.shards),
                                   path.string(),
                                   submission.sweep.string(),
                                   submission.out.string(),
                                   fmt::to_string(submission.shards)};
    words.insert(words.end(), submission.options.begin(), submission.options.end());
    if (const int code = run(std::move(words)); code != 0) {
        throw std::runtime_error(fmt::format("sbatch refused the array (exit code {})", code));
    }
}

}  // namespace weft
