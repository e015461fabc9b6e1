#include "tools/output_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

std::string output_option(const boost::program_options::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings) {
    if (!arguments.count(option)) return "";
    const std::string& path = arguments[option].as<std::string>();
    for (const std::string_view ending : endings) {
        if (path.ends_with(ending)) return path;
    }
    throw boost::program_options::error(
        fmt::format("--{}: expected a name that ends in {}, got \"{}\"", option, fmt::join(endings, " or "), path));
}

}  // namespace weft
