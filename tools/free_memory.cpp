#include "tools/free_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace weft {
namespace {

namespace fs = std::filesystem;

// A file that holds one number; "max" is none.
std::optional<double> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (!(file >> value)) return std::nullopt;
    return static_cast<double>(value);
}

// The number after a word at the start of a line.
std::optional<double> number_after(const fs::path& path, std::string_view word) {
    std::ifstream file(path);
    std::string line, first;
    while (file >> first) {
        std::uint64_t value = 0;
        if (first == word && file >> value) return static_cast<double>(value);
        std::getline(file, line);
    }
    return std::nullopt;
}

struct Names {
    const char *limit, *usage, *files;
};

// Of a control group and all above it, up to `top`.
double left_by_groups(fs::path group, const fs::path& top, const Names& names) {
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
        if (const std::optional<double> limit = number_in(group / names.limit)) {
            const double used = number_in(group / names.usage).value_or(0.0) -
                                number_after(group / "memory.stat", names.files).value_or(0.0);
            least = std::min(least, *limit - std::max(used, 0.0));
        }
        if (group == top || !group.has_relative_path()) return std::max(least, 0.0);
        group = group.parent_path();
    }
}

// "0::/path" of version 2, "4:memory:/path" of version 1. The path may lie outside of what a container sees.
fs::path group_below(const fs::path& top, const std::string& path) {
    const fs::path inside = top / fs::path(path).relative_path();
    return fs::exists(inside) ? inside.lexically_normal() : top;
}

}  // namespace

Bytes free_memory(const fs::path& root) {
    double least = std::numeric_limits<double>::infinity();
    if (const auto available = number_after(root / "proc/meminfo", "MemAvailable:")) least = *available * 1024;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t colon = line.find(':'), second = line.find(':', colon + 1);
        if (second == std::string::npos) continue;
        const std::string kinds = line.substr(colon + 1, second - colon - 1), path = line.substr(second + 1);
        if (kinds.empty()) {
            const fs::path top = root / "sys/fs/cgroup";
            const Names names{"memory.max", "memory.current", "inactive_file"};
            least = std::min(least, left_by_groups(group_below(top, path), top, names));
        } else if (("," + kinds + ",").find(",memory,") != std::string::npos) {
            const fs::path top = root / "sys/fs/cgroup/memory";
            const Names names{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
            least = std::min(least, left_by_groups(group_below(top, path), top, names));
        }
    }
    return Bytes{least};
}

}  // namespace weft
