// What the form offers: the keys of a job file as their reader knows them, with what weft ships.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/requested_job.hpp"

namespace weft {

struct FormField {
    std::string key, meaning;
    std::string otherwise{};  // what it is where nothing is said; empty: unknown
    enum class Input : std::uint8_t { choice, number, text } input = Input::text;
    std::vector<std::pair<std::string, std::string>> choices{};  // of a choice: value and what is shown
};

struct FormGroup {
    std::string title;
    std::vector<FormField> fields;
};

struct StartingJob {
    std::string name, summary;
    Parameters parameters;
};

struct FormChoices {
    std::vector<FormGroup> groups;
    std::vector<FormField> others;  // keys that are in no group
    std::vector<StartingJob> jobs;  // those that weft ships
};

FormChoices form_choices();

// The page with the form: a job key by key, and below it what comes of it.

// `values`: of the job that it begins with, on which there may be notes. `own`: the job of the command line, offered
// beside those of `choices`.
std::string form_page(const FormChoices& choices, const Parameters& values, const std::optional<StartingJob>& own,
                      std::span<const FormatNote> notes = {});

inline constexpr std::string_view pasted_name = "pasted";  // of the form that a launch script is pasted into

// "layout.tensor=4&nodes=8", as an address has it behind the question mark.
std::string query_of(const Parameters& values);

}  // namespace weft
