#include "tools/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "tools/parallel.hpp"

#ifdef WEFT_HAS_MPI
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <exception>
#include <limits>
#include <thread>
#endif

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

long number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// How many processes the launcher started: Open MPI's mpirun; MPICH's and others by PMI; srun, whatever it speaks.
long launched() {
    return std::max({number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"), number_in("SLURM_STEP_NUM_TASKS")});
}

}  // namespace

std::unique_ptr<Crew> thread_crew(unsigned threads) { return std::make_unique<ThreadCrew>(threads); }

bool is_mpi_job() { return launched() > 1; }

#ifndef WEFT_HAS_MPI

std::unique_ptr<Crew> mpi_crew(unsigned) {
    throw std::runtime_error(
        "this weft was built without MPI, and each of its ranks would run the whole sweep: install MPI and Boost.MPI "
        "(Debian: libboost-mpi-dev libopenmpi-dev openmpi-bin) and build it anew, or run shards (--shard I/N)");
}

#else

namespace {

namespace mpi = boost::mpi;

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();  // in place of a row: there are no more

// Messages to rank 0. Every report is answered with the number of a row, or `none`, to the thread that sent it.
enum Tag : int { report, farewell };

// What a thread of another rank asks for its next row with.
struct RowReport {
    int thread = 0;
    std::string inputs;        // SweepWork's
    std::string row, failure;  // what came of the row before: row_line(), or why there is none

    template <class Archive>
    void serialize(Archive& archive, unsigned /*version*/) {
        archive& thread& inputs& row& failure;
    }
};

// The rows that rank 0 has to give and to get. From any thread.
class Ledger {
  public:
    explicit Ledger(const SweepWork& work) : work_(work) {}

    std::size_t next() {
        const std::lock_guard lock(mutex_);
        const bool is_over = failure_ || begun_ == work_.rows.size() || work_.stopped();
        return is_over ? none : work_.rows[begun_++];
    }
    // Calls act(), of which what it throws ends the work.
    template <class Act>
    void attempt(Act act) {
        try {
            act();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }
    void deliver(std::size_t number, Row row) {
        const std::lock_guard lock(mutex_);
        work_.deliver(number, std::move(row));
    }
    void check() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    const SweepWork& work_;
    std::mutex mutex_;
    std::size_t begun_ = 0;
    std::exception_ptr failure_;
};

class MpiCrew final : public Crew {
  public:
    explicit MpiCrew(unsigned threads)
        : threads_(threads), environment_(mpi::threading::multiple, /*abort_on_exception=*/false) {
        if (mpi::environment::thread_level() < mpi::threading::multiple) {
            throw std::runtime_error(
                "this MPI takes no calls from several threads (no MPI_THREAD_MULTIPLE): run shards");
        }
        if (world_.size() < launched()) {
            throw std::runtime_error(
                fmt::format("{} processes were started, but MPI knows of {}: with srun, give the "
                            "--mpi that this MPI speaks (srun --mpi=list); or run shards",
                            launched(), world_.size()));
        }
    }
    // All ranks end together: whoever never ran has others that may still ask.
    ~MpiCrew() override {
        if (!leads()) {
            world_.send(0, farewell);
        } else if (!has_served_) {
            serve([](int, const RowReport&) { return none; });
        }
    }

    bool leads() const override { return world_.rank() == 0; }

    void run(const SweepWork& work) override { leads() ? lead(work) : follow(work); }

  private:
    void lead(const SweepWork& work) {
        Ledger ledger(work);
        const auto evaluate = [&] {
            for (std::size_t row = ledger.next(); row != none; row = ledger.next()) {
                ledger.attempt([&] { ledger.deliver(row, work.evaluate(row)); });
            }
        };
        const auto answer = [&](int from, const RowReport& said) {
            ledger.attempt([&] {
                if (said.inputs != work.inputs) {
                    throw std::runtime_error(fmt::format("rank {} reads other inputs than rank 0", from));
                }
                if (!said.failure.empty()) throw std::runtime_error(fmt::format("rank {}: {}", from, said.failure));
                if (said.row.empty()) return;
                auto [number, row] = parse_row(said.row);
                ledger.deliver(number, std::move(row));
            });
            return ledger.next();
        };
        for_each_in_parallel(threads_ + 1, threads_ + 1, [&](std::size_t i) { i == 0 ? serve(answer) : evaluate(); },
                             {});
        ledger.check();
    }

    // Until all others have said farewell.
    template <class Answer>
    void serve(Answer answer) {
        constexpr std::chrono::microseconds pause{100};  // between looks: this thread shares its core
        has_served_ = true;
        for (int present = world_.size() - 1; present > 0;) {
            const boost::optional<mpi::status> waiting = world_.iprobe();
            if (!waiting) {
                std::this_thread::sleep_for(pause);
            } else if (waiting->tag() == farewell) {
                world_.recv(waiting->source(), farewell);
                --present;
            } else {
                RowReport said;
                world_.recv(waiting->source(), report, said);
                world_.send(waiting->source(), said.thread, answer(waiting->source(), said));
            }
        }
    }

    void follow(const SweepWork& work) {
        std::mutex mutex;  // one report at a time: it is several messages
        const auto next_row = [&](const RowReport& said) {
            {
                const std::lock_guard lock(mutex);
                world_.send(0, report, said);
            }
            std::size_t row = none;
            world_.recv(0, said.thread, row);
            return row;
        };
        const auto evaluate = [&](std::size_t thread) {
            RowReport said{.thread = static_cast<int>(thread), .inputs = work.inputs, .row = {}, .failure = {}};
            for (std::size_t row = next_row(said); row != none; row = next_row(said)) {
                try {
                    said.row = row_line(row, work.evaluate(row));
                } catch (const std::exception& error) {
                    said.failure = error.what();
                }
            }
            if (!said.failure.empty()) throw std::runtime_error(said.failure);
        };
        for_each_in_parallel(threads_, threads_, evaluate, {});
    }

    unsigned threads_;
    mpi::environment environment_;  // its end is MPI's
    mpi::communicator world_;
    bool has_served_ = false;
};

}  // namespace

std::unique_ptr<Crew> mpi_crew(unsigned threads) { return std::make_unique<MpiCrew>(threads); }

#endif

}  // namespace weft
