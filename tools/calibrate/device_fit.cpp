#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "tools/parallel.hpp"

namespace weft {
namespace {

enum class Predicted : std::uint8_t { fitted, all };

bool is_fitted(const DeviceFitSource& source) {
    return std::ranges::any_of(source.rows, [](const DeviceFitRow& row) { return !row.is_held; });
}

// In the order of the sources; nothing for those that are not asked for.
std::vector<std::vector<double>> predict_all(const Device& device, const std::vector<DeviceFitSource>& sources,
                                             Predicted which, unsigned threads) {
    std::vector<std::vector<double>> values(sources.size());
    const auto predict = [&](std::size_t i) {
        if (which == Predicted::all || is_fitted(sources[i])) values[i] = sources[i].predict(device);
    };
    for_each_in_parallel(sources.size(), threads, predict, {});
    return values;
}

// Of the rows that are fitted, sqrt(weight) of each in front.
std::vector<double> residuals(const std::vector<DeviceFitSource>& sources,
                              const std::vector<std::vector<double>>& predicted) {
    std::vector<double> result;
    for (std::size_t s = 0; s < sources.size(); ++s) {
        for (std::size_t i = 0; i < sources[s].rows.size(); ++i) {
            const DeviceFitRow& row = sources[s].rows[i];
            if (!row.is_held) result.push_back(std::sqrt(row.weight) * log_error(predicted[s][i], row.measured));
        }
    }
    return result;
}

}  // namespace

DeviceFitSource table_source(const std::string& file, const std::vector<DeviceTableRow>& rows) {
    DeviceFitSource source;
    std::vector<KernelMeasurement> kernels;
    const std::string name = std::filesystem::path(file).filename().string();
    for (const DeviceTableRow& row : rows) {
        kernels.push_back(row.measured);
        source.rows.push_back({.kind = std::string(weft::name(row.measured.kind)),
                               .where = fmt::format("{}:{}", name, row.line),
                               .measured = row.measured.value,
                               .weight = row.weight,
                               .is_held = row.is_held});
    }
    source.predict = [kernels = std::move(kernels)](const Device& device) {
        std::vector<double> values;
        for (const KernelMeasurement& kernel : kernels) values.push_back(predicted_value(device, kernel));
        return values;
    };
    return source;
}

DeviceFit fit_device(const Device& device, std::vector<DeviceConstant> constants,
                     const std::vector<DeviceFitSource>& sources, unsigned threads) {
    DeviceFit result;
    std::vector<FitParameter> parameters;
    for (const DeviceConstant& c : constants) {
        const double start = c.value(device);
        result.before.push_back(start);
        parameters.push_back({start, std::min(c.least, start), std::max(c.most, start), c.scale});
    }
    const auto predicted = [&](std::span<const double> values, Predicted which) {
        return predict_all(with_constants(device, constants, values), sources, which, threads);
    };
    result.fit = fit_least_squares(parameters, [&](std::span<const double> values) {
        return residuals(sources, predicted(values, Predicted::fitted));
    });
    const auto before = predicted(result.before, Predicted::all), after = predicted(result.fit.values, Predicted::all);
    for (std::size_t s = 0; s < sources.size(); ++s) {
        for (std::size_t i = 0; i < sources[s].rows.size(); ++i) {
            result.rows.push_back(sources[s].rows[i]);
            result.rows.back().before = before[s][i];
            result.rows.back().after = after[s][i];
        }
    }
    result.constants = std::move(constants);
    return result;
}

std::vector<KindErrors> errors_by_kind(const DeviceFit& fit) {
    std::map<std::pair<bool, std::string>, KindErrors> kinds;
    const auto count = [&](const DeviceFitRow& row, std::string kind) {
        KindErrors& sum = kinds[{row.is_held, kind}];
        sum.kind = std::move(kind);
        sum.is_held = row.is_held;
        ++sum.rows;
        sum.before += std::pow(log_error(row.before, row.measured), 2);
        sum.after += std::pow(log_error(row.after, row.measured), 2);
    };
    for (const DeviceFitRow& row : fit.rows) {
        count(row, row.kind);
        count(row, "~all");  // sorts last
    }
    std::vector<KindErrors> result;
    for (auto& [key, sum] : kinds) {
        sum.before = std::sqrt(sum.before / static_cast<double>(sum.rows));
        sum.after = std::sqrt(sum.after / static_cast<double>(sum.rows));
        if (sum.kind == "~all") sum.kind = "all";
        result.push_back(sum);
    }
    return result;
}

}  // namespace weft
