// What ibnetdiscover prints of an InfiniBand fabric, as a whole or as a list of ports (-p). Formats:
// linux-rdma/rdma-core infiniband-diags/ibnetdiscover.c; widths and speeds: libibmad's dump functions, which give names
// to the rates of the InfiniBand Architecture Specification.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {

enum class DeviceKind : std::uint8_t { switch_, adapter, router, aggregation };

struct IbDevice {
    DeviceKind kind = DeviceKind::adapter;
    std::string description;
    bool has_part = false;  // of its own in the file, not only as somebody's peer
    int line = 0;
};

struct IbPort {
    std::string guid;
    std::uint32_t number = 0;
    auto operator<=>(const IbPort&) const = default;
};

struct IbFabric {
    std::map<std::string, IbDevice> devices;                  // by GUID
    std::map<std::pair<IbPort, IbPort>, std::string> cables;  // with their speed, "4xNDR"; the lower end first
    std::map<IbPort, std::pair<IbPort, int>> plugged;         // what is at the other end, and the line that says it
    std::vector<std::string> order;                           // GUIDs as they come
    int unknown_line = 0;                                     // the first
    std::size_t unknown_lines = 0;
};

bool looks_like_ibnetdiscover(const SourceFile& file);
// Throws ConfigError with every line that is cut or otherwise wrong.
IbFabric read_ibnetdiscover(const SourceFile& file);
// Gbit/s of data in one direction of a cable of "4xNDR"; 0 for a speed that is not known.
double infiniband_gbit(std::string_view speed);

}  // namespace weft
