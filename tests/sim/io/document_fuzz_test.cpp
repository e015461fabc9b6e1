// Whatever a document contains, reading it either works or throws ConfigError: nothing else, and no crash.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "sim/io/document.hpp"
#include "tests/mutated.hpp"

namespace weft {
namespace {

const std::string valid = R"({
  // a machine
  "machine": "frontier", "nodes": 16, "share": 2.5e-1, "wide": true, "none": null,
  "layout": {"tensor": 4, "order": "a,b\n\u00e9"}, /* and its tiers */
  "tiers": [{"bandwidth": "25 GB/s", "latency": "2.4 us"}, {"bandwidth": "200 Gbit/s", "latency": "350 ns"}]
})";

void read_everything(Document document) {
    Field root = document.root();
    root.text("machine"), root.count("nodes"), root.number("share"), root.flag("wide"), root.has("none");
    Field layout = root.object("layout");
    layout.whole("tensor"), layout.choice("order", {"a,b\n\xC3\xA9", "b,a"});
    layout.done();
    for (Field tier : root.list("tiers")) {
        tier.bandwidth("bandwidth"), tier.duration("latency"), tier.bytes("memory", 1_GiB), tier.keys();
        if (tier.has("worse")) tier.error("worse", "as bad as any");
        tier.done();
    }
    root.done();
    RC_ASSERT(Document::parse("again", document.text()).text() == document.text());
    document.check();
}

void must_read_or_refuse(const std::string& text) {
    try {
        read_everything(Document::parse("fuzz", text));
        RC_TAG("read");
    } catch (const ConfigError& error) {
        RC_ASSERT(!error.diagnostics().empty());
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            RC_ASSERT(diagnostic.line >= 1 && diagnostic.column >= 1 && !diagnostic.message.empty());
        }
        RC_TAG("refused");
    }
}

TEST(document_fuzz, bytes_replaced_inserted_and_removed_anywhere) {
    EXPECT_TRUE(rc::check([] {
        const auto characters = rc::gen::oneOf(rc::gen::elementOf(std::string("{}[]\",:/*\\-+.eE0123456789 \n")),
                                               rc::gen::arbitrary<char>());
        must_read_or_refuse(test::mutated(valid, 5, characters));
    }));
}

TEST(document_fuzz, cut_off_or_spliced_with_itself) {
    EXPECT_TRUE(rc::check([] {
        const auto place = [] { return *rc::gen::inRange<std::size_t>(0, valid.size()); };
        must_read_or_refuse(valid.substr(0, place()) + valid.substr(place()));
    }));
}

TEST(document_fuzz, any_text_at_all) {
    EXPECT_TRUE(rc::check([](const std::string& text) { must_read_or_refuse(text); }));
}

TEST(document_fuzz, any_override_at_all) {
    EXPECT_TRUE(rc::check([] {
        const std::string path = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("layouttiers01.[]")));
        const std::string known =
            *rc::gen::elementOf(std::vector<std::string>{"layout", "tiers[1].latency", "nodes", path});
        const std::string value =
            *rc::gen::oneOf(rc::gen::container<std::string>(rc::gen::elementOf(std::string("{}[]\",:1e"))),
                            rc::gen::arbitrary<std::string>());
        Document document = Document::parse("fuzz", valid);
        try {
            document.assign(known + "=" + value);
            read_everything(document);
        } catch (const ConfigError& error) {
            RC_ASSERT(!error.diagnostics().empty());
        }
    }));
}

}  // namespace
}  // namespace weft
