// Options that name a file to write.
#pragma once

#include <boost/program_options.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weft {

// The file that --`option` names; empty if it is not given. po::error where its name ends in none of `endings`.
std::string output_option(const boost::program_options::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings);

}  // namespace weft
