// Traces of PyTorch's profiler, written by hand.
#pragma once

#include <fmt/format.h>

#include <string>

#include "workloads/recorded/kineto_trace.hpp"

namespace weft::test {

// Events in microseconds. A kernel is launched by a call within an operation.
class KinetoText {
  public:
    void host(const std::string& category, const std::string& name, double begin, double duration,
              const std::string& arguments = {}, int thread = 1) {
        add(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                        category, name, thread, begin, duration, arguments));
    }
    void kernel(const std::string& name, double begin, double duration, double launched,
                const std::string& arguments = {}, int thread = 1, int stream = 7) {
        ++correlation_;
        host("cuda_runtime", "cudaLaunchKernel", launched, 0.5, fmt::format(R"("correlation":{})", correlation_),
             thread);
        add(fmt::format(
            R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"stream":{},"correlation":{}{}{}}}}})",
            name, stream, begin, duration, stream, correlation_, arguments.empty() ? "" : ",", arguments));
    }
    std::string text() const {
        return R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}],)"
               R"("distributedInfo":{"rank":0,"world_size":1},"traceEvents":[)" +
               events_ + "]}";
    }

  private:
    void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }

    std::string events_;
    int correlation_ = 0;
};

inline KinetoTrace read_text_of(const std::string& text) { return read_kineto(ByteSource("trace.json", text)); }

}  // namespace weft::test
