// Fits the constants of a device to measurements of any kind: least squares on log(predicted / measured).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/calibration/device_constants.hpp"
#include "tools/calibrate/device_table.hpp"

namespace weft {

struct DeviceFitRow {
    std::string kind;   // rows of one kind are summed up together: "gemm", "step_s of sc21"
    std::string where;  // "kernels.csv:12"
    double measured = 0, before = 0, after = 0;
    double weight = 1.0;
    bool is_held = false;  // not fitted, only predicted
};

// Measurements that one prediction answers: a table of kernels, or the run of one job.
struct DeviceFitSource {
    std::vector<DeviceFitRow> rows;
    // One value per row, above 0 wherever the row's own measurement is.
    std::function<std::vector<double>(const Device&)> predict;
};

DeviceFitSource table_source(const std::string& file, const std::vector<DeviceTableRow>& rows);

struct DeviceFit {
    std::vector<DeviceConstant> constants;
    std::vector<double> before;
    Fit fit;
    std::vector<DeviceFitRow> rows;  // of all sources
};

// `constants` are of `device`. Sources are predicted on `threads` threads; the result does not depend on how many.
DeviceFit fit_device(const Device& device, std::vector<DeviceConstant> constants,
                     const std::vector<DeviceFitSource>& sources, unsigned threads);

struct KindErrors {
    std::string kind;
    bool is_held = false;
    std::size_t rows = 0;
    double before = 0, after = 0;  // root mean square of log(predicted / measured)
};
// By kind, fitted rows first; with more than one kind, a line of all.
std::vector<KindErrors> errors_by_kind(const DeviceFit& fit);

}  // namespace weft
