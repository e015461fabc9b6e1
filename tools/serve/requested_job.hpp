// The job that a request asks about.
#pragma once

#include <filesystem>
#include <string>

#include "sim/io/document.hpp"
#include "tools/serve/exchange.hpp"
#include "tools/serve/target.hpp"

namespace weft {

inline constexpr const char* requested_name = "job.json";  // what a client's job is called, and as what it is saved

// The text of a job file. What the parameters say, "key.path=value" as --set takes them, or the body that is posted;
// empty values say nothing. No file is named in it (keep_to_shipped_names). Throws ConfigError.
std::string requested_job(const HttpRequest& request, const RequestTarget& target);

// A job file of the command line as such a text: machine and model from files, and those that a file of another tool
// describes, stand in it. Throws ConfigError, also where a file cannot be said so.
std::string self_contained_job(Document job);

// "key.path=value" of everything that a job says, to be the parameters of an address. Lists stay whole.
std::vector<std::pair<std::string, std::string>> parameters_of(std::string_view job);

}  // namespace weft
