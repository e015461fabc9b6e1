// Contrasts of the style sheet (WCAG 2.1 AA), in both schemes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "sim/io/embedded.hpp"

namespace weft {
namespace {

using Colours = std::map<std::string, std::string>;  // "ink" -> "1b1f24"

// Of the light scheme, and with the overrides of the dark one.
std::vector<Colours> schemes() {
    const std::string css(std::ranges::find(embedded::page_styles(), "page", &embedded::File::name)->text);
    const std::size_t dark = css.find("@media screen and (prefers-color-scheme: dark)"), end = css.find("* {", dark);
    std::vector<Colours> all(1);
    const auto read = [&](const std::string& text, Colours& colours) {
        const std::regex declared("--([a-z0-9-]+): #([0-9a-f]{6});");
        for (auto at = std::sregex_iterator(text.begin(), text.end(), declared); at != std::sregex_iterator(); ++at) {
            colours[(*at)[1]] = (*at)[2];
        }
    };
    read(css.substr(0, dark), all[0]);
    all.push_back(all[0]);
    read(css.substr(dark, end - dark), all[1]);
    return all;
}

double luminance(const std::string& colour) {
    double sum = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (std::size_t i = 0; i < 3; ++i) {
        const double part = std::stoi(colour.substr(2 * i, 2), nullptr, 16) / 255.0;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double contrast(const std::string& a, const std::string& b) {
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

TEST(colours, of_white_and_black_have_the_known_contrast) {
    EXPECT_NEAR(contrast("ffffff", "000000"), 21.0, 1e-9);
    EXPECT_NEAR(contrast("777777", "ffffff"), 4.48, 0.005);
}

TEST(colours, of_text_can_be_read) {
    for (Colours& scheme : schemes()) {
        for (const char* text : {"ink", "quiet", "accent", "good", "bad"}) {
            for (const char* ground : {"ground", "raised"}) {
                EXPECT_GE(contrast(scheme.at(text), scheme.at(ground)), 4.5) << text << " on " << ground;
            }
        }
    }
}

TEST(colours, of_slices_carry_text) {
    for (Colours& scheme : schemes()) {
        for (const char* kind : {"forward", "recompute", "backward", "weights", "optimizer", "other", "tensor", "data",
                                 "pipeline", "context", "expert", "expert-data", "model"}) {
            EXPECT_GE(
                std::max(contrast(scheme.at(kind), scheme.at("ground")), contrast(scheme.at(kind), scheme.at("ink"))),
                4.5)
                << kind;
        }
    }
}

TEST(colours, of_marks_can_be_seen) {
    for (Colours& scheme : schemes()) {
        std::vector<std::string> marks{"link", "bubble", "blue", "orange", "compute", "forward", "recompute"};
        for (int i = 0; i < 8; ++i) marks.push_back("series-" + std::to_string(i));
        for (const std::string& mark : marks) {
            EXPECT_GE(contrast(scheme.at(mark), scheme.at("ground")), 3.0) << mark;
        }
    }
}

}  // namespace
}  // namespace weft
