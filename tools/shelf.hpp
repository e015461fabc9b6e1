// Tools that threads work with, one at a time each.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weft {

// What a thread needs for its work; taken while it works on one piece and given back for the next, by whomever.
template <class Tool>
class Shelf {
  public:
    template <class Make>
    std::unique_ptr<Tool> take(const Make& make) {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<Tool> tool = std::move(free_.back());
                free_.pop_back();
                return tool;
            }
        }
        return make();
    }
    void give_back(std::unique_ptr<Tool> tool) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(tool));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Tool>> free_;
};

}  // namespace weft
