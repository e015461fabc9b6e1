// Who has which rows: hands them out in batches, takes them back from who is given up, and knows each as done once.
#pragma once

#include <deque>
#include <set>
#include <vector>

namespace weft {

class HandOut {
  public:
    HandOut(const std::vector<std::size_t>& rows, std::size_t members, std::size_t threads);

    // The next batch for a member that runs out of rows: as many as leave the others their share, at most 64. Empty if
    // it has enough, or none are left.
    std::vector<std::size_t> next(std::size_t member);
    // Whether this is the first time. Rows of a member that was given up may still come.
    bool finish(std::size_t member, std::size_t row);
    void give_back(std::size_t member, const std::vector<std::size_t>& rows);
    void give_up(std::size_t member);  // all that it has
    void stop();                       // no more are handed out

    bool is_done() const { return missing_.empty(); }
    bool is_idle() const;  // nobody has any
    bool is_idle(std::size_t member) const { return held_[member].empty(); }

  private:
    std::size_t threads_;  // of each member
    std::set<std::size_t> missing_;
    std::deque<std::size_t> waiting_;  // may hold some that are done by now
    std::vector<std::set<std::size_t>> held_;
    bool stopped_ = false;
};

}  // namespace weft
