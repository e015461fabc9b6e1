// weft_test_pages FOLDER: pages of made-up results, for a browser to open: sweep.html of 2,000 rows and plan.html of
// 600 candidates. Names try to break out of where they stand.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "sim/io/files.hpp"
#include "tools/page/pages.hpp"

namespace weft {
namespace {

constexpr const char* hostile = "</script><img src=x onerror=alert(1)> & \"quoted\"";

// 20 sequence lengths x 25 global batches x 2 schedules x 2 ZeRO stages; long sequences do not fit.
ResultTable sweep() {
    ResultTable table;
    table.columns = {{"batch.sequence", "", "", ColumnKind::key},
                     {"batch.global", "", "", ColumnKind::key},
                     {"schedule", "", "", ColumnKind::key},
                     {"zero", "", "", ColumnKind::key},
                     {"step_time_s", "s", "one training step"},
                     {"throughput_tokens_per_s", "tokens/s", "of the whole job"},
                     {"throughput_mfu", "", hostile},
                     {"memory_peak_bytes", "B", "of the fullest stage"},
                     {"memory_fits", "", "peak within capacity"},
                     {"reason", "", "why there is no result", ColumnKind::note}};
    for (std::int64_t length = 1; length <= 20; ++length) {
        for (std::int64_t batch = 1; batch <= 25; ++batch) {
            for (const char* schedule : {"1f1b", "gpipe"}) {
                for (std::int64_t zero = 0; zero < 2; ++zero) {
                    const double tokens = 512.0 * double(length) * 64.0 * double(batch);
                    const double time = tokens / 50e3 * (1.0 + 0.03 * double(length)) *
                                        (schedule[0] == 'g' ? 1.1 : 1.0) * (zero == 1 ? 1.02 : 1.0);
                    const auto bytes = static_cast<std::int64_t>((zero == 1 ? 2e10 : 4e10) + 1.7e9 * double(length));
                    std::vector<ResultCell> row{512 * length, 64 * batch, std::string(schedule), zero};
                    if (bytes < 70'000'000'000) {
                        row.insert(row.end(),
                                   {time, tokens / time, 0.3 / (1.0 + 0.03 * double(length)), bytes, true, {}});
                    } else {
                        row.insert(row.end(), {{}, {}, {}, {}, {}, std::string("does not fit in memory: ") + hostile});
                    }
                    table.rows.push_back(std::move(row));
                }
            }
        }
    }
    return table;
}

// As a search has them: most refused or too large, the others screened, the best of these simulated.
ResultTable candidates() {
    ResultTable table;
    table.columns = {{"layout.tensor", "", "", ColumnKind::key}, {"layout.pipeline", "", "", ColumnKind::key},
                     {"batch.micro", "", "", ColumnKind::key},   {"schedule", "", "", ColumnKind::key},
                     {"verdict", "", "", ColumnKind::note},      {"memory_peak_bytes", "B", "of the fullest stage"},
                     {"screened_time_s", "s", "in closed form"}, {"step_time_s", "s", "simulated"},
                     {"reason", "", "", ColumnKind::note}};
    for (std::int64_t i = 0; i < 600; ++i) {
        const std::int64_t tensor = 1 << (i % 4), pipeline = 1 << (i / 4 % 6), micro = 1 + i / 24;
        const double scatter = std::fmod(double(i) * 0.6180339887498949, 1.0);
        const double memory = 9e10 / double(tensor * pipeline) + 1e9 * double(micro);
        const double time = 20.0 + 30.0 * scatter + 0.4 * double(tensor * pipeline);
        std::vector<ResultCell> row{tensor, pipeline, micro, std::string(i % 2 == 0 ? "1f1b" : hostile)};
        if (i % 5 == 0) {
            row.insert(row.end(), {std::string("refused"),
                                   {},
                                   {},
                                   {},
                                   "44 layers cannot be dealt to " + std::to_string(pipeline) + " stages" + hostile});
        } else if (memory > 6.4e10) {
            row.insert(row.end(), {std::string("does not fit"), memory, {}, {}, {}});
        } else {
            const ResultCell simulated = i % 3 == 0 ? ResultCell(1.02 * time) : ResultCell();
            row.insert(row.end(), {std::string("fits"), memory, time, simulated, {}});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// Screening errs by a fiftieth; simulated rows have files.
PlanPageFacts facts() {
    PlanPageFacts all{.simulate = std::string("weft simulate job.json --set '") + hostile + "'",
                      .mean_error = 0.02,
                      .largest_error = 0.02,
                      .files = {}};
    for (std::size_t i = 0; i < 600; i += 3) {
        all.files[i] = {.job = "{\"name\": \"" + std::to_string(i) + "\"}", .format = "megatron", .launch = hostile};
    }
    return all;
}

}  // namespace
}  // namespace weft

int main(int count, char** arguments) try {
    if (count != 2) {
        std::fputs("usage: weft_test_pages FOLDER\n", stderr);
        return 2;
    }
    const std::filesystem::path folder = arguments[1];
    const weft::ResultPageText text{
        .title = weft::hostile, .command = std::string("weft sweep ") + weft::hostile, .summary = weft::hostile};
    weft::write_file_atomically(folder / "sweep.html", weft::sweep_page(text, weft::sweep()));
    weft::write_file_atomically(folder / "plan.html", weft::plan_page(text, weft::candidates(), weft::facts()));
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
