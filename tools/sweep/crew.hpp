// Who evaluates the points of a sweep: threads of this process, or the ranks of an MPI job.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "tools/parallel.hpp"
#include "tools/sweep/row_file.hpp"

namespace weft {

struct SweepWork {
    std::vector<std::size_t> rows;                  // to be evaluated, by number
    std::function<Row(std::size_t)> evaluate;       // from any thread, several at a time
    std::function<void(std::size_t, Row)> deliver;  // what was evaluated, in any order, one at a time, each row once
    std::function<bool()> stopped;                  // then no more are begun
    std::string inputs;                             // digest: that all who evaluate must agree on
};

class Crew {
  public:
    virtual ~Crew() = default;
    // Whether this process has the work and takes the results. Others only evaluate.
    virtual bool leads() const = 0;
    // Ends when every row is delivered, or work.stopped() and all that was begun is delivered. What evaluate() or
    // deliver() throws comes out.
    virtual void run(const SweepWork& work) = 0;
};

std::unique_ptr<Crew> thread_crew(unsigned threads);

// Whether mpirun or srun started this process as one of several ranks.
bool is_mpi_job();

struct MpiOptions {
    unsigned threads = 1;  // of each rank
    Seconds patience{30};  // after which a silent rank is given up
};

// The ranks of an MPI job as a crew: rank 0 leads, hands out points, keeps the journal and evaluates as well.
//
// Points go out in batches, ever smaller ones towards the end. A rank that is given up has its points done by others;
// should it speak again, it is back. Where ranks were given up, the process ends without MPI's own end, in which all
// ranks would have to take part. When rank 0 is silent for twice the patience, the others leave; so does who waits that
// long for others while MPI begins (10 s at least) or ends. Throws std::runtime_error if weft was built without MPI,
// since every rank would run the whole sweep; if MPI takes no calls from a second thread; or if ranks disagree on the
// inputs.
std::unique_ptr<Crew> mpi_crew(const MpiOptions& options);

// Who has which rows: hands them out in batches, takes them back from who is given up, and knows each as done once.

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

// Threads that evaluate rows while another thread talks to the rest of the world.
class EvaluatorThreads {
  public:
    using Done = std::vector<std::pair<std::size_t, Row>>;

    EvaluatorThreads(const SweepWork& work, unsigned threads);

    void put(const std::vector<std::size_t>& rows);
    // What was finished since the last call; waits a while for something. Throws what evaluate() threw.
    Done take(std::chrono::milliseconds wait);
    std::vector<std::size_t> withdraw();  // the rows that are not begun: they will not be

  private:
    void evaluate_next();

    const SweepWork& work_;
    std::mutex mutex_;  // guards the next four
    std::condition_variable done_;
    std::deque<std::size_t> waiting_;
    Done finished_;
    std::exception_ptr failure_;
    Workers workers_;  // last: they use all of the above
};

}  // namespace weft
