// Inputs of every kind that weft reads, changed at random: each must be read or refused with words, and what is read
// must be planned and, where it is small, simulated to a result that can be.
//
//   weft_fuzz                           WEFT_FUZZ_CASES cases (20000) from WEFT_FUZZ_SEED (1), of WEFT_FUZZ_KIND (all)
//                                       one small job in WEFT_FUZZ_PLANNED (1) is simulated, others are planned alone
//   weft_fuzz job-1-4711.input ...      inputs that failed, again: the kind is in the name
//
// An input that fails is written to WEFT_FUZZ_OUT (the current folder) and named on stderr; the run goes on, but for
// crashes and inputs that take the processor half a minute. Exit code 1 if any failed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/mutation.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_FUZZ_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_FUZZ_SANITIZED
#endif
#endif

// What sanitizers call before they end the process.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace weft::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long most_seconds = 30;                 // of one input
constexpr rlim_t most_memory = rlim_t{4} << 30U;  // of the process
constexpr std::size_t most_failures = 25;

// The input under way, for whoever is called when the process ends.
struct Current {
    std::string text, path;
} current;

void write_current(const char* why) {
    const int file = ::open(current.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) {
        [[maybe_unused]] const auto written = ::write(file, current.text.data(), current.text.size());
        ::close(file);
    }
    for (const std::string_view part :
         {std::string_view(why), std::string_view(": "), std::string_view(current.path), std::string_view("\n")}) {
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, part.data(), part.size());
    }
}

volatile std::sig_atomic_t is_over = 0;  // the user wants no more cases

extern "C" void on_end(int) { is_over = 1; }

extern "C" void on_signal(int number) {
    write_current(number == SIGPROF ? "took too long" : "crashed");
    ::_exit(1);
}

void watch() {
    static std::array<char, 1U << 16U> stack;  // a crash may come of a full one
    const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    ::sigaltstack(&alternative, nullptr);
    std::signal(SIGINT, on_end);
    std::signal(SIGTERM, on_end);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGPROF, &action, nullptr);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback([] { write_current("stopped by a sanitizer"); });
        return;
    }
    for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) ::sigaction(number, &action, nullptr);
#ifndef WEFT_FUZZ_SANITIZED
    const rlimit limit{most_memory, most_memory};
    ::setrlimit(RLIMIT_AS, &limit);
#endif
}

// Seconds of the processor from now on; 0: any number.
void allow(long seconds) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
}

bool says_what(const ConfigError& error) {
    return !error.diagnostics().empty() && std::ranges::all_of(error.diagnostics(), [](const Diagnostic& each) {
        return !each.message.empty() && !(each.file.empty() && each.key.empty() && each.line == 0);
    });
}

enum class Outcome : std::uint8_t { read, refused, failed };

// Of the current input; says on stderr why it failed.
Outcome outcome(const InputKind& kind) {
    std::string why;
    allow(most_seconds);
    try {
        kind.read(current.text);
        allow(0);
        return Outcome::read;
    } catch (const ConfigError& error) {
        if (says_what(error)) return Outcome::refused;
        why = fmt::format("refused without words or place: {}", error.what());
    } catch (const RangeError& error) {
        if (*error.what() != '\0') return Outcome::refused;
        why = "refused without words";
    } catch (const std::invalid_argument& error) {
        if (*error.what() != '\0') return Outcome::refused;
        why = "refused without words";
    } catch (const std::exception& error) {
        why = error.what();
    }
    allow(0);
    write_current(why.c_str());
    return Outcome::failed;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct MutatedKind {
    InputKind kind;
    std::vector<Json> trees{};  // of its seeds
    std::size_t read = 0, refused = 0, failed = 0;
    std::chrono::duration<double> taken{};

    std::string input(Draws& draws) const {
        const std::size_t most = draws.one_in(2) ? 1 : 5;
        std::string text = kind.syntax == Syntax::json && !draws.one_in(8) ? mutated_json(trees, most, draws)
                                                                           : mutated_text(kind.seeds, most, draws);
        return draws.one_in(6) ? mutated_bytes(std::move(text), most, draws) : text;
    }
};

std::vector<MutatedKind> all_kinds() {
    std::vector<MutatedKind> kinds;
    for (std::vector<InputKind> (*const some)() : {job_inputs, machine_inputs, table_inputs, foreign_inputs}) {
        for (InputKind& kind : some()) {
            MutatedKind& made = kinds.emplace_back(MutatedKind{std::move(kind)});
            if (made.kind.syntax == Syntax::text) continue;
            for (const std::string& seed : made.kind.seeds)
                made.trees.push_back(Json::parse(seed, nullptr, true, true));
        }
    }
    return kinds;
}

int replay(std::vector<MutatedKind>& kinds, const std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    const auto known =
        std::ranges::find_if(kinds, [&](const MutatedKind& each) { return name.starts_with(each.kind.name + "-"); });
    if (known == kinds.end()) {
        std::cerr << path << ": no kind of input begins its name\n";
        return 1;
    }
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    current = {text.str(), path};
    return outcome(known->kind) == Outcome::failed ? 1 : 0;
}

// Seeds as they are: of each kind one at least is read.
int try_seeds(const std::vector<MutatedKind>& kinds) {
    int code = 0;
    for (const MutatedKind& each : kinds) {
        std::size_t read = 0;
        for (const std::string& seed : each.kind.seeds) {
            current = {seed, fmt::format("{}-seed.input", each.kind.name)};
            const Outcome came = outcome(each.kind);
            read += came == Outcome::read ? 1 : 0;
            if (came == Outcome::failed) code = 1;
        }
        if (read > 0) continue;
        std::cerr << each.kind.name << ": no seed can be read\n";
        code = 1;
    }
    return code;
}

int run(std::vector<MutatedKind>& kinds) {
    const std::uint64_t cases = from_environment("WEFT_FUZZ_CASES", 20'000),
                        seed = from_environment("WEFT_FUZZ_SEED", 1);
    const char* const out = std::getenv("WEFT_FUZZ_OUT");
    const char* const only = std::getenv("WEFT_FUZZ_KIND");
    std::vector<MutatedKind*> drawn;
    for (MutatedKind& each : kinds) {
        if (only == nullptr || each.kind.name == only) drawn.insert(drawn.end(), each.kind.weight, &each);
    }
    if (drawn.empty()) throw std::invalid_argument("WEFT_FUZZ_KIND is no kind of input");
    std::size_t failed = 0, done = 0;
    const auto start = Clock::now();
    for (; done < cases && failed < most_failures && is_over == 0; ++done) {
        const auto begin = Clock::now();
        Draws draws((seed << 40U) + done);
        MutatedKind& each = *draws.of(drawn);
        current.text = each.input(draws);
        current.path = (std::filesystem::path(out == nullptr ? "." : out) /
                        fmt::format("{}-{}-{}.input", each.kind.name, seed, done))
                           .string();
        const Outcome came = outcome(each.kind);
        ++(came == Outcome::read ? each.read : came == Outcome::refused ? each.refused : each.failed);
        failed += came == Outcome::failed ? 1 : 0;
        each.taken += Clock::now() - begin;
    }
    const std::chrono::duration<double> taken = Clock::now() - start;
    for (const MutatedKind& each : kinds) {
        fmt::print("{:20} {:8} read {:8} refused {:4} failed {:6.0f} s\n", each.kind.name, each.read, each.refused,
                   each.failed, each.taken.count());
    }
    fmt::print("{} cases from seed {}: {} failed, {:.0f} cases/s\n", done, seed, failed, double(done) / taken.count());
    return failed > 0 ? 1 : 0;
}

int fuzz(int argc, char** argv) {
    watch();
    std::vector<MutatedKind> kinds = all_kinds();
    int code = 0;
    if (argc > 1) {
        for (int i = 1; i < argc; ++i) code |= replay(kinds, argv[i]);
        return code;
    }
    code = try_seeds(kinds);
    return code | run(kinds);
}

}  // namespace
}  // namespace weft::test

int main(int argc, char** argv) { return weft::test::fuzz(argc, argv); }
