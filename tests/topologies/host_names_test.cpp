// Slurm's lists of hosts: expanded, compressed again, and bounded.
#include "topologies/placement.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Names = std::vector<std::string>;

Names expanded(std::string_view list) {
    const HostNames found = expand_host_names(list, 1000);
    EXPECT_EQ(found.mistake, "") << list;
    return found.names;
}

TEST(host_names, expand_as_slurm_expands_them) {
    EXPECT_EQ(expanded("n7"), Names{"n7"});
    EXPECT_EQ(expanded("a,b[1-3,07],c-ib"), (Names{"a", "b1", "b2", "b3", "b07", "c-ib"}));
    EXPECT_EQ(expanded("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
    EXPECT_EQ(expanded("r[1-2]n[0-1]-ib"), (Names{"r1n0-ib", "r1n1-ib", "r2n0-ib", "r2n1-ib"}));
}

TEST(host_names, that_are_no_list_are_told) {
    for (const std::string_view list : {"n[1-", "n1]", "n]1[", "n[3-1]", "n[a-b]", "n[]", "a,,b", "", "n[1-2", "[[1]]",
                                        "n[0-999999999]", "n[1-99999999999999999999]", "n[0-99]m[0-99]"}) {
        EXPECT_NE(expand_host_names(list, 1000).mistake, "") << list;
    }
}

TEST(host_names, compress_to_what_expands_to_them) {
    EXPECT_EQ(compress_host_names(Names{"n1", "n2", "n3", "n7"}), "n[1-3,7]");
    EXPECT_EQ(compress_host_names(Names{"n08", "n09", "n10", "m1", "login"}), "n[08-10],m1,login");
    EXPECT_EQ(compress_host_names(Names{"n9", "n10", "n011"}), "n[9-10,011]");
    for (const Names& names : {Names{"a1-ib", "a2-ib"}, Names{"n09", "n10", "n100", "n0", "n1"},
                               Names{"n3", "n2", "n1"}, Names{"7", "8"}, Names{"x"}}) {
        EXPECT_EQ(expanded(compress_host_names(names)), names);
    }
}

}  // namespace
}  // namespace weft
