// The ranks of an MPI job as a crew: rank 0 leads, hands out points, keeps the journal and evaluates as well.
#pragma once

#include <memory>

#include "sim/base/quantity.hpp"
#include "tools/sweep/crew.hpp"

namespace weft {

// Whether mpirun or srun started this process as one of several ranks.
bool is_mpi_job();

struct MpiOptions {
    unsigned threads = 1;  // of each rank
    Seconds patience{30};  // after which a silent rank is given up
};

// Points go out in batches, ever smaller ones towards the end. A rank that is given up has its points done by others;
// should it speak again, it is back. Where ranks were given up, the process ends without MPI's own end, in which all
// ranks would have to take part. When rank 0 is silent for twice the patience, the others leave; so does who waits that
// long for others while MPI begins (10 s at least) or ends. Throws std::runtime_error if weft was built without MPI,
// since every rank would run the whole sweep; if MPI takes no calls from a second thread; or if ranks disagree on the
// inputs.
std::unique_ptr<Crew> mpi_crew(const MpiOptions& options);

}  // namespace weft
