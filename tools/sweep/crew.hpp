// Who evaluates the points of a sweep: threads of this process, or the ranks of an MPI job.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
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

}  // namespace weft
