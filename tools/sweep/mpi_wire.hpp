// What the ranks of a sweep tell each other. Only where weft is built with MPI.
#pragma once

#include <fmt/format.h>
#include <boost/mpi/communicator.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weft {

// Each message is one text.
enum class MpiTag : int {
    hello,    // to rank 0: the digest of the inputs
    rows,     // from rank 0: numbers to evaluate
    result,   // to rank 0: row_line()
    alive,    // in both directions, every now and then
    halt,     // from rank 0: begin no more
    rest,     // to rank 0: numbers that were not begun
    failure,  // to rank 0: what went wrong
    end,      // from rank 0: it is over; with a text, some ranks are not there to end MPI together
    leave     // to rank 0: this rank never took part
};

struct MpiMessage {
    int from = 0;
    MpiTag tag = MpiTag::alive;
    std::string text;
};

// Nothing here waits for another rank, which may be gone.
class MpiWire {
  public:
    explicit MpiWire(boost::mpi::communicator& world) : world_(world) {}
    void send(int to, MpiTag tag, std::string text = "") {
        forget_what_arrived();
        Sent& sent = sent_.emplace_back(Sent{.to = to, .text = std::move(text), .request = {}});
        sent.request = world_.isend(to, static_cast<int>(tag), sent.text.data(), static_cast<int>(sent.text.size()));
    }
    // Whether nothing waits for a receiver of which `is_there` holds.
    template <class IsThere>
    bool has_sent_all(IsThere is_there) {
        forget_what_arrived();
        return std::ranges::none_of(sent_, is_there, &Sent::to);
    }
    std::optional<MpiMessage> receive() {
        const boost::optional<boost::mpi::status> waiting = world_.iprobe();
        if (!waiting) return std::nullopt;
        MpiMessage message{.from = waiting->source(), .tag = static_cast<MpiTag>(waiting->tag()), .text = {}};
        message.text.resize(static_cast<std::size_t>(*waiting->count<char>()));
        world_.recv(message.from, waiting->tag(), message.text.data(), static_cast<int>(message.text.size()));
        return message;
    }

  private:
    struct Sent {
        int to = 0;
        std::string text;  // MPI reads it until the request is through
        boost::mpi::request request;
    };

    void forget_what_arrived() {
        std::erase_if(sent_, [](Sent& sent) { return sent.request.test().has_value(); });
    }

    boost::mpi::communicator& world_;
    std::list<Sent> sent_;  // in place: MPI has their addresses
};

inline std::string text_of(const std::vector<std::size_t>& numbers) {
    return fmt::format("{}", fmt::join(numbers, " "));
}

inline std::vector<std::size_t> numbers_in(std::string_view text) {
    std::vector<std::size_t> numbers;
    const char *at = text.data(), *const stop = at + text.size();
    for (std::size_t number = 0; at < stop; ++at) {
        at = std::from_chars(at, stop, number).ptr;
        numbers.push_back(number);
    }
    return numbers;
}

// Acts every now and then, from a thread of its own, for as long as it lives.
class Timer {
  public:
    Timer(std::chrono::steady_clock::duration every, std::function<void()> act)
        : thread_([every, act = std::move(act)](const std::stop_token& stop) {
              std::mutex mutex;
              std::condition_variable_any sleep;
              std::unique_lock lock(mutex);
              while (!sleep.wait_for(lock, stop, every, [&] { return stop.stop_requested(); })) act();
          }) {}

  private:
    std::jthread thread_;
};

}  // namespace weft
