#include "sim/endurance/long_run.hpp"

#include <algorithm>
#include <array>
#include <boost/random/exponential_distribution.hpp>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

enum class Blow : std::uint8_t { hardware, software, planned };

// When the next interruption of one kind comes. A kind has a stream of random numbers of its own, so that what a run
// makes of one failure does not change which others come.
class Hazard {
  public:
    Hazard(Seconds mean, std::uint64_t seed, std::uint64_t number, Blow kind) : mean_(mean) {
        const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
        std::seed_seq words{low(seed), low(seed >> 32U), low(number), low(number >> 32U), std::uint32_t(kind)};
        engine_.seed(words);
        draw(Seconds{});
    }

    Seconds at() const { return at_; }
    void draw(Seconds now) {
        if (mean_ == endless) return;
        at_ = now + Seconds{boost::random::exponential_distribution<double>(1.0 / mean_.value)(engine_)};
    }
    void put_off(Seconds by) { at_ += by; }

  private:
    Seconds mean_, at_ = endless;
    std::mt19937_64 engine_;
};

class Runner {
  public:
    Runner(const LongRun& run, std::uint64_t seed, std::uint64_t number)
        : run_(run),
          hazards_{Hazard(run.hardware, seed, number, Blow::hardware),
                   Hazard(run.software, seed, number, Blow::software),
                   Hazard(run.planned, seed, number, Blow::planned)},
          spares_(run.spares) {
        for (const Stretch& stretch : run.stretches) total_ += stretch.steps;
    }

    RunSample run() {
        while (!over_) {
            leap();
            if (done_ == total_ ? save(run_.write) : work()) continue;
            if (!over_) come_back();
        }
        sample_.wall = now_;
        sample_.steps = done_;
        sample_.productive = time_of(done_);
        constexpr double rounding = 1e-9;  // of sums over many checkpoints
        if (std::abs(sample_.lost().value) < rounding * sample_.worked.value) sample_.worked = sample_.productive;
        return sample_;
    }

  private:
    // Spends time on something, until it is done, or something strikes, or the run is over: whether it was done.
    bool spend(Seconds duration, Seconds& account) {
        const Hazard& first = *std::ranges::min_element(hazards_, {}, &Hazard::at);
        const Seconds end = now_ + duration, until = std::min({end, first.at(), run_.horizon});
        account += until - now_;
        now_ = until;
        if (until == end) return true;
        over_ = until == run_.horizon;
        return false;
    }

    Seconds time_of(std::uint64_t steps) const {
        Seconds sum;
        for (const Stretch& stretch : run_.stretches) {
            const std::uint64_t here = std::min(steps, stretch.steps);
            sum += stretch.step * static_cast<double>(here);
            steps -= here;
        }
        return sum;
    }

    // The stretch of the next step, and how many of it were before.
    std::pair<const Stretch&, std::uint64_t> place() const {
        std::uint64_t before = done_;
        auto stretch = run_.stretches.begin();
        for (; before >= stretch->steps; ++stretch) before -= stretch->steps;
        return {*stretch, before};
    }

    // Rounds of steps and a checkpoint that nothing disturbs, all but the last at once. Where a checkpoint waits for
    // the one before they are no such rounds.
    void leap() {
        if (done_ == total_) return;
        const auto [stretch, before] = place();
        const Seconds work = stretch.step * static_cast<double>(stretch.between), round = work + run_.stall;
        const Seconds quiet = std::min(std::ranges::min(hazards_, {}, &Hazard::at).at(), run_.horizon) - now_;
        if (before % stretch.between != 0 || run_.write > round || quiet < round) return;
        const double most = static_cast<double>((stretch.steps - before) / stretch.between);
        const double rounds = std::min(most, std::floor(quiet / round)) - 1;
        if (rounds < 1) return;
        now_ += round * rounds;
        sample_.worked += work * rounds;
        sample_.stalled += run_.stall * rounds;
        done_ += stretch.between * static_cast<std::uint64_t>(rounds);
        writing_ = done_;
        saved_ = done_ - stretch.between;
        written_at_ = now_ - run_.stall + run_.write;
    }

    // Steps up to the next checkpoint, which the end of a stretch has, too, and that.
    bool work() {
        const auto [stretch, before] = place();
        const std::uint64_t steps = std::min(stretch.between - before % stretch.between, stretch.steps - before);
        const Seconds begun = now_;
        const bool all = spend(stretch.step * static_cast<double>(steps), sample_.worked);
        const double whole = std::floor((now_ - begun) / stretch.step);
        done_ += all ? steps : std::min(steps - 1, static_cast<std::uint64_t>(whole));
        return all && (done_ == total_ || save(run_.stall));
    }

    // A checkpoint of the steps done, for which steps wait so long; for the one before as well, if it is on its route.
    bool save(Seconds stall) {
        const Seconds busy = written_at_ == endless ? Seconds{} : written_at_ - now_;
        if (!spend(std::max(busy, Seconds{}), sample_.stalled)) return false;
        land();
        writing_ = done_;
        written_at_ = now_ + run_.write;
        if (!spend(stall, sample_.stalled)) return false;
        over_ = over_ || (done_ == total_ && now_ >= written_at_);
        return true;
    }

    void land() {
        if (now_ >= written_at_) saved_ = writing_;
    }

    // After what struck: back to the last checkpoint that can be loaded.
    void come_back() {
        for (bool restarted = false; !restarted && !over_;) {
            const Blow kind = strike();
            Seconds pause = run_.launch + run_.load;
            if (kind == Blow::planned) {
                if (!spend(run_.write, sample_.stalled)) continue;
                saved_ = done_;
                pause += run_.stop;
            } else {
                pause += run_.detection;
            }
            done_ = saved_;
            restarted = spend(pause, sample_.down);
        }
    }

    // What is being written is lost with the memory that it is written from.
    Blow strike() {
        land();
        written_at_ = endless;
        const auto struck = std::ranges::min_element(hazards_, {}, &Hazard::at);
        const Blow kind{static_cast<std::uint8_t>(struck - hazards_.begin())};
        struck->draw(now_);
        ++(kind == Blow::hardware ? sample_.hardware : kind == Blow::software ? sample_.software : sample_.planned);
        if (kind == Blow::hardware) replace_node();
        return kind;
    }

    void replace_node() {
        for (; !in_repair_.empty() && in_repair_.top() <= now_; in_repair_.pop()) ++spares_;
        in_repair_.push(now_ + run_.repair);
        if (spares_ > 0) {
            --spares_;
            return;
        }
        const Seconds wait = std::min(in_repair_.top(), run_.horizon) - now_;
        over_ = in_repair_.top() >= run_.horizon;
        in_repair_.pop();
        for (Hazard& hazard : hazards_) hazard.put_off(wait);
        sample_.waiting += wait;
        now_ += wait;
    }

    const LongRun& run_;
    std::array<Hazard, 3> hazards_;
    std::uint32_t spares_;
    std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> in_repair_;  // when each is back
    std::uint64_t total_ = 0, done_ = 0;
    std::uint64_t saved_ = 0, writing_ = 0;  // steps that the last checkpoint has, and the one that is being written,
    Seconds written_at_ = endless;           // which can be loaded from then on
    Seconds now_{};
    bool over_ = false;
    RunSample sample_;
};

}  // namespace

RunSample sample_run(const LongRun& run, std::uint64_t seed, std::uint64_t number) {
    WEFT_CHECK(run.write >= run.stall, "a checkpoint takes no less than its stall");
    return Runner(run, seed, number).run();
}

double pieces_of(const LongRun& run) {
    Seconds length;
    double pieces = 0;
    for (const Stretch& each : run.stretches) {
        const double steps = static_cast<double>(each.steps), between = static_cast<double>(each.between);
        length += each.step * steps;
        if (run.write > each.step * between + run.stall) pieces += steps / between;
    }
    const Seconds wall = std::min(length, run.horizon);
    return pieces * (wall / length) + wall / run.hardware + wall / run.software + wall / run.planned;
}

Seconds young_interval(Seconds write, Seconds between_failures) {
    return {std::sqrt(2.0 * write.value * between_failures.value)};
}

Seconds daly_interval(Seconds write, Seconds between_failures) {
    if (between_failures == endless) return endless;
    const double part = write / (2.0 * between_failures);
    if (part >= 1.0) return between_failures;
    return young_interval(write, between_failures) * (1.0 + std::sqrt(part) / 3.0 + part / 9.0) - write;
}

Seconds daly_run_time(Seconds work, Seconds interval, Seconds write, Seconds restart, Seconds between_failures) {
    const Seconds m = between_failures;
    return m * (std::exp(restart / m) * std::expm1((interval + write) / m) * (work / interval));
}

}  // namespace weft
