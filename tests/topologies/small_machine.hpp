// A machine file of 16 nodes with two accelerators and two NICs, around any network block.
#pragma once

#include <string>

namespace weft {

inline std::string small_machine(const std::string& network) {
    return R"({
    "title": "small", "source": "test", "device": "none", "nodes": 16,
    "links": {
        "wire": { "bandwidth": { "nominal": "100 GB/s", "efficiency": 0.5, "source": "test" },
                  "latency": { "value": "1 us", "source": "test" } },
        "port": { "bandwidth": { "nominal": "10 GB/s", "efficiency": 1, "source": "test" },
                  "latency": { "value": "1 us", "source": "test" } },
        "up": { "bandwidth": { "nominal": "10 GB/s", "efficiency": 1, "source": "test" },
                "latency": { "value": "1 us", "source": "test" } },
        "core": { "bandwidth": { "nominal": "10 GB/s", "efficiency": 1, "source": "test" },
                  "latency": { "value": "1 us", "source": "test" } }
    },
    "node": { "kind": "crossbar", "source": "test", "accelerators": 2, "link": "wire",
              "nics": { "attached": [0, 1], "link": "wire", "source": "test" } },
    "network": )" +
           network + R"(,
    "libraries": [ { "name": "test",
        "launch": { "value": "1 us", "source": "test" },
        "blocking": { "value": "0 us", "source": "test" },
        "costs": {
            "ring_simple": { "algorithm": "ring", "protocol": "Simple", "step_in_node": "1 us", "step_across": "1 us", "source": "test" },
            "direct_simple": { "algorithm": "direct", "protocol": "Simple", "step_in_node": "1 us", "step_across": "1 us", "source": "test" }
        } } ]
})";
}

}  // namespace weft
