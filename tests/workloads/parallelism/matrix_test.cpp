// Every pair of settings of workloads/parallelism/README.md, in one small job per framework: what the tables there say
// is what happens. "+" is checked, planned, simulated to its end and adds up; a letter is a refusal for that reason.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

using Settings = std::map<std::string, std::string>;

struct Feature {
    std::string code;
    Settings settings;
};

struct Readme {
    std::vector<Feature> features;
    std::vector<std::pair<std::string, std::string>> reasons;  // letter, and part of the message; the first that fits
    std::map<std::string, std::string> sections;               // text by heading
};

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> result;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
        const std::size_t first = cell.find_first_not_of(' ');
        result.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    return result;
}

Settings settings_of(std::string text) {
    std::erase(text, '`');
    Settings settings;
    std::istringstream stream(text);
    for (std::string assignment; stream >> assignment;) {
        const std::size_t equals = assignment.find('=');
        settings[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    return settings;
}

Readme read_readme() {
    std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/workloads/parallelism/README.md");
    Readme readme;
    std::string heading;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) {
            heading = line.substr(3);
            continue;
        }
        readme.sections[heading] += line + "\n";
        const bool row = line.starts_with("| ") && !line.starts_with("| code") && !line.starts_with("| reason");
        if (heading == "Settings" && row)
            readme.features.push_back({cells(line).at(0), settings_of(cells(line).at(2))});
        if (heading == "Reasons" && row) readme.reasons.emplace_back(cells(line).at(0), cells(line).at(1));
    }
    return readme;
}

// Nothing if both give one key two values.
std::optional<Settings> together(const Feature& a, const Feature& b) {
    Settings all = a.settings;
    for (const auto& [key, value] : b.settings) {
        if (!all.emplace(key, value).second && all[key] != value) return std::nullopt;
    }
    return all;
}

class parallelism_matrix : public testing::TestWithParam<std::string> {
  protected:
    // "+", or the letter of the refusal.
    std::string outcome(const Settings& settings, const std::string& what) const {
        std::vector<std::string> overrides{"framework=" + GetParam(), "machine=dgx-a100",   "model.layers=4",
                                           "model.hidden=256",        "model.heads=8",      "model.vocabulary=1024",
                                           "layout.tensor=1",         "layout.pipeline=1",  "layout.data=2",
                                           "batch.global=8",          "batch.sequence=128", "precision=bf16"};
        if (GetParam() == "fsdp") overrides.push_back("fsdp.version=2");
        for (const auto& [key, value] : settings) overrides.push_back(key + "=" + value);
        try {
            const std::string wrong = test::unsoundness(test::small_study(overrides));
            EXPECT_EQ(wrong, "") << what;
            return wrong.empty() ? "+" : "!";
        } catch (const ConfigError& error) {
            const std::string text = error.what();
            for (const auto& [letter, reason] : readme.reasons) {
                if (text.find(reason) != std::string::npos) return letter;
            }
            ADD_FAILURE() << what << ": " << text;
        } catch (const std::exception& error) {
            ADD_FAILURE() << what << ": " << error.what();
        }
        return "?";
    }

    const Readme readme = read_readme();
};

std::string table_row(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + cell + " |";
    return row + "\n";
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::string text = table_row(rows.front()) + "|";
    for (std::size_t i = 0; i < rows.front().size(); ++i) text += "---|";
    text += "\n";
    for (std::size_t i = 1; i < rows.size(); ++i) text += table_row(rows[i]);
    return text;
}

TEST_P(parallelism_matrix, is_as_the_readme_says) {
    const std::vector<Feature>& features = readme.features;
    ASSERT_GT(features.size(), 20U);
    std::vector<std::vector<std::string>> cell(features.size());  // [i][j], j <= i; the diagonal: alone
    std::vector<bool> works(features.size());                     // with something, or alone
    for (std::size_t i = 0; i < features.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const std::optional<Settings> both = together(features[i], features[j]);
            cell[i].push_back(both ? outcome(*both, features[i].code + " with " + features[j].code) : "-");
            if (cell[i][j] == "+") works[i] = works[j] = true;
        }
    }
    std::vector<std::vector<std::string>> refused{{"always refused"}, {"reason"}}, pairs{{""}};
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (!works[i]) {
            refused[0].push_back(features[i].code);
            refused[1].push_back(cell[i][i]);
            continue;
        }
        pairs[0].push_back(features[i].code);
        std::vector<std::string> row{features[i].code};
        for (std::size_t j = 0; j < features.size(); ++j) {
            if (works[j]) row.push_back(j <= i ? cell[i][j] : "");
        }
        pairs.push_back(row);
    }
    EXPECT_EQ("\n" + table(refused) + "\n" + table(pairs) + "\n", readme.sections.at("Framework " + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(frameworks, parallelism_matrix, testing::ValuesIn(framework_names()),
                         [](const testing::TestParamInfo<std::string>& framework) { return framework.param; });

// A reason that no cell gives would be a claim that nothing checks.
TEST(parallelism_readme, every_reason_is_given_by_some_cell) {
    const Readme readme = read_readme();
    std::string tables;
    for (const std::string& framework : framework_names()) tables += readme.sections.at("Framework " + framework);
    for (const auto& [letter, reason] : readme.reasons) {
        EXPECT_NE(tables.find("| " + letter + " |"), std::string::npos) << letter << ": " << reason;
    }
}

}  // namespace
}  // namespace weft
