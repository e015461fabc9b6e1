// The pages of a site on this machine's own addresses.
#pragma once

#include <cstdint>
#include <memory>

#include "tools/serve/site.hpp"

namespace weft {

class Server {
  public:
    // Listens on 127.0.0.1 and, where there is one, ::1. Port 0: one that is free. std::runtime_error: port in use, or
    // not this user's.
    Server(Site site, std::uint16_t port);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const;
    void run();   // until stop()
    void stop();  // from any thread
    // Whether some answer is still worked for: a simulation runs to its end.
    bool is_working() const;

  private:
    class Listening;
    std::unique_ptr<Listening> listening_;
};

// A server answers many, so that one request must not take the memory of the machine: from now on allocations fail, and
// with them the answer, where the process would have more than three quarters of the machine's memory. Nothing under
// sanitizers, which reserve far more than they use.
void limit_memory();

}  // namespace weft
