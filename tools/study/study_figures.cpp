// The figures 1, 2 and 7 to 15 of arXiv 2408.10197 (figures.json). Its text names models, schemes and scales; where it
// does not, the notes say what was chosen (workloads/study/README.md discusses each). Section V-B1 reports of the first
// receive of a run; how long a connection takes to set up is assumed. The longest sequences are taken one at a time,
// and with an attention that stores no s x s matrix, so that they fit.
#include "tools/study/study_figures.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

#include "sim/base/check.hpp"
#include "sim/io/embedded.hpp"

namespace weft {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t study_micro_batch = 4;  // sequences; train_micro_batch_size_per_gpu of all configurations

// The enumerator whose name stands in `names`, which are in their order.
template <class Enum>
Enum named(const std::string& name, std::initializer_list<std::string_view> names) {
    const auto* const found = std::ranges::find(names, name);
    WEFT_CHECK(found != names.end(), "figures.json has an unknown word " + name);
    return static_cast<Enum>(found - names.begin());
}

ChartAxis axis_of(const Json& figure, const char* key) {
    if (!figure.contains(key)) return {};
    const Json& axis = figure[key];
    return {.title = axis.at("title"),
            .unit = axis.value("unit", ""),
            .scale = named<AxisScale>(axis.value("scale", "linear"), {"linear", "log2", "log10"}),
            .floor = axis.value("floor", 0.0)};
}

// The cases of a figure, in one of four forms: models by schemes, a scheme on ever more nodes of 8 GCDs, one model
// under every scheme at every sequence length, on as many ranks whatever the scheme, or a list.
class CaseReader {
  public:
    CaseReader(const Json& all, const Json& cases) : all_(all), cases_(cases) {}

    std::vector<StudyCase> read() const {
        std::vector<StudyCase> found;
        for (const Json& one : texts("list")) {
            found.push_back({.model = one.at("model"), .scheme = one.at("scheme"), .overrides = {}});
            found.back().overrides = overrides(one.at("scheme"), 1, study_micro_batch);
            add(one.at("set"), found.back());
        }
        for (const Json& model : texts("models")) {
            const Json& of = all_.at("models").at(model.get<std::string>());
            for (const Json& scheme : texts("schemes")) {
                found.push_back({.model = model, .scheme = scheme, .overrides = {}});
                found.back().overrides = overrides(
                    scheme, cases_.value("data", of.at("data_ranks").get<std::uint32_t>()), study_micro_batch);
                found.back().overrides.push_back(fmt::format("model={}", of.at("catalog").get<std::string>()));
            }
        }
        for (const Json& nodes : texts("nodes")) {
            found.push_back({.model = "", .scheme = nodes.dump(), .position = nodes, .overrides = {}});
            found.back().overrides = overrides(cases_.at("scheme"), nodes, study_micro_batch);
            add(cases_.at("set"), found.back());
        }
        if (cases_.contains("lengths")) {
            for (const Json& scheme : texts("schemes")) {
                const Json& of = all_.at("schemes").at(scheme.get<std::string>());
                const auto ranks = of.at("tensor").get<std::uint32_t>() * of.at("pipeline").get<std::uint32_t>();
                for (const Json& length : texts("lengths")) {
                    found.push_back({.model = "1.3B", .scheme = scheme, .position = length, .overrides = {}});
                    found.back().overrides =
                        overrides(scheme, cases_.at("ranks").get<std::uint32_t>() / ranks, cases_.at("micro"));
                    found.back().overrides.push_back(fmt::format("batch.sequence={}", length.dump()));
                    add(cases_.value("set", Json::array()), found.back());
                }
            }
        }
        return found;
    }

  private:
    Json texts(const char* key) const { return cases_.value(key, Json::array()); }

    static void add(const Json& overrides, StudyCase& one) {
        one.overrides.insert(one.overrides.end(), overrides.begin(), overrides.end());
    }

    // Of the keys that name a scheme on `data` copies with micro-batches of `micro` sequences, one per step.
    std::vector<std::string> overrides(const std::string& scheme, std::uint32_t data, std::uint32_t micro) const {
        const Json& of = all_.at("schemes").at(scheme);
        return {fmt::format("layout.tensor={}", of.at("tensor").dump()),
                fmt::format("layout.pipeline={}", of.at("pipeline").dump()),
                fmt::format("layout.data={}", data),
                fmt::format("zero={}", of.at("zero").dump()),
                fmt::format("batch.micro={}", micro),
                fmt::format("batch.global={}", micro * data)};
    }

    const Json& all_;
    const Json& cases_;
};

}  // namespace

std::vector<StudyFigure> study_figures() {
    const Json all = Json::parse(embedded::study_figures().front().text);
    std::vector<StudyFigure> figures;
    for (const Json& figure : all.at("figures")) {
        figures.push_back(
            {.name = figure.at("name"),
             .number = figure.at("number"),
             .title = figure.at("title"),
             .note = figure.at("note"),
             .job = figure.at("job"),
             .cases = CaseReader(all, figure.at("cases")).read(),
             .measure = find_measure(figure.at("measure").get<std::string>()),
             .arrangement = named<Arrangement>(figure.at("arrangement"),
                                               {"bars_of_cases", "bars_of_series", "bars_of_schemes", "lines"}),
             .kind = named<ChartKind>(figure.at("kind"), {"grouped_bars", "stacked_bars", "percent_bars", "lines"}),
             .x = axis_of(figure, "x"),
             .y = axis_of(figure, "y"),
             .references = figure.value("references", std::vector<std::string>())});
    }
    return figures;
}

}  // namespace weft
