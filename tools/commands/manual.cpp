// `weft manual FOLDER`: man pages and completion scripts, laid out below FOLDER as systems have them below /usr/share.
#include <fmt/format.h>

#include <filesystem>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/manual/manual.hpp"

namespace weft::commands {
namespace {

Answer run_manual(const po::variables_map& arguments) {
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
    return {};
}

}  // namespace

extern const Command manual{.name = "manual", .run = run_manual, .group = CommandGroup::other};

}  // namespace weft::commands
