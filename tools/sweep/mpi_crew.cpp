#include "tools/sweep/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#ifdef WEFT_HAS_MPI
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "tools/command.hpp"
#include "tools/sweep/mpi_wire.hpp"
#endif

namespace weft {
namespace {

long number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// How many processes the launcher started: Open MPI's mpirun; MPICH's and others by PMI; srun, whatever it speaks.
long launched() {
    return std::max({number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"), number_in("SLURM_STEP_NUM_TASKS")});
}

}  // namespace

bool is_mpi_job() { return launched() > 1; }

#ifndef WEFT_HAS_MPI

std::unique_ptr<Crew> mpi_crew(const MpiOptions&) {
    throw std::runtime_error(
        "this weft was built without MPI, and each of its ranks would run the whole sweep: install MPI and Boost.MPI "
        "(Debian: libboost-mpi-dev libopenmpi-dev openmpi-bin) and build it anew, or run shards (--shard I/N)");
}

#else

namespace {

namespace mpi = boost::mpi;
using enum MpiTag;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Clock::duration duration_of(Seconds time) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.value));
}

// All ranks take part when MPI begins and ends: one that is silent would keep the others there for good.
Timer leaving_after(Clock::duration longest, const char* reason) {
    return {longest, [reason] {
                std::fflush(stdout);
                fmt::print(stderr, "error: {}\n", reason);
                std::_Exit(static_cast<int>(Exit::bad_input));
            }};
}

class Leader {
  public:
    Leader(MpiWire& wire, int ranks, const SweepWork& work, const MpiOptions& options)
        : wire_(wire),
          work_(work),
          options_(options),
          hand_out_(work.rows, static_cast<std::size_t>(ranks), options.threads),
          members_(static_cast<std::size_t>(ranks)) {
        for (Member& member : members_) member.heard = Clock::now();
    }

    void run() {
        EvaluatorThreads own(work_, options_.threads);
        bool halted = false;
        while (!hand_out_.is_done() && !(halted && hand_out_.is_idle())) {
            while (const std::optional<MpiMessage> message = wire_.receive()) take(*message);
            if (!halted && work_.stopped()) {
                halted = true;
                hand_out_.stop();
                hand_out_.give_back(0, own.withdraw());
                for_each_present([&](int rank) { wire_.send(rank, halt); });
            }
            own.put(hand_out_.next(0));
            for_each_present([&](int rank) {
                const std::vector<std::size_t> next = hand_out_.next(static_cast<std::size_t>(rank));
                if (!next.empty()) wire_.send(rank, rows, text_of(next));
            });
            for (auto& [number, row] : own.take(milliseconds(2))) finish(0, number, std::move(row));
            keep_alive();
        }
    }

    bool is_present(int rank) const { return !member(rank).left && !member(rank).given_up; }
    bool has_given_up() const {
        return std::ranges::any_of(members_, [](const Member& each) { return each.given_up; });
    }

  private:
    struct Member {
        Clock::time_point heard, told{};
        bool said_hello = false, given_up = false, left = false;
    };
    Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }
    const Member& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

    // Ranks that answer and agree on the inputs.
    template <class Do>
    void for_each_present(Do act) {
        for (int rank = 1; rank < static_cast<int>(members_.size()); ++rank) {
            if (is_present(rank) && member(rank).said_hello) act(rank);
        }
    }

    void take(const MpiMessage& message) {
        Member& from = member(message.from);
        from.heard = Clock::now();
        from.given_up = false;
        switch (message.tag) {
            case hello:
                if (message.text != work_.inputs) {
                    throw std::runtime_error(fmt::format("rank {} reads other inputs than rank 0", message.from));
                }
                from.said_hello = true;
                break;
            case result: {
                auto [number, row] = parse_row(message.text);
                finish(message.from, number, std::move(row));
                break;
            }
            case rest:
                hand_out_.give_back(static_cast<std::size_t>(message.from), numbers_in(message.text));
                break;
            case failure:
                throw std::runtime_error(fmt::format("rank {}: {}", message.from, message.text));
            case leave:
                from.left = true;
                hand_out_.give_up(static_cast<std::size_t>(message.from));
                break;
            default:
                break;
        }
    }

    void finish(int from, std::size_t number, Row row) {
        if (hand_out_.finish(static_cast<std::size_t>(from), number)) work_.deliver(number, std::move(row));
    }

    void keep_alive() {
        const auto now = Clock::now();
        const auto patience = duration_of(options_.patience);
        for (int rank = 1; rank < static_cast<int>(members_.size()); ++rank) {
            Member& each = member(rank);
            if (!is_present(rank)) continue;
            if (now - each.heard > patience) {
                each.given_up = true;
                hand_out_.give_up(static_cast<std::size_t>(rank));
                fmt::print(stderr, "rank {} is silent; others do its points\n", rank);
            } else if (now - each.told > patience / 5) {
                each.told = now;
                wire_.send(rank, alive);
            }
        }
    }

    MpiWire& wire_;
    const SweepWork& work_;  // until run() ends
    const MpiOptions& options_;
    HandOut hand_out_;
    std::vector<Member> members_;
};

// Rank 0 has not been heard of for so long that nobody should wait for it any more.
struct SilentLeader : std::runtime_error {
    SilentLeader() : std::runtime_error("rank 0 is silent; the same command with --resume goes on") {}
};

// A rank other than 0, until rank 0 says that it is over. Whether all ranks are there to end together.
bool follow(MpiWire& wire, const SweepWork& work, const MpiOptions& options) {
    wire.send(0, hello, work.inputs);
    EvaluatorThreads own(work, options.threads);
    const auto patience = duration_of(options.patience);
    auto heard = Clock::now(), told = heard;
    while (true) {
        while (const std::optional<MpiMessage> message = wire.receive()) {
            heard = Clock::now();
            if (message->tag == end) return message->text.empty();
            if (message->tag == rows) own.put(numbers_in(message->text));
            if (message->tag == halt) wire.send(0, rest, text_of(own.withdraw()));
        }
        for (const auto& [number, row] : own.take(milliseconds(2))) wire.send(0, result, row_line(number, row));
        const auto now = Clock::now();
        if (now - told > patience / 5) {
            told = now;
            wire.send(0, alive);
        }
        if (now - heard > 2 * patience) throw SilentLeader();
    }
}

class MpiCrew final : public Crew {
  public:
    explicit MpiCrew(const MpiOptions& options)
        : options_(options), environment_(begun(duration_of(options.patience))), wire_(world_) {
        if (mpi::environment::thread_level() < mpi::threading::serialized) {
            throw std::runtime_error(
                "this MPI takes calls from one thread only (no MPI_THREAD_SERIALIZED): run shards");
        }
        if (world_.size() < launched()) {
            throw std::runtime_error(
                fmt::format("{} processes were started, but MPI knows of {}: with srun, give the "
                            "--mpi that this MPI speaks (srun --mpi=list); or run shards",
                            launched(), world_.size()));
        }
        beat();
    }

    // A silent rank cannot take part in MPI's end. The first to leave without it mostly takes the others down with it:
    // that is rank 0, when all is written, and the others give it time.
    ~MpiCrew() override {
        pulse_.reset();
        const bool has_silent = leader_ ? leader_->has_given_up() : !ends_with_all_;
        const auto patience = duration_of(options_.patience);
        if (leads()) {
            tell_others(end, has_silent ? "without the silent" : "");
        } else if (!has_run_) {
            wire_.send(0, leave);
        } else if (has_silent && !leader_is_silent_) {
            std::this_thread::sleep_for(patience);
        }
        const auto is_there = [&](int rank) { return leader_ ? leader_->is_present(rank) : !leader_is_silent_; };
        for (const auto begin = Clock::now(); !wire_.has_sent_all(is_there) && Clock::now() - begin < patience;) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        if (has_silent) (void)environment_.release();
        const Timer timer = leaving_after(2 * patience, "MPI does not end: some rank is silent");
        environment_.reset();
    }

    bool leads() const override { return world_.rank() == 0; }

    void run(const SweepWork& work) override {
        has_run_ = true;
        if (!leads()) return evaluate_for_others(work);
        pulse_.reset();
        leader_.emplace(wire_, world_.size(), work, options_).run();
        beat();
    }

  private:
    static std::unique_ptr<mpi::environment> begun(Clock::duration patience) {
        constexpr Clock::duration least = std::chrono::seconds(10);  // until a busy machine has started all processes
        const Timer timer =
            leaving_after(std::max(2 * patience, least),
                          "MPI does not begin: some rank is silent, or slower than twice the --patience");
        return std::make_unique<mpi::environment>(mpi::threading::serialized, /*abort_on_exception=*/false);
    }

    // Tells that rank 0 is there while it reads a journal or writes the table, and makes no calls of MPI itself.
    void beat() {
        if (leads()) pulse_.emplace(duration_of(options_.patience) / 5, [this] { tell_others(alive); });
    }

    void tell_others(MpiTag tag, const std::string& text = "") {
        for (int rank = 1; rank < world_.size(); ++rank) {
            if (!leader_ || leader_->is_present(rank)) wire_.send(rank, tag, text);
        }
    }

    void evaluate_for_others(const SweepWork& work) {
        try {
            ends_with_all_ = follow(wire_, work, options_);
        } catch (const SilentLeader&) {
            leader_is_silent_ = true;
            ends_with_all_ = false;
            throw;
        } catch (const std::exception& error) {
            wire_.send(0, failure, error.what());
            throw;
        }
    }

    MpiOptions options_;
    std::unique_ptr<mpi::environment> environment_;  // its end is MPI's
    mpi::communicator world_;
    MpiWire wire_;
    std::optional<Leader> leader_;  // of rank 0, once it has run
    std::optional<Timer> pulse_;    // of rank 0, but while it runs
    bool has_run_ = false;
    bool ends_with_all_ = true;  // of the others: as rank 0 says
    bool leader_is_silent_ = false;
};

}  // namespace

std::unique_ptr<Crew> mpi_crew(const MpiOptions& options) { return std::make_unique<MpiCrew>(options); }

#endif

}  // namespace weft
