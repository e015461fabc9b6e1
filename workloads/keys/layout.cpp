// Keys of the object "layout" of a job: axes of the rank grid, what cuts them, their order, and layers of stages.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "sim/base/texts.hpp"
#include "workloads/keys/bind.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

bool may_be_left_out(const std::string& axis) { return axis != "tensor" && axis != "data" && axis != "pipeline"; }

std::vector<std::string> parse_order(const std::string& text) {
    const std::vector<std::string> usual = usual_order();
    std::vector<std::string> order;
    for (const std::string_view axis : parts_of(text, ',')) std::erase(order.emplace_back(axis), ' ');
    // An axis that an order may leave out follows the one that it usually follows.
    for (std::size_t i = 1; i < usual.size(); ++i) {
        const auto inner = std::ranges::find(order, usual[i - 1]);
        const bool left_out = std::ranges::find(order, usual[i]) == order.end();
        if (may_be_left_out(usual[i]) && left_out && inner != order.end()) order.insert(inner + 1, usual[i]);
    }
    return order;
}

void read_order(Field& field, std::string_view name, Job& job) {
    if (!field.has(name)) return;
    const std::string text = field.text(name);
    std::vector<std::string> order = parse_order(text), usual = usual_order();
    if (std::ranges::is_permutation(order, usual)) {
        job.layout.order = std::move(order);
        return;
    }
    std::erase_if(usual, std::not_fn(may_be_left_out));
    field.error(name,
                fmt::format("expected tensor, data, pipeline and perhaps {} in some order, innermost first, got \"{}\"",
                            fmt::join(usual, " and "), text));
}

void read_split_text(Field& field, std::string_view name, const std::vector<std::string>& words, Layout& layout) {
    const std::string text = field.text(name);
    if (const auto word = std::ranges::find(words, text); word != words.end()) {
        layout.split = StageSplit{static_cast<std::uint8_t>(word - words.begin())};
        return;
    }
    std::string why;
    layout.by_hand = parse_stage_layout(text, why);
    if (why.empty()) return;
    field.error(name,
                text.starts_with('E')
                    ? why
                    : fmt::format("expected one of {}, a layout as \"Et*3|t*4|L\", layers of each part in a list, "
                                  "or {{\"first\": n, \"last\": n}}, got \"{}\"",
                                  fmt::join(words, ", "), text));
}

void read_split_ends(Field counts, StageLayout& layout) {
    layout.first = counts.has("first") ? counts.count("first") : 0;
    layout.last = counts.has("last") ? counts.count("last") : 0;
    if (!counts.has("first") && !counts.has("last")) counts.error("first", "give first, last or both");
    counts.done();
}

// By a rule, or by hand: as a text, a list, or an object with the ends.
void read_split(Field& field, std::string_view name, Job& job) {
    if (!field.has(name)) return;
    Layout& layout = job.layout;
    layout.split = StageSplit::by_hand;
    if (field.is_text(name)) return read_split_text(field, name, key_of("layout.split").words, layout);
    if (field.is_object(name)) return read_split_ends(field.object(name), layout.by_hand);
    for (Field& part : field.list(name)) layout.by_hand.layers.push_back(part.as_whole());
    if (layout.by_hand.layers.empty()) field.error(name, "expected the layers of each model part");
}

std::string split_json(const Job& job) {
    const StageLayout& given = job.layout.by_hand;
    nlohmann::json json = nlohmann::json::object();
    if (job.layout.split != StageSplit::by_hand) {
        json = enumerator_name(job.layout.split);
    } else if (!given.text.empty()) {
        json = given.text;
    } else if (!given.layers.empty()) {
        json = given.layers;
    } else {
        if (given.first > 0) json["first"] = given.first;
        if (given.last > 0) json["last"] = given.last;
    }
    return json.dump();
}

// An axis that is too long is told of and no more, so that no product of sizes that are read overflows.
void limit(JobKey& key) {
    key.set = [set = key.set, most = key.ranges.front().most](Job& job, double ranks) {
        set(job, ranks > most ? 1 : ranks);
    };
}

}  // namespace

void bind_layout(KeyRows& rows) {
    Section own(rows, "layout", &Job::layout);
    const std::vector<KeyRange> ranges = rows.row("layout.tensor").ranges;
    for (const Scheme* const scheme : parallelism::all()) {
        JobKey& key = own(std::string(scheme->axis), {});
        key.kind = KeyKind::count;
        key.ranges = ranges;
        key.get = [axis = scheme->axis](const Job& job) { return double(job.layout.size(axis)); };
        key.set = [axis = scheme->axis](Job& job, double ranks) {
            job.layout.size(axis) = static_cast<std::uint32_t>(ranks);
        };
        limit(key);
    }
    limit(own("virtual_stages", &Layout::virtual_stages));
    JobKey& expert_tensor = own("expert_tensor", &Layout::expert_tensor);
    expert_tensor.before = [](Job& job) { job.layout.expert_tensor = job.layout.tensor; };
    limit(expert_tensor);
    own("order", read_order).json = [](const Job& job) {
        return fmt::format("\"{}\"", fmt::join(job.layout.order, ","));
    };
    JobKey& split = own("split", read_split);
    split.get = [](const Job& job) { return double(job.layout.split); };  // of by_hand the number behind the words
    split.set = [](Job& job, double split) { job.layout.split = StageSplit{static_cast<std::uint8_t>(split)}; };
    split.json = split_json;
}

}  // namespace weft
