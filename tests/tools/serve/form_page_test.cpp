#include "tools/serve/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "sim/io/embedded.hpp"
#include "tools/schema/reference.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

using testing::HasSubstr;
using testing::Not;

const FormChoices& choices() {
    static const FormChoices made = form_choices();
    return made;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    std::set<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
        found.insert((*match)[1]);
    return found;
}

TEST(form_choices, offers_what_is_shipped_and_every_axis) {
    const FormGroup& first = choices().groups.front();
    ASSERT_EQ(first.fields[0].key, "machine");
    EXPECT_EQ(first.fields[0].choices.size(), embedded::machines().size());
    ASSERT_EQ(first.fields[1].key, "model");
    EXPECT_EQ(first.fields[1].choices.size(), embedded::catalog().size());
    EXPECT_EQ(choices().jobs.size(), embedded::jobs().size());
    for (const Scheme* scheme : parallelism::all()) {
        const FormGroup& layout = choices().groups[1];
        EXPECT_THAT(layout.fields,
                    testing::Contains(testing::Field(&FormField::key, "layout." + std::string(scheme->axis))));
    }
}

TEST(form_choices, every_field_has_a_meaning) {
    for (const FormGroup& group : choices().groups) {
        for (const FormField& field : group.fields) EXPECT_NE(field.meaning, "") << field.key;
    }
    for (const FormField& field : choices().others) EXPECT_NE(field.meaning, "") << field.key;
}

TEST(form_page, shows_the_job_that_it_begins_with) {
    const std::string page = form_page(choices(), {{"machine", "lumi-g"}, {"layout.tensor", "8"}, {"zero", "1"}}, {});
    EXPECT_THAT(page, HasSubstr("<option value=\"lumi-g\" selected>"));
    EXPECT_THAT(page, HasSubstr("name=\"layout.tensor\" aria-describedby=\"about-layout.tensor\" inputmode=\"numeric\" "
                                "value=\"8\""));
    EXPECT_THAT(page, HasSubstr("<option value=\"1\" selected>"));
}

TEST(form_page, begins_with_questions_about_what_it_shows) {
    const std::string page = form_page(choices(), {{"machine", "lumi-g"}, {"gpus", "32"}}, {});
    EXPECT_EQ(matches(page, "<form method=\"get\" action=\"([^\"]*)\" class"),
              (std::set<std::string>{"/ask#simulate", "/ask#plan", "/#explain"}));
    EXPECT_THAT(page, HasSubstr("name=\"gpus\" inputmode=\"numeric\" size=\"7\" value=\"32\""));
    EXPECT_LT(page.find("Three questions"), page.find("id=\"job\""));
    for (const StartingJob& job : choices().jobs) EXPECT_THAT(page, HasSubstr("<option>" + job.name + "</option>"));
}

TEST(form_page, keeps_values_that_it_does_not_offer) {
    const std::string page = form_page(
        choices(), {{"machine", "{\"extends\":\"frontier\"}"}, {"megatron.version", "core-0.8"}, {"x", "1"}}, {});
    EXPECT_THAT(page, HasSubstr("<option value=\"{&quot;extends&quot;:&quot;frontier&quot;}\" selected>"));
    EXPECT_THAT(page, HasSubstr("name=\"megatron.version\""));
    EXPECT_THAT(page, HasSubstr("name=\"x\""));
}

TEST(form_page, shows_a_key_once_with_what_is_said_last) {
    const std::string page = form_page(choices(), {{"nodes", "3"}, {"x", "1"}, {"nodes", "4"}, {"x", "2"}}, {});
    EXPECT_THAT(page, HasSubstr("name=\"nodes\" aria-describedby=\"about-nodes\" inputmode=\"numeric\" value=\"4\""));
    EXPECT_THAT(page, HasSubstr("name=\"x\" aria-describedby=\"about-x\"  value=\"2\""));
    EXPECT_EQ(matches(page, "name=\"x\"(.*)value").size(), 1u);
}

TEST(form_page, texts_stay_texts) {
    const std::string hostile = "\"></option><script>alert(1)</script>";
    const std::string page =
        form_page(choices(), {{"machine", hostile}, {hostile, hostile}, {"nodes", hostile}},
                  StartingJob{.name = hostile, .summary = hostile, .parameters = {{hostile, hostile}}});
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
}

TEST(form_page, every_input_has_a_label_and_an_id_of_its_own) {
    const std::string page = form_page(choices(), choices().jobs.front().parameters, {});
    const std::set<std::string> inputs = matches(page, "<(?:input|select) id=\"(of-[^\"]*)\""),
                                labels = matches(page, "<label for=\"([^\"]*)\"");
    EXPECT_GE(inputs.size(), 20u);
    EXPECT_EQ(inputs, labels);
    const std::set<std::string> described = matches(page, "aria-describedby=\"([^\"]*)\""),
                                texts = matches(page, "<span id=\"(about-[^\"]*)\"");
    EXPECT_EQ(described, texts);
}

}  // namespace
}  // namespace weft
