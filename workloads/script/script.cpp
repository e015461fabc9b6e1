#include "workloads/script/script.hpp"

#include <bit>

#include "sim/base/check.hpp"

namespace weft {
namespace {

std::uint64_t hash_of(const Call& call) {
    std::uint64_t hash = std::bit_cast<std::uint64_t>(call.message.value);
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; };
    mix(static_cast<std::uint64_t>(call.op) << 8U | static_cast<std::uint64_t>(call.group));
    mix(std::uint64_t{call.peer} << 32U | call.port);
    mix(std::hash<std::string_view>()(call.label));
    return hash;
}

}  // namespace

ActionId Script::add(const Action& action) {
    WEFT_CHECK(actions_.size() < Action::none, "a script has too many actions");
    actions_.push_back(action);
    return static_cast<ActionId>(actions_.size() - 1);
}

std::uint32_t Script::label(std::string_view text) {
    const auto [it, inserted] = label_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(labels_.size()));
    if (inserted) labels_.emplace_back(text);
    return it->second;
}

std::uint32_t Script::call_index(const Call& call) {
    const std::uint64_t hash = hash_of(call);
    const auto [first, last] = call_ids_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (calls_[it->second] == call) return it->second;
    }
    calls_.push_back(call);
    const auto index = static_cast<std::uint32_t>(calls_.size() - 1);
    call_ids_.emplace(hash, index);
    return index;
}

ActionId Script::compute(std::string_view text, Seconds duration, Where where) {
    work_.push_back(duration);
    chain_ =
        add({Action::Kind::compute, static_cast<std::uint32_t>(work_.size() - 1), Action::none, label(text), where});
    waited_ = sealed_ = false;
    return chain_;
}

ActionId Script::call(const Call& call, Where where) {
    chain_ = add({Action::Kind::call, call_index(call), Action::none, label(call.label), where});
    waited_ = sealed_ = false;
    return chain_;
}

void Script::extend(ActionId compute, Seconds duration, std::string_view text) {
    WEFT_CHECK(compute + 1 == actions_.size() && !waited(), "only the computation written last can be extended");
    work_[actions_[compute].subject] += duration;
    actions_[compute].label = label(text);
}

ActionId Script::issue(const Call& call, Where where, ActionId after) {
    return add({Action::Kind::issue, call_index(call), after, label(call.label), where});
}

void Script::wait(ActionId issued) {
    WEFT_CHECK(issued < actions_.size(), "a script waits for something that it has not issued");
    add({Action::Kind::wait, issued, Action::none, 0, {}});
    waited_ = true;
}

ActionId Script::now() {
    if (waited_) {
        chain_ = add({Action::Kind::join, 0, Action::none, label("join"), {}});
        waited_ = false;
    }
    sealed_ = true;
    return chain_;
}

}  // namespace weft
