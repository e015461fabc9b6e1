// The figures 1, 2 and 7 to 15 of arXiv 2408.10197 (figures.json). Its text names models, schemes and scales; where it
// does not, the notes say what was chosen (workloads/study/README.md discusses each). Section V-B1 reports of the first
// receive of a run; how long a connection takes to set up is assumed. The longest sequences are taken one at a time,
// and with an attention that stores no s x s matrix, so that they fit.
#include "tools/study/study_table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/command.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

constexpr std::uint32_t study_micro_batch = 4;  // sequences; train_micro_batch_size_per_gpu of all configurations

template <class Enum>
Enum named(const std::string& name) {
    const std::optional<Enum> found = enumerator_called<Enum>(name);
    WEFT_CHECK(found, "figures.json has an unknown word " + name);
    return *found;
}

ChartAxis axis_of(const SortedJson& figure, const char* key) {
    if (!figure.contains(key)) return {};
    const SortedJson& axis = figure[key];
    return {.title = axis.at("title"),
            .unit = axis.value("unit", ""),
            .scale = named<AxisScale>(axis.value("scale", "linear")),
            .floor = axis.value("floor", 0.0)};
}

// The cases of a figure, in one of four forms: models by schemes, a scheme on ever more nodes of 8 GCDs, one model
// under every scheme at every sequence length, on as many ranks whatever the scheme, or a list.
std::vector<StudyCase> read_cases(const SortedJson& all, const SortedJson& cases) {
    std::vector<StudyCase> found;
    const auto texts = [&](const char* key) { return cases.value(key, SortedJson::array()); };
    // Of the keys that name a scheme on `data` copies with micro-batches of `micro` sequences, one per step.
    const auto add = [&](StudyCase one, const std::string& scheme, std::uint32_t data, std::uint32_t micro,
                         const SortedJson& others) {
        const SortedJson& of = all.at("schemes").at(scheme);
        one.overrides = {fmt::format("layout.tensor={}", of.at("tensor").dump()),
                         fmt::format("layout.pipeline={}", of.at("pipeline").dump()),
                         fmt::format("layout.data={}", data),
                         fmt::format("zero={}", of.at("zero").dump()),
                         fmt::format("batch.micro={}", micro),
                         fmt::format("batch.global={}", micro * data)};
        one.overrides.insert(one.overrides.end(), others.begin(), others.end());
        found.push_back(std::move(one));
    };
    for (const SortedJson& one : texts("list")) {
        add({.model = one.at("model"), .scheme = one.at("scheme")}, one.at("scheme"), 1, study_micro_batch,
            one.at("set"));
    }
    for (const SortedJson& model : texts("models")) {
        const SortedJson& of = all.at("models").at(model.get<std::string>());
        const auto data = cases.value("data", of.at("data_ranks").get<std::uint32_t>());
        const SortedJson catalog = SortedJson::array({"model=" + of.at("catalog").get<std::string>()});
        for (const SortedJson& scheme : texts("schemes")) {
            add({.model = model, .scheme = scheme}, scheme, data, study_micro_batch, catalog);
        }
    }
    for (const SortedJson& nodes : texts("nodes")) {
        add({.model = "", .scheme = nodes.dump(), .position = nodes}, cases.at("scheme"), nodes, study_micro_batch,
            cases.at("set"));
    }
    if (!cases.contains("lengths")) return found;
    for (const SortedJson& scheme : texts("schemes")) {
        const SortedJson& of = all.at("schemes").at(scheme.get<std::string>());
        const auto ranks = of.at("tensor").get<std::uint32_t>() * of.at("pipeline").get<std::uint32_t>();
        for (const SortedJson& length : texts("lengths")) {
            SortedJson others = SortedJson::array({"batch.sequence=" + length.dump()});
            for (const SortedJson& other : texts("set")) others.push_back(other);
            add({.model = "1.3B", .scheme = scheme, .position = length}, scheme,
                cases.at("ranks").get<std::uint32_t>() / ranks, cases.at("micro"), others);
        }
    }
    return found;
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Where the values of a case stand: in a category or at a position.
struct Place {
    ChartCategory category{};
    double position = 0;
    bool operator==(const Place&) const = default;
};

Place place_of(const StudyFigure& figure, const StudyRow& row) {
    const StudyCase& subject = figure.cases[row.subject];
    switch (figure.arrangement) {
        case Arrangement::bars_of_cases:
            return {{subject.scheme, subject.model}};
        case Arrangement::bars_of_series:
            return {{row.measured.series}};
        case Arrangement::bars_of_schemes:
            return {{subject.scheme}};
        case Arrangement::lines:
            return {{}, subject.position};
    }
    WEFT_CHECK(false, "an arrangement has places");
}

std::string series_of(const StudyFigure& figure, const StudyRow& row) {
    const StudyCase& subject = figure.cases[row.subject];
    const Arrangement arrangement = figure.arrangement;
    return arrangement == Arrangement::bars_of_cases     ? row.measured.series
           : arrangement == Arrangement::bars_of_series  ? subject.model
           : arrangement == Arrangement::bars_of_schemes ? number_text(subject.position)
                                                         : subject.scheme;
}

// What `of` says of some rows, each once, as they first occur.
template <class Of>
auto distinct(const StudyFigure& figure, const std::vector<StudyRow>& rows, Of of) {
    using Value = decltype(of(figure, rows.front()));
    return each_once(list_of<Value>(rows, [&](const StudyRow& row) { return of(figure, row); }));
}

// A case that was measured at all has nothing of a series that it does not name: 0 bytes of a collective, 0 calls of a
// size. One that could not run has no value.
double value_at(const StudyFigure& figure, const std::vector<StudyRow>& rows, const Place& place,
                const std::string& series) {
    double otherwise = none;
    for (const StudyRow& row : rows) {
        const bool is_there = place_of(figure, row) == place, is_of = series_of(figure, row) == series;
        if (is_there && is_of) return row.measured.value;
        const bool is_same_case = (figure.arrangement == Arrangement::bars_of_cases && is_there) ||
                                  (figure.arrangement == Arrangement::bars_of_series && is_of);
        if (is_same_case && !std::isnan(row.measured.value)) otherwise = 0;
    }
    return otherwise;
}

void arrange(const StudyFigure& figure, const std::vector<StudyRow>& rows, Chart& chart) {
    std::vector<StudyRow> measured = rows;  // of which there is anything, by series
    std::erase_if(measured, [](const StudyRow& row) { return !(row.measured.value > 0); });
    std::ranges::stable_sort(measured, {}, [](const StudyRow& row) { return row.measured.order; });
    const bool by_series = figure.arrangement == Arrangement::bars_of_series;
    const std::vector<Place> places = distinct(figure, by_series ? measured : rows, place_of);
    for (const Place& place : places) {
        if (figure.arrangement == Arrangement::lines)
            chart.positions.push_back(place.position);
        else
            chart.categories.push_back(place.category);
    }
    const bool of_series = figure.arrangement == Arrangement::bars_of_cases;
    for (const std::string& name : distinct(figure, of_series ? measured : rows, series_of)) {
        const bool is_theory = std::ranges::count(figure.references, name) > 0;
        chart.series.push_back(
            {.name = name,
             .values = list_of<double>(places, [&](const Place& place) { return value_at(figure, rows, place, name); }),
             .look = is_theory ? ChartSeries::Look::reference : ChartSeries::Look::solid});
    }
    // Schemes of which nothing could run have no line.
    if (figure.arrangement != Arrangement::lines) return;
    std::erase_if(chart.series, [](const ChartSeries& series) {
        return std::ranges::all_of(series.values, [](double value) { return std::isnan(value); });
    });
}

// What the reader of a picture has to know of values that are missing.
std::string missing_note(const std::vector<StudyRow>& rows) {
    const bool missing = std::ranges::any_of(rows, [](const StudyRow& row) { return std::isnan(row.measured.value); });
    return missing ? "; the table says why some could not run" : "";
}

std::vector<Measured> values_of(const MeasurePart& part, const StudyFigure& figure, const StudyCase& subject) {
    try {
        return part.of(study_of(figure, subject, part.purpose));
    } catch (const ConfigError& error) {
        return {{part.series, none, obstacle(error)}};
    } catch (const RangeError& error) {
        return {{part.series, none, error.what()}};
    }
}

}  // namespace

std::vector<StudyFigure> study_figures() {
    const auto all = nlohmann::json::parse(embedded::study_figures().front().text);
    return list_of<StudyFigure>(all.at("figures"), [&](const nlohmann::json& figure) {
        return StudyFigure{.name = figure.at("name"),
                           .number = figure.at("number"),
                           .title = figure.at("title"),
                           .note = figure.at("note"),
                           .job = figure.at("job"),
                           .cases = read_cases(all, figure.at("cases")),
                           .measure = find_measure(figure.at("measure").get<std::string>()),
                           .arrangement = named<Arrangement>(figure.at("arrangement")),
                           .kind = named<ChartKind>(figure.at("kind")),
                           .x = axis_of(figure, "x"),
                           .y = axis_of(figure, "y"),
                           .references = figure.value("references", std::vector<std::string>())};
    });
}

Study study_of(const StudyFigure& figure, const StudyCase& subject, Purpose purpose) {
    Document document = open_shipped(embedded::study(), "study job", figure.job).document;
    for (const std::string& assignment : subject.overrides) document.assign(assignment);
    return read_study(std::move(document), purpose);
}

std::vector<StudyRow> evaluate(const StudyFigure& figure) {
    std::vector<StudyRow> rows;
    for (std::size_t i = 0; i < figure.cases.size(); ++i) {
        for (const MeasurePart& part : figure.measure) {
            for (Measured& measured : values_of(part, figure, figure.cases[i]))
                rows.push_back({i, std::move(measured)});
        }
    }
    return rows;
}

std::string study_csv(const StudyFigure& figure, const std::vector<StudyRow>& rows) {
    std::string out = "figure,model,scheme,position,series,value,unit,note\n";
    for (const StudyRow& row : rows) {
        const StudyCase& subject = figure.cases[row.subject];
        const Measured& measured = row.measured;
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", csv_cell(figure.name),
                       csv_cell(subject.model), csv_cell(subject.scheme),
                       subject.position > 0 ? number_text(subject.position) : "", csv_cell(measured.series),
                       std::isnan(measured.value) ? "" : number_text(measured.value), csv_cell(figure.y.unit),
                       csv_cell(measured.note));
    }
    return out;
}

bool has_values(const std::vector<StudyRow>& rows) {
    return std::ranges::any_of(rows, [](const StudyRow& row) { return row.measured.value > 0; });
}

Chart study_chart(const StudyFigure& figure, const std::vector<StudyRow>& rows) {
    WEFT_CHECK(has_values(rows), "a chart shows something");
    Chart chart{.title = figure.title,
                .subtitle = figure.note + missing_note(rows),
                .kind = figure.kind,
                .x = figure.x,
                .y = figure.y};
    arrange(figure, rows, chart);
    return chart;
}

}  // namespace weft
