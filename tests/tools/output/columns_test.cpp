#include "tools/output/columns.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

struct Shipment {
    std::string name;
    Bytes size;
    Seconds time;
    double share = 0;
    std::optional<std::uint32_t> hops{};

    double twice() const { return 2 * share; }
};

const std::vector<Shipment> shipments{{"a, b", {2048}, {0.5}, 0.25, 3}, {"c", {0.5}, {2}, 1}};

Columns<Shipment> columns() {
    return {{"name", "<name", &Shipment::name},
            {"bytes", "size", whole(&Shipment::size)},
            {"time_s", "time", &Shipment::time},
            {"share", "share", as<Share>(&Shipment::share)},
            {"hops", "hops", &Shipment::hops},
            {"", "<note", [](const Shipment& row) { return row.hops ? "far" : ""; }},
            {"twice", {}, &Shipment::twice, Readers::of_json},
            {"csv", {}, [](const Shipment& row) { return row.name.size() == 1; }, Readers::of_csv}};
}

TEST(columns, are_what_text_json_and_csv_walk) {
    const ResultTable table = table_of(shipments, columns());
    EXPECT_EQ(table_text(table, 1),
              " name      size    time    share  hops  note\n"
              " a, b  2.00 KiB  500 ms   25.0 %     3  far\n"
              " c       0.50 B  2.00 s  100.0 %\n");
    EXPECT_EQ(table_json(table).dump(),
              R"([{"name":"a, b","bytes":2048,"time_s":0.5,"share":0.25,"hops":3,"twice":0.5},)"
              R"({"name":"c","bytes":0.5,"time_s":2.0,"share":1.0,"twice":2.0}])");
    EXPECT_EQ(table_csv(table),
              "name,bytes,time_s,share,hops,csv\n"
              "\"a, b\",2048,0.5,0.25,3,false\n"
              "c,0.5,2,1,,true\n");
}

// Whatever it is of: one row more in the list, and all three have it.
TEST(columns, one_more_shows_in_every_output) {
    Columns<Shipment> more = columns();
    more.push_back({"rate", "rate", [](const Shipment& row) { return row.size / row.time; }});
    const ResultTable table = table_of(shipments, more);
    EXPECT_NE(table_text(table).find("  rate\n"), std::string::npos);
    EXPECT_EQ(table_json(table)[0].at("rate"), 4096.0);
    EXPECT_NE(table_csv(table).find(",rate\n"), std::string::npos);
}

TEST(columns, have_null_where_a_number_is_not_finite) {
    const std::vector<double> rates{1.5, std::numeric_limits<double>::infinity()};
    const ResultTable table = table_of(rates, Columns<double>{{"rate", "rate", [](double rate) { return rate; }}});
    EXPECT_EQ(table_json(table).dump(), R"([{"rate":1.5},{"rate":null}])");
    EXPECT_EQ(table_text(numbered_table(2, {{"n", "n", [](std::size_t n) { return 2 * n; }}})), "n\n0\n2\n");
}

}  // namespace
}  // namespace weft
