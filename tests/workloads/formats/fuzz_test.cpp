// No text makes a reader of another tool's files do worse than refuse it. Seeds are small valid files, one or more per
// format, named after it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "tests/mutated.hpp"
#include "tests/workloads/formats/seeds.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

const std::vector<test::FormatSeed>& seeds() {
    static const std::vector<test::FormatSeed> all = test::format_seeds();
    return all;
}

// Whatever else it throws fails the test.
bool is_read(const Format& format, const std::string& path, std::string text) {
    const std::array files{SourceFile{path, std::move(text)}};
    try {
        import_files(format, files, test::seed_options());
    } catch (const ConfigError&) {
        return false;
    }
    return true;
}

TEST(formats_fuzz, seeds_are_recognised_and_read) {
    ASSERT_FALSE(seeds().empty());
    for (const test::FormatSeed& seed : seeds()) {
        SCOPED_TRACE(seed.file.path);
        EXPECT_EQ(find_format(seed.file), seed.format);
        EXPECT_NO_THROW(import_files(*seed.format, std::array{seed.file}, test::seed_options()));
    }
}

RC_GTEST_PROP(formats_fuzz, any_text_is_read_or_refused, ()) {
    const test::FormatSeed& seed = seeds().at(*rc::gen::inRange<std::size_t>(0, seeds().size()));
    const auto characters = rc::gen::oneOf(
        rc::gen::elementOf(std::string("{}[]()<>\"'\\/:;,.=#-+$*&|! \t\n\r0159eEaxZ_")), rc::gen::arbitrary<char>());
    std::string text = test::mutated(seed.file.text, 8, characters);
    if (*rc::gen::inRange(0, 4) == 0) text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
    const SourceFile file{seed.file.path, text};
    if (const Format* const found = find_format(file)) is_read(*found, file.path, text);
    RC_CLASSIFY(is_read(*seed.format, file.path, text), "still valid");
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

std::string entity_bomb() {
    std::string text = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY a0 \"bomb\">";
    for (int i = 1; i < 12; ++i)
        text += fmt::format("<!ENTITY a{} \"{}\">", i, repeated(fmt::format("&a{};", i - 1), 10));
    return text + "]><system version=\"1\"><a>&a11;</a></system>";
}

std::string alias_bomb() {
    std::string text = "a0: &a0 [bomb, bomb]\n";
    for (int i = 1; i < 30; ++i)
        text += fmt::format("a{0}: &a{0} [{1}]\n", i, repeated(fmt::format("*a{}, ", i - 1), 9));
    return text;
}

std::vector<std::string> bad_texts(const std::string& seed) {
    constexpr std::size_t deep = 200'000;
    std::vector<std::string> texts{"",
                                   " ",
                                   "\n",
                                   std::string(4096, '\0'),
                                   std::string("\xEF\xBB\xBF"),
                                   entity_bomb(),
                                   alias_bomb(),
                                   std::string(1'000'000, 'a'),
                                   repeated("a: ", 10'000)};
    for (const char* const opening : {"[", "{", "<a>", "(", "{\"a\":", "- ", "$(", "\"", "a:\n "}) {
        texts.push_back(repeated(opening, deep));
        texts.push_back(seed + repeated(opening, deep));
    }
    texts.push_back(seed + seed);
    texts.push_back(seed + '\0' + seed);
    return texts;
}

// The text with each of its numbers in turn replaced.
std::vector<std::string> with_numbers(const std::string& text, const std::string& number) {
    static const std::regex digits(R"([0-9]+(\.[0-9]+)?(e[0-9]+)?)");
    std::vector<std::string> texts;
    for (auto found = std::sregex_iterator(text.begin(), text.end(), digits); found != std::sregex_iterator();
         ++found) {
        std::string changed = text;
        changed.replace(static_cast<std::size_t>(found->position()), static_cast<std::size_t>(found->length()), number);
        texts.push_back(std::move(changed));
    }
    return texts;
}

void expect_soon(const Format& format, const std::string& path, const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NO_THROW(is_read(format, path, text)) << format.name << ": " << text.substr(0, 400);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 20.0) << format.name << ": " << text.substr(0, 80);
}

TEST(formats_fuzz, bad_texts_are_refused_soon) {
    for (const Format* const format : formats::all()) {
        const auto seed = std::ranges::find(seeds(), format, &test::FormatSeed::format);
        const std::string text = seed == seeds().end() ? std::string() : seed->file.text;
        for (const std::string& bad : bad_texts(text)) expect_soon(*format, "bad.input", bad);
    }
}

TEST(formats_fuzz, numbers_beyond_sense_are_refused_soon) {
    for (const test::FormatSeed& seed : seeds()) {
        for (const char* const number : {"-1", "0", "1e30", "1e400", "99999999999999999999999", "nan"}) {
            for (const std::string& text : with_numbers(seed.file.text, number)) {
                expect_soon(*seed.format, seed.file.path, text);
            }
        }
    }
}

TEST(formats_fuzz, files_that_end_anywhere_are_read_or_refused) {
    for (const test::FormatSeed& seed : seeds()) {
        for (std::size_t end = 0; end < seed.file.text.size(); end += 1 + seed.file.text.size() / 200) {
            expect_soon(*seed.format, seed.file.path, seed.file.text.substr(0, end));
        }
    }
}

}  // namespace
}  // namespace weft
