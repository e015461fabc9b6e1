// The constants of a device that measurements can tell: those under "fitted" in its file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/device/device.hpp"
#include "sim/fit/least_squares.hpp"

namespace weft {

enum class ConstantUnit : std::uint8_t { none, seconds };

struct DeviceConstant {
    std::string name;  // as `--fit` names it: the key in the file, and of a list the entry: "gemm_tiles[2]"
    ConstantUnit unit{};
    double least = 0, most = 1;
    double scale = 0.1;  // a change that matters
    std::function<double&(Device&)> at;
    bool is_asked_for =
        false;  // fitted only if named: the rest stays what the data sheet or a library's habits suggest

    double value(Device device) const { return at(device); }
    // The key in the file, "gemm_tiles", and which of its entries, or none.
    std::string key() const { return name.substr(0, name.find('[')); }
    int entry() const;
};

// Those of a device, plateaus first: of constants that the rows do not tell apart, the first is fitted. With no 8-bit
// matrix rate, none of 8 bits.
std::vector<DeviceConstant> device_constants(const Device& device);

// The device with other values: one per constant.
Device with_constants(Device device, const std::vector<DeviceConstant>& constants, std::span<const double> values);

}  // namespace weft
