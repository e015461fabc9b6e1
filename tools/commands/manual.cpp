// `weft manual FOLDER`: man pages and completion scripts, laid out below FOLDER as systems have them below /usr/share.
#include <fmt/format.h>

#include <filesystem>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/manual/completions.hpp"
#include "tools/manual/man_pages.hpp"

namespace weft::commands {
namespace {

void manual_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("folder", po::value<std::string>()->required()->value_name("FOLDER"),
                          "where to write, as ~/.local/share");
    positional.add("folder", 1);
}

Exit run_manual(const po::variables_map& arguments) {
    const std::filesystem::path folder = arguments["folder"].as<std::string>();
    const auto write = [&](const std::filesystem::path& path, std::string_view text) {
        std::filesystem::create_directories((folder / path).parent_path());
        write_file_atomically(folder / path, text);
        fmt::print("{}\n", (folder / path).string());
    };
    for (const ManPage& page : man_pages()) {
        write(fmt::format("man/man{0}/{1}.{0}", page.section, page.name), page.text);
    }
    write("bash-completion/completions/weft", completion_script("bash"));
    write("fish/vendor_completions.d/weft.fish", completion_script("fish"));
    write("zsh/site-functions/_weft", completion_script("zsh"));
    return Exit::ok;
}

}  // namespace

extern const Command manual;
const Command manual{
    .name = "manual",
    .summary = "write man pages and completion scripts of shells",
    .usage = "weft manual FOLDER",
    .details =
        "Packages install them below /usr/share; for oneself:\n\n"
        "  weft manual ~/.local/share && man weft-simulate\n\n"
        "Pages of commands are in section 1, those of files (weft-job, weft-machine, weft-device, weft-model) in\n"
        "section 5. The names of the files written are printed.",
    .options = manual_options,
    .run = run_manual,
    .group = CommandGroup::other,
};

}  // namespace weft::commands
