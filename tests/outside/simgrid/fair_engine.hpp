// SimGrid's engine, of which a process has one, told to share links max-min fairly with nothing of TCP in it: CM02
// without window limits (TCP-gamma 0), correction factors, reverse traffic or latencies, on which its weights depend.
#pragma once

#include <simgrid/s4u.hpp>

#include <string>

namespace weft {

class FairEngine {
  public:
    FairEngine() {
        for (const char* const setting :
             {"network/model:CM02", "network/TCP-gamma:0", "network/bandwidth-factor:1", "network/latency-factor:1",
              "network/weight-S:0", "network/crosstraffic:0", "contexts/stack-size:64", "surf/precision:1e-12"}) {
            simgrid::s4u::Engine::set_config(setting);
        }
    }
    void run() { engine_.run(); }

  private:
    int arguments_ = 1;
    std::string program_ = "simgrid_test";
    char* words_[2] = {program_.data(), nullptr};
    simgrid::s4u::Engine engine_{&arguments_, words_};
};

}  // namespace weft
