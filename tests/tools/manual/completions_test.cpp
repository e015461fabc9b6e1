// What shells are told to offer.
#include "tools/manual/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/io/embedded.hpp"
#include "tools/command_line.hpp"

namespace weft {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

Words offered(const Words& words) { return completions(words); }

TEST(completions, commands_and_what_the_program_knows_itself) {
    EXPECT_THAT(offered({""}), SizeIs(commands::all().size() + 2));
    EXPECT_THAT(offered({"comp"}), ElementsAre("compare", "completion"));
    EXPECT_THAT(offered({"--v"}), ElementsAre("--version"));
}

TEST(completions, options_of_a_command) {
    EXPECT_THAT(offered({"simulate", "job.json", "--allow"}), ElementsAre("--allow-oom"));
    EXPECT_THAT(offered({"simulate", "--"}), Each(StartsWith("--")));
    EXPECT_THAT(offered({"simulate", "--jo"}), IsEmpty()) << "arguments have no option of their name";
    EXPECT_THAT(offered({"no-such-command", "--"}), IsEmpty());
}

TEST(completions, names_that_a_placeholder_stands_for) {
    EXPECT_THAT(offered({"simulate", "--machine", ""}), SizeIs(embedded::machines().size()));
    EXPECT_THAT(offered({"simulate", "--machine=fron"}), ElementsAre("--machine=frontier"));
    EXPECT_THAT(offered({"simulate", "--model", "llama3-"}), ElementsAre("llama3-405b", "llama3-70b", "llama3-8b"));
    EXPECT_THAT(offered({"topology", "dgx-h1"}), ElementsAre("dgx-h100"));
    EXPECT_THAT(offered({"collective", "all_"}), ElementsAre("all_reduce", "all_gather", "all_to_all"));
    EXPECT_THAT(offered({"traffic", "in"}), ElementsAre("incast"));
    EXPECT_THAT(offered({"collective", "all_reduce", "--routing", "m"}), ElementsAre("minimal"));
    EXPECT_THAT(offered({"export", "job.json", "--format", "mega"}), ElementsAre("megatron"));
    EXPECT_THAT(offered({"import", "--from", "nccl"}), ElementsAre("nccl-xml"));
    EXPECT_THAT(offered({"validate", "--set", "sc2"}), ElementsAre("sc21"));
    EXPECT_THAT(offered({"schema", "ma"}), ElementsAre("machine"));
    EXPECT_THAT(offered({"completion", "z"}), ElementsAre("zsh"));
}

TEST(completions, keys_and_their_values) {
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "layout.te"}), ElementsAre("layout.tensor="));
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "recompute=f"}), ElementsAre("recompute=full"));
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "machine=fron"}), ElementsAre("machine=frontier"));
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "machine.network.over"}),
                ElementsAre("machine.network.oversubscription="));
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "model.layers"}), ElementsAre("model.layers="));
    EXPECT_THAT(offered({"sweep", "job.json", "--vary", "recompute=none,f"}), ElementsAre("recompute=none,full"));
    EXPECT_THAT(offered({"simulate", "job.json", "--set", "no.such.key="}), IsEmpty());
}

TEST(completions, files_are_left_to_the_shell) {
    EXPECT_THAT(offered({"simulate", "job"}), IsEmpty());
    EXPECT_THAT(offered({"simulate", "job.json", "--trace", ""}), IsEmpty());
}

// A placeholder that lists choices lists what the option takes, and its description tells of each.
TEST(completions, choices_of_a_placeholder_are_in_its_description) {
    int choices = 0;
    for (const Command* const command : commands::all()) {
        const CommandOptions declared = options_of(*command);
        for (const auto& option : declared.all.options()) {
            const std::string name = option->semantic()->name();
            if (option->semantic()->max_tokens() == 0 || name.find('|') == name.npos) continue;
            for (const std::string& choice : offered({std::string(command->name), "--" + option->long_name(), ""})) {
                EXPECT_THAT(option->description(), HasSubstr(choice)) << command->name << " --" << option->long_name();
                ++choices;
            }
        }
    }
    EXPECT_GT(choices, 50);
}

}  // namespace
}  // namespace weft
