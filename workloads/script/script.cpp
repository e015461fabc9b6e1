#include "workloads/script/script.hpp"

#include <bit>
#include <span>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Labels are left out: calls that differ in nothing else are rare, and hashing text takes longest.
std::uint64_t hash_of(const Call& call) {
    std::uint64_t hash = std::bit_cast<std::uint64_t>(call.message.value);
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; };
    mix(static_cast<std::uint64_t>(call.op) << 8U | call.group.hash());
    mix(std::uint64_t{call.peer} << 32U | call.port);
    return hash;
}

// Labels are mostly literals, so where a text lies tells it apart from others. Equal texts that lie elsewhere only
// miss.
std::size_t slot_of(std::string_view text) { return reinterpret_cast<std::uintptr_t>(text.data()) / 4; }

}  // namespace

ActionId Script::add(const Action& action) {
    WEFT_CHECK(actions_.size() < Action::none, "a script has too many actions");
    actions_.push_back(action);
    return static_cast<ActionId>(actions_.size() - 1);
}

std::uint32_t Script::label(std::string_view text) {
    std::uint32_t& recent = recent_labels_[slot_of(text) % recent_labels_.size()];
    if (recent < labels_.size() && labels_[recent] == text) return recent;
    const auto [known, is_new] = label_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.emplace_back(text);
    return recent = known->second;
}

std::uint32_t Script::call_index(const Call& call) {
    const std::uint64_t hash = hash_of(call);
    std::uint32_t& recent = recent_calls_[((hash >> 40U) ^ slot_of(call.label)) % recent_calls_.size()];
    if (recent < calls_.size() && calls_[recent] == call) return recent;
    const auto [first, last] = call_ids_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (calls_[it->second] == call) return recent = it->second;
    }
    calls_.push_back(call);
    call_labels_.push_back(label(call.label));
    const auto index = static_cast<std::uint32_t>(calls_.size() - 1);
    call_ids_.emplace(hash, index);
    return recent = index;
}

ActionId Script::compute(std::string_view text, Seconds duration, Where where) {
    work_.push_back(duration);
    chain_ =
        add({Action::Kind::compute, static_cast<std::uint32_t>(work_.size() - 1), Action::none, label(text), where});
    waited_ = sealed_ = false;
    return chain_;
}

ActionId Script::call(const Call& call, Where where) {
    const std::uint32_t index = call_index(call);
    chain_ = add({Action::Kind::call, index, Action::none, call_labels_[index], where});
    waited_ = sealed_ = false;
    return chain_;
}

void Script::extend(ActionId compute, Seconds duration, std::string_view text) {
    WEFT_CHECK(compute + 1 == actions_.size() && !waited(), "only the computation written last can be extended");
    work_[actions_[compute].subject] += duration;
    Action& action = actions_[compute];
    if (labels_[action.label] != text) action.label = label(text);
}

ActionId Script::issue(const Call& call, Where where, ActionId after) {
    const std::uint32_t index = call_index(call);
    if (after != chain_ && !issues_early(call.group)) early_.push_back(call.group);
    return add({Action::Kind::issue, index, after, call_labels_[index], where});
}

ActionId Script::launch(std::string_view text, Seconds duration, Where where, ActionId after) {
    return beside(Action::Kind::launch, text, duration, where, after);
}
ActionId Script::store(std::string_view text, Seconds duration, Where where, ActionId after) {
    return beside(Action::Kind::store, text, duration, where, after);
}
ActionId Script::load(std::string_view text, Seconds duration, Where where, ActionId after) {
    return beside(Action::Kind::load, text, duration, where, after);
}

ActionId Script::beside(Action::Kind kind, std::string_view text, Seconds duration, Where where, ActionId after) {
    work_.push_back(duration);
    return add({kind, static_cast<std::uint32_t>(work_.size() - 1), after, label(text), where});
}

void Script::wait(ActionId issued) {
    WEFT_CHECK(issued < actions_.size(), "a script waits for something that it has not issued");
    add({Action::Kind::wait, issued, Action::none, 0, {}});
    waited_ = true;
}

void Script::finish(std::vector<ActionId>& issued) {
    for (const ActionId one : issued) wait(one);
    issued.clear();
}

ActionId Script::now() {
    if (waited_) {
        chain_ = add({Action::Kind::join, 0, Action::none, label("join"), {}});
        waited_ = false;
    }
    sealed_ = true;
    return chain_;
}

std::optional<Excerpt> Script::since(const Joint& begin, std::uint32_t layer) const {
    if (begin.chain == Action::none || begin.next == actions_.size()) return std::nullopt;
    Excerpt excerpt{.original = begin.next,
                    .actions = {actions_.begin() + begin.next, actions_.end()},
                    .layer = layer,
                    .waited = waited_,
                    .sealed = sealed_};
    bool closed = true;
    const auto refer = [&](ActionId& id) {
        closed = closed && (id >= begin.next || id == begin.chain);
        id = id == begin.chain ? Excerpt::before : id - begin.next;
    };
    for (Action& action : excerpt.actions) {
        if (action.kind == Action::Kind::wait) refer(action.subject);
        if (action.after != Action::none) refer(action.after);
    }
    if (!closed) return std::nullopt;
    refer(excerpt.chain = chain_);
    const Action& last = excerpt.actions.back();
    if (last.kind == Action::Kind::compute) excerpt.last_work = work_[last.subject];
    return excerpt;
}

// Computations share their entries of work_ with those that they repeat, but for the last, which may yet be extended.
void Script::repeat(const Excerpt& excerpt, Where where) {
    const auto first = static_cast<ActionId>(actions_.size());
    const ActionId chain = chain_;
    const auto absolute = [=](ActionId id) { return id == Excerpt::before ? chain : first + id; };
    WEFT_CHECK(excerpt.actions.size() < Action::none - first, "a script has too many actions");
    repeats_.push_back({.first = first,
                        .original = excerpt.original,
                        .actions = static_cast<std::uint32_t>(excerpt.actions.size()),
                        .micro_batch = where.micro_batch,
                        .layers_on = where.layer - excerpt.layer});
    actions_.insert(actions_.end(), excerpt.actions.begin(), excerpt.actions.end());
    for (Action& action : std::span(actions_).subspan(first)) {
        if (action.kind == Action::Kind::wait) action.subject = absolute(action.subject);
        if (action.after != Action::none) action.after = absolute(action.after);
        if (action.where.micro_batch == Where::whole_step) continue;
        action.where.micro_batch = where.micro_batch;
        action.where.layer += where.layer - excerpt.layer;
    }
    if (actions_.back().kind == Action::Kind::compute) {
        actions_.back().subject = static_cast<std::uint32_t>(work_.size());
        work_.push_back(excerpt.last_work);
    }
    chain_ = absolute(excerpt.chain);
    waited_ = excerpt.waited;
    sealed_ = excerpt.sealed;
}

}  // namespace weft
