// What a machine file can serve: of each library, which frameworks with which kind of parallelism.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {

struct ServedKind {
    std::string_view kind;  // "ZeRO 1"
    // Collectives that the library lacks for it; absent: the framework does not have this kind of parallelism.
    std::optional<std::vector<std::string_view>> missing;
};

struct ServedRow {
    std::string library;
    std::string framework;
    std::vector<ServedKind> kinds;
};

struct Served {
    MachineInfo machine;
    std::vector<ServedRow> rows;
};

// `name`: of a shipped machine, or a path. Tried with jobs on two ranks. Throws ConfigError as Machine::load() does.
Served served(const std::string& name);
std::string served_text(const std::string& name, const Served& served);
nlohmann::ordered_json served_json(const Served& served);

}  // namespace weft
