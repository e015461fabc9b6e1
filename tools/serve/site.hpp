// What is answered to which request: a pure function, whatever carries requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/exchange.hpp"
#include "tools/serve/form_choices.hpp"

namespace weft {

struct Site {
    std::uint16_t port = 0;
    FormChoices choices;
    std::optional<StartingJob> own{};  // of the command line
};

// What an answer takes at most.
enum class AnswerWork : std::uint8_t { one_simulation, many_simulations };
AnswerWork work_of(std::string_view target);

// Of any request; the body says why there is no page. HEAD is answered as GET.
HttpAnswer answer(const Site& site, const HttpRequest& request);

}  // namespace weft
