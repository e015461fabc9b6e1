// Texts by number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {

// Each text is kept once, in a list of someone else's.
class Interned {
  public:
    explicit Interned(std::vector<std::string>& texts) : texts_(texts) {
        for (std::uint32_t i = 0; i < texts.size(); ++i) numbers_.emplace(texts[i], i);
    }
    std::uint32_t operator()(std::string_view text) {
        if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        texts_.emplace_back(text);
        numbers_.emplace(std::string(text), number);
        return number;
    }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::vector<std::string>& texts_;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace weft
