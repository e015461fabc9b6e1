#include "topologies/channel_search.hpp"

namespace weft {
namespace {

using Members = std::vector<std::uint32_t>;

constexpr std::uint32_t most_members = 8;

// Ring after ring, member after member; what leads nowhere is taken back.
class Decomposition {
  public:
    explicit Decomposition(std::uint32_t n) : n_(n), used_(std::size_t{n} * n) {}

    bool find() {
        if (rings_.size() + 1 > n_ - 1) return true;
        rings_.push_back({0});
        if (extend()) return true;
        rings_.pop_back();
        return false;
    }
    std::vector<Members> rings() && { return std::move(rings_); }

  private:
    bool extend() {
        const std::uint32_t here = rings_.back().back();
        if (rings_.back().size() == n_) {
            if (used_[here * n_] != 0) return false;
            used_[here * n_] = 1;
            if (find()) return true;
            used_[here * n_] = 0;
            return false;
        }
        // The first step tells rings apart: they come in its order.
        const std::uint32_t only = rings_.back().size() == 1 ? static_cast<std::uint32_t>(rings_.size()) : 0;
        for (std::uint32_t to = 1; to < n_; ++to) {
            if ((only != 0 && to != only) || used_[here * n_ + to] != 0) continue;
            if (std::ranges::find(rings_.back(), to) != rings_.back().end()) continue;
            used_[here * n_ + to] = 1;
            rings_.back().push_back(to);
            if (extend()) return true;
            rings_.back().pop_back();
            used_[here * n_ + to] = 0;
        }
        return false;
    }

    std::uint32_t n_;
    std::vector<std::uint8_t> used_;  // from each to each
    std::vector<Members> rings_;
};

}  // namespace

std::vector<Members> mesh_rings(std::uint32_t n) {
    if (n < 3 || n > most_members || n == 4 || n == 6) return {};
    Decomposition decomposition(n);
    return decomposition.find() ? std::move(decomposition).rings() : std::vector<Members>{};
}

// 0, 1, -1, 2, -2, ... modulo n, and its rotations: the differences of neighbours are all different.
std::vector<Members> mesh_paths(std::uint32_t n) {
    std::vector<Members> paths;
    for (std::uint32_t first = 0; n % 2 == 0 && first < n; ++first) {
        Members& path = paths.emplace_back();
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t step = (i + 1) / 2;
            path.push_back((first + (i % 2 == 1 ? step : n - step)) % n);
        }
    }
    return paths;
}

}  // namespace weft
