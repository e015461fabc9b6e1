#include "tools/sweep/crew.hpp"

#include <mutex>
#include <utility>

#include "tools/parallel.hpp"

namespace weft {
namespace {

class ThreadCrew final : public Crew {
  public:
    explicit ThreadCrew(unsigned threads) : threads_(threads) {}
    bool leads() const override { return true; }

    void run(const SweepWork& work) override {
        std::mutex mutex;  // one delivery at a time
        const auto evaluate = [&](std::size_t i) {
            if (work.stopped()) return;
            Row row = work.evaluate(work.rows[i]);
            const std::lock_guard lock(mutex);
            work.deliver(work.rows[i], std::move(row));
        };
        for_each_in_parallel(work.rows.size(), threads_, evaluate, {});
    }

  private:
    unsigned threads_;
};

}  // namespace

std::unique_ptr<Crew> thread_crew(unsigned threads) { return std::make_unique<ThreadCrew>(threads); }

}  // namespace weft
