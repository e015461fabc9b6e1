#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/page/timeline.hpp"

namespace weft {
namespace {

constexpr std::size_t most_lanes = 32, longest_name = 200;

// As simulated slices are drawn, by WorkPass.
constexpr std::array<std::string_view, 5> activity_of_pass{"forward", "recompute", "backward", "other", "optimizer"};
static_assert(static_cast<std::size_t>(WorkPass::optimizer) + 1 == activity_of_pass.size());
std::string_view activity(const RecordedKernel& kernel) {
    return activity_of_pass[static_cast<std::size_t>(kernel.pass)];
}

class RecordedTimeline {
  public:
    RecordedTimeline(const KinetoTrace& trace, const StepComparison& found)
        : trace_(trace), found_(found), step_(found.recorded) {}

    Json json(std::size_t most) {
        std::size_t shown = 0;
        while (shown < std::min(most, step_.kernels.size()) && add(step_.kernels[shown])) ++shown;
        const std::int64_t until =
            shown < step_.kernels.size() ? std::max<std::int64_t>(begin_of(step_.kernels[shown]), 1) : step_.duration();
        std::vector<RecordedKernel> kernels(step_.kernels.begin(),
                                            step_.kernels.begin() + static_cast<std::ptrdiff_t>(shown));
        Json lanes = Json::array({layers(kernels)});
        // Those that compute first, which calls have streams of their own for.
        for (const bool calls : {false, true}) {
            for (const TimelineLane& lane : lanes_) {
                if ((lane.dimension != "compute") == calls && !lane.gap.empty()) lanes.push_back(lane.json());
            }
        }
        std::ranges::stable_sort(kernels, {}, &RecordedKernel::launched);
        lanes.push_back(launches(kernels));
        return {{"until", until},
                {"left_out", step_.kernels.size() - shown},
                {"stages", Json::array({Json{{"name", "recorded"}, {"shown", true}, {"lanes", std::move(lanes)}}})},
                {"labels", labels_.values()},
                {"calls", calls_.values()},
                {"links", Json::array()}};
    }

  private:
    const DeviceEvent& event(const RecordedKernel& kernel) const { return trace_.kernels[kernel.event]; }
    std::int64_t begin_of(const RecordedKernel& kernel) const { return event(kernel).begin - step_.begin; }
    std::int64_t end_of(const RecordedKernel& kernel) const { return event(kernel).end - step_.begin; }

    Json label(const RecordedKernel& kernel) const {
        Json facts = Json::array({{"class", name(kernel.what)}, {"pass", name(kernel.pass)}});
        if (kernel.operation != 0) facts.push_back({"launched by", trace_.texts[kernel.operation]});
        return {trace_.texts[event(kernel).name].substr(0, longest_name), activity(kernel), std::move(facts)};
    }

    // What a stream runs at once has a lane each. False: there is no room for another one.
    bool add(const RecordedKernel& kernel) {
        TimelineLane& lane = free_lane(lanes_, "stream " + std::to_string(event(kernel).stream), begin_of(kernel));
        if (lanes_.size() > most_lanes) return false;
        std::int64_t call_number = -1;
        if (kernel.what == WorkClass::communication) {
            const ComparedCall call = recorded_call(trace_, event(kernel));
            call_number = calls_.number_of({call.op, call.ranks, call.bytes[0], "", 0});
            if (lane.gap.empty()) lane.dimension = dimension_of(call);
        }
        lane.add(begin_of(kernel), end_of(kernel), labels_.number_of(label(kernel)), call_number);
        lane.layer.push_back(kernel.layer);
        return true;
    }

    // In which the simulation has such calls.
    std::string dimension_of(const ComparedCall& call) const {
        const auto alike = std::ranges::find_if(
            found_.calls, [&](const ComparedCall& own) { return own.op == call.op && own.ranks == call.ranks; });
        return alike == found_.calls.end() || alike->dimension.empty() ? "communication" : alike->dimension;
    }

    // A slice for each run of kernels of one pass and layer: from where the first begins to where the last ends.
    template <class Begin, class End, class Label>
    Json runs(TimelineLane lane, const std::vector<RecordedKernel>& kernels, Begin begin, End end, Label label_of) {
        for (std::size_t i = 0; i < kernels.size();) {
            const RecordedKernel& first = kernels[i];
            std::int64_t last = end(first);
            for (; i < kernels.size() && kernels[i].pass == first.pass && kernels[i].layer == first.layer; ++i) {
                last = std::max(last, end(kernels[i]));
            }
            lane.add(begin(first), last, labels_.number_of(label_of(first)));
            lane.layer.push_back(first.layer);
        }
        return lane.json();
    }

    // As the device came to them; called as a simulation calls them.
    Json layers(const std::vector<RecordedKernel>& kernels) {
        return runs(
            {.name = "layers"}, kernels, [&](const auto& each) { return begin_of(each); },
            [&](const auto& each) { return end_of(each); },
            [](const RecordedKernel& each) -> Json {
                return {std::string(name(each.pass)) + (each.layer == no_layer ? "" : " layer"), activity(each)};
            });
    }

    Json launches(const std::vector<RecordedKernel>& kernels) {
        const auto at = [&](const RecordedKernel& each) { return each.launched - step_.begin; };
        return runs({.name = "host", .dimension = "host"}, kernels, at, at, [](const RecordedKernel& each) -> Json {
            return {"launch", "other", Json::array({{"pass", name(each.pass)}})};
        });
    }

    const KinetoTrace& trace_;
    const StepComparison& found_;
    const RecordedStep& step_;
    std::vector<TimelineLane> lanes_;
    Numbered<Json> labels_, calls_;
};

}  // namespace

Json recorded_timeline(const KinetoTrace& trace, const StepComparison& found, std::size_t most) {
    return RecordedTimeline(trace, found).json(most);
}

}  // namespace weft
