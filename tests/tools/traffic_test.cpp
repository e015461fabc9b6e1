// `weft traffic` as a user runs it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using test::run_weft;

class traffic_command : public ::testing::Test {
  protected:
    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_.path() / name) << text;
        return (folder_.path() / name).string();
    }
    static SortedJson json(const std::string& arguments) {
        const test::Ran ran = run_weft("traffic " + arguments + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return SortedJson::parse(ran.out, nullptr, false);
    }
    static double time(const std::string& arguments) { return json(arguments).at("time_s"); }
    static std::string refusal(const std::string& arguments, int exit_code) {
        const test::Ran ran = run_weft("traffic " + arguments);
        EXPECT_EQ(ran.exit_code, exit_code) << arguments << ran.err;
        EXPECT_TRUE(ran.out.empty());
        return ran.err;
    }

    test::TemporaryFolder folder_;
};

TEST_F(traffic_command, gives_one_pair_what_a_send_receive_of_two_takes) {
    for (const std::string where : {"frontier --ranks 2 --ranks-per-node 1", "frontier --ranks 2", "dgx-h100 --ranks 2",
                                    "lumi-g --library cray-mpich --ranks 2 --ranks-per-node 1 --calls queued"}) {
        for (const std::string size : {"8", "64K", "256M"}) {
            const test::Ran ran =
                run_weft("collective send_receive --machine " + where + " --sizes " + size + " --json");
            const double expected = SortedJson::parse(ran.out).at("rows").at(0).at("time_s");
            EXPECT_NEAR(time("shift --machine " + where + " --size " + size) / expected, 1.0, 1e-6) << where << size;
        }
    }
}

TEST_F(traffic_command, reads_a_pattern_a_list_and_a_matrix_alike) {
    const std::string list = file("list.csv",
                                  "# shift by one\nsource,destination,bytes,start\n"
                                  "0,1,65536,\n1,2,64 KiB,0\n2,3,\"64 KiB\",0 us\n3,0,65536,0\n");
    const std::string matrix = file("matrix.csv", "0, 65536, 0, 0\n0,0,64 KiB,0\n0,0,0,65536\n65536,0,0,0\n");
    const std::string on = " --machine frontier --ranks-per-node 1";
    const SortedJson pattern = json("shift --ranks 4 --size 64K" + on);
    for (SortedJson other : {json("--list " + list + on), json("--matrix " + matrix + on)}) {
        other["pattern"] = pattern.at("pattern");
        EXPECT_EQ(other, pattern);
    }
    EXPECT_EQ(pattern.at("bytes"), 4 * 65536);
}

TEST_F(traffic_command, tells_each_message_in_a_row) {
    const std::string list = file("list.csv", "source,destination,bytes,start\n0,8,1e6,0\n8,0,1e6,1 ms\n");
    const test::Ran ran = run_weft("traffic --list " + list + " --machine frontier --csv");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with(
        "source,destination,bytes,start_s,arrival_s,rate_bytes_per_s,hops,protocol\n0,8,1000000,0,"));
    EXPECT_NE(ran.out.find("\n8,0,1000000,0.001,0.001"), std::string::npos) << ran.out;
}

TEST_F(traffic_command, draws_each_message_on_a_page) {
    const std::string page = (folder_.path() / "page.html").string();
    const std::string of = "traffic uniform --machine frontier --ranks 4 --size 1M";
    const test::Ran ran = run_weft(of + " --report " + page), told = run_weft(of);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, told.out);
    const std::string text = test::read_file(page);
    EXPECT_NE(text.find("\"values\":[[0,1,2,3,0,1,2,3,0,1,2,3],[1,2,3,0,2,3,0,1,3,0,1,2],[1048576.0,"),
              std::string::npos);
    EXPECT_NE(text.find("<span>traffic</span> <span>uniform</span> <span>--machine</span> <span>frontier</span>"),
              std::string::npos);
    EXPECT_NE(text.find("<h2>Every message</h2>"), std::string::npos);
    // Of more messages, those that take longest.
    EXPECT_EQ(run_weft("traffic uniform --machine frontier --ranks 160 --size 64K --report " + page).exit_code, 0);
    EXPECT_NE(test::read_file(page).find("charts and rows have the 20,000 that take longest"), std::string::npos);
    EXPECT_NE(refusal("shift --machine frontier --ranks 4 --report a.pdf", 2).find(".html"), std::string::npos);
}

TEST_F(traffic_command, says_who_sends_and_what_binds) {
    const test::Ran ran = run_weft("traffic incast:15 --machine frontier --ranks 16 --ranks-per-node 1 --size 4M");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(
        ran.out.starts_with("incast:15 on frontier: 16 ranks on 16 nodes, rccl, blocking calls, adaptive routing\n"
                            "15 messages, 60.0 MiB in all, in "))
        << ran.out;
    for (const char* const part : {"Simple        between nodes        15", "to node 0 NIC 0      slingshot.nic"}) {
        EXPECT_NE(ran.out.find(part), std::string::npos) << part << ran.out;
    }
    const SortedJson json =
        traffic_command::json("incast:15 --machine frontier --ranks 16 --ranks-per-node 1 --size 4M");
    EXPECT_EQ(json.at("links").at(0).at("bound"), 15);
    EXPECT_GT(json.at("links").at(0).at("busy"), 0.95);
    EXPECT_NEAR(
        json.at("rates_bytes_per_s").at("min").get<double>() / json.at("rates_bytes_per_s").at("max").get<double>(),
        1.0, 0.01);
}

// From the last die of a node to the first of the next there is a cable between switches.
TEST_F(traffic_command, takes_longer_on_a_loaded_fabric) {
    const std::string of = "shift --machine frontier --nodes 2 --size 64K --load ";
    double before = 0.0;
    for (const char* const load : {"0", "0.25", "0.5", "0.75", "0.9"}) {
        const double now = time(of + load);
        EXPECT_GT(now, before);
        before = now;
    }
    const std::string one_switch = "bisection --machine frontier --nodes 2 --size 64K";
    EXPECT_EQ(time(one_switch + " --load 0.9"), time(one_switch));
    EXPECT_NE(run_weft("traffic " + one_switch + " --load 0.9").out.find("; no message meets it\n"), std::string::npos);
    const SortedJson background = json(of + "0.75 --background slingshot.global=0.1").at("background");
    EXPECT_EQ(background.dump(),
              R"([{"class":"slingshot.global","share":0.1},{"class":"slingshot.local","share":0.75}])");
}

TEST_F(traffic_command, is_the_same_every_time_and_another_by_another_seed) {
    const std::string of = "traffic permutation:7 --machine frontier --nodes 8 --size 1M --csv";
    EXPECT_EQ(run_weft(of).out, run_weft(of).out);
    EXPECT_NE(run_weft(of).out, run_weft("traffic permutation:8 --machine frontier --nodes 8 --size 1M --csv").out);
}

TEST_F(traffic_command, tells_all_mistakes_of_a_list_at_their_cells) {
    const std::string list = file("list.csv",
                                  "source,destination,bytes,start\n0,1,64 KiB,0\n0,1x,64 KiB,0\n99,1,0,-1\n1,1,5,soon\n"
                                  "1,2\n");
    const std::string err = refusal("--list " + list + " --machine frontier --ranks 16", 3);
    for (const char* const part :
         {"list.csv:3:3: error: expected a rank from 0 to 15, got \"1x\"",
          "list.csv:4:1: error: expected a rank from 0 to 15, got \"99\"",
          "list.csv:4:6: error: expected bytes above 0 as 65536 or \"64 KiB\", got \"0\"",
          "list.csv:4:8: error: expected seconds of at least 0, or as \"10 us\", got \"-1\"",
          "list.csv:5:3: error: rank 1 sends to itself", "list.csv:5:7: error: expected seconds",
          "list.csv:6:1: error: expected 4 columns, got 2"}) {
        EXPECT_NE(err.find(part), std::string::npos) << part << "\n" << err;
    }
    const std::string names = file("names.csv", "source,destinaton,byte\n0,1,5\n");
    const std::string err_of_names = refusal("--list " + names + " --machine frontier", 3);
    for (const char* const part : {"no column is called \"destinaton\", did you mean \"destination\"",
                                   "no column \"bytes\"", "did you mean \"bytes\""}) {
        EXPECT_NE(err_of_names.find(part), std::string::npos) << part << "\n" << err_of_names;
    }
}

TEST_F(traffic_command, tells_all_mistakes_of_a_matrix_at_their_cells) {
    const std::string matrix = file("matrix.csv", "0,1,2\n1,5,x\n-3,0\n");
    const std::string err = refusal("--matrix " + matrix + " --machine frontier", 3);
    for (const char* const part :
         {"matrix.csv:2:3: error: rank 1 sends to itself", "matrix.csv:2:5: error: expected bytes from 0",
          "matrix.csv:3:1: error: expected 3 columns, as there are lines, got 2"}) {
        EXPECT_NE(err.find(part), std::string::npos) << part << "\n" << err;
    }
    EXPECT_NE(refusal("--matrix " + file("none.csv", "0,0\n0,0\n") + " --machine frontier", 3).find("no messages"),
              std::string::npos);
    EXPECT_NE(refusal("--matrix " + matrix + " --machine frontier --ranks 2", 3).find("at most 2 lines"),
              std::string::npos);
}

TEST_F(traffic_command, refusals_say_what_there_is) {
    const std::string on = " --machine frontier --ranks 16";
    EXPECT_NE(refusal("neighbours" + on, 2).find("did you mean \"neighbors\""), std::string::npos);
    EXPECT_NE(refusal("shift:16" + on, 2).find("from 1 to 15 after the colon"), std::string::npos);
    EXPECT_NE(refusal("uniform:3" + on, 2).find("takes no number"), std::string::npos);
    EXPECT_NE(refusal("bisection --machine frontier --ranks 15", 2).find("even number"), std::string::npos);
    EXPECT_NE(refusal("shift --machine frontier", 2).find("--ranks or --nodes"), std::string::npos);
    EXPECT_NE(refusal("shift --list x.csv" + on, 2).find("only one of them"), std::string::npos);
    EXPECT_NE(refusal("--machine frontier", 2).find("expected a PATTERN"), std::string::npos);
    EXPECT_NE(refusal("shift --nodes 2" + on, 2).find("only one of them"), std::string::npos);
    EXPECT_NE(refusal("shift --size 1K,2K" + on, 2).find("expected one"), std::string::npos);
    EXPECT_NE(refusal("shift --protocol LL129" + on, 2).find("Simple"), std::string::npos);
    EXPECT_NE(refusal("uniform --machine frontier --ranks 8192", 2).find("the 1048576 that"), std::string::npos);
    EXPECT_NE(refusal("shift --load 1" + on, 2).find("below 1"), std::string::npos);
}

}  // namespace
}  // namespace weft
