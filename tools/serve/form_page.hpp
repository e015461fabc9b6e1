// The page with the form: a job key by key, and below it what comes of it.
#pragma once

#include <optional>
#include <string>

#include "tools/serve/form_choices.hpp"

namespace weft {

// `values`: of the job that it begins with. `own`: the job of the command line, offered beside those of `choices`.
std::string form_page(const FormChoices& choices, const Parameters& values, const std::optional<StartingJob>& own);

// "layout.tensor=4&nodes=8", as an address has it behind the question mark.
std::string query_of(const Parameters& values);

}  // namespace weft
