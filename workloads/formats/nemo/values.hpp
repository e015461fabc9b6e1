// Values of a Hydra configuration with their "${...}" filled in.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"

namespace weft {

class HydraValues {
  public:
    // "NAME=VALUE" each: for what other files of the configuration, or the environment, would say.
    HydraValues(Field root, std::span<const std::string> variables);

    // The text of the value at `path` ("model.hidden_size"), with what it refers to; names of what is not there go to
    // `unknown`.
    std::string text(std::string_view path, std::vector<std::string>& unknown);

  private:
    std::string filled(std::string_view text, std::string_view path, std::vector<std::string>& unknown);
    std::string resolved(std::string_view inside, std::string_view path, std::vector<std::string>& unknown);
    std::string computed(std::string_view function, std::string_view arguments, std::string_view path,
                         std::vector<std::string>& unknown);

    Field root_;
    std::map<std::string, std::string, std::less<>> variables_;
    int depth_ = 0;
    int lookups_ = 0;
};

}  // namespace weft
