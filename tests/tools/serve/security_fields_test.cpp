#include "tools/serve/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

std::string policy(const std::string& page) { return security_fields({.body = page}).front().second; }

// The hash of an empty text and of "alert('Hello, world.');", which CSP level 2 has as its example.
TEST(security_fields, only_a_pages_own_scripts_run) {
    EXPECT_THAT(policy("<p><script>alert('Hello, world.');</script><script></script>"),
                testing::HasSubstr("script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=' "
                                   "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';"));
    EXPECT_THAT(policy("{\"error\": \"none\"}"), testing::HasSubstr("script-src 'none';"));
}

}  // namespace
}  // namespace weft
