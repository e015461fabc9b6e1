#include "workloads/job/recipe_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace weft {

constexpr std::array<std::string_view, 6> recipes{"none", "delayed", "tensorwise", "blockwise", "mxfp8", "nvfp4"};

std::string_view recipe_name(Casting recipe) { return recipes.at(static_cast<std::size_t>(recipe)); }

void read_recipe(Field& root, Job& job) {
    constexpr std::string_view key = "fp8_recipe";
    if (job.precision == Precision::fp4) job.recipe = Casting::nvfp4;
    if (!root.has(key)) return;
    const std::string word = root.choice(key, {"delayed", "tensorwise", "blockwise", "mxfp8"}, "delayed");
    if (job.precision != Precision::fp8) {
        root.error(key, "names how products in fp8 are scaled; set precision to fp8");
        return;
    }
    job.names_recipe = Setting::on;
    for (std::size_t i = 1; i < recipes.size(); ++i) {
        if (recipes[i] == word) job.recipe = static_cast<Casting>(i);
    }
}

// Units that take the scales of blocks came with those for fp4 (Transformer Engine's supported devices: SM 10.0 and
// 10.3); elsewhere blocks of 128 are scaled by the program.
void check_recipe(Field& root, const Job& job, const Device& device, std::string_view machine) {
    const auto refuse = [&](std::string_view key, std::string_view what) {
        root.error(key, fmt::format("{} ({}) has no {}", device.name, machine, what));
    };
    if (job.precision == Precision::fp8 && device.peak_eighth.value == 0.0) return refuse("precision", "fp8");
    if (job.precision == Precision::fp4 && device.peak_quarter.value == 0.0) return refuse("precision", "fp4");
    if (job.precision != Precision::fp8 || job.recipe != Casting::mxfp8) return;
    if (device.peak_quarter.value == 0.0) refuse("fp8_recipe", "matrix units that take the scales of blocks (mxfp8)");
}

void check_units(Field& root, const Job& job, const Device& device) {
    if (job.communication_units < device.gemm.compute_units) return;
    root.error("communication_units", fmt::format("expected fewer than the {} compute units of {}, got {}",
                                                  device.gemm.compute_units, device.name, job.communication_units));
}

}  // namespace weft
