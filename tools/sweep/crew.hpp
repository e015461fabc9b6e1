// Who evaluates the points of a sweep: threads of this process, or the ranks of an MPI job.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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

// The ranks of an MPI job, with so many threads each: rank 0 hands out points, keeps the journal and evaluates as well.
// A rank that dies takes the job with it, as MPI has it; the journal has what was done. Throws std::runtime_error if
// weft was built without MPI, since every rank would run the whole sweep; if MPI takes no calls from several threads;
// or if ranks disagree on the inputs.
std::unique_ptr<Crew> mpi_crew(unsigned threads);

}  // namespace weft
