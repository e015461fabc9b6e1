#include "workloads/step/step_builder.hpp"

#include <set>

namespace weft {
namespace {

constexpr std::size_t fewest_entries = 3;

class Cutter {
  public:
    Cutter(const Script& script, const Repeat& repeat, const std::function<bool(const Action&)>& may_be_in_one)
        : excerpt_(std::span(script.actions()).subspan(repeat.first, repeat.actions)),
          first_(repeat.first),
          may_be_in_one_(may_be_in_one),
          last_reference_(excerpt_.size(), 0) {
        for (std::uint32_t i = 0; i < size(); ++i) {
            const Action& action = excerpt_[i];
            refer(action.after, i);
            if (action.kind == Action::Kind::wait) refer(action.subject, i);
        }
    }

    std::vector<ExcerptPart> parts() {
        std::vector<ExcerptPart> parts;
        for (std::uint32_t begin = 0; begin < size();) {
            ExcerptPart part = routine_from(begin);
            if (part.entries.size() < fewest_entries) part = {begin, begin + 1, {}};
            begin = part.end;
            if (part.entries.empty() && !parts.empty() && parts.back().entries.empty()) {
                parts.back().end = part.end;
            } else {
                parts.push_back(std::move(part));
            }
        }
        return parts;
    }

  private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(excerpt_.size()); }

    void refer(ActionId id, std::uint32_t from) {
        if (id != Action::none && id >= first_) last_reference_[id - first_] = from;
    }

    bool is_work(std::uint32_t i) const {
        return i < size() && excerpt_[i].kind == Action::Kind::compute &&
               excerpt_[i].where.micro_batch != Where::whole_step;
    }
    bool is_call(std::uint32_t i, Action::Kind kind) const {
        return excerpt_[i].kind == kind && excerpt_[i].where.micro_batch != Where::whole_step &&
               may_be_in_one_(excerpt_[i]);
    }
    bool waits(std::uint32_t i, std::uint32_t issued) const {
        return i < size() && excerpt_[i].kind == Action::Kind::wait && excerpt_[i].subject == first_ + issued;
    }

    // The longest one.
    ExcerptPart routine_from(std::uint32_t begin) {
        entries_.clear();
        waited_ = false;
        std::uint32_t at = begin, needed = 0;
        ExcerptPart longest{begin, begin, {}};
        while (at < size()) {
            const std::uint32_t chain = chain_, next = add_link(at);
            if (next == at) break;
            // All that refers to others than the chain's end.
            if (at > begin && chain_ != chain) needed = std::max(needed, last_reference_[chain]);
            for (std::uint32_t i = at; i < next; ++i) {
                if (i != chain_) needed = std::max(needed, last_reference_[i]);
            }
            at = next;
            if (chain_ + 1 == at && needed < at) longest = {begin, at, entries_};
        }
        return longest;
    }

    // Adds the entry that begins at `at`, if one can; returns what is past it.
    std::uint32_t add_link(std::uint32_t at) {
        const Action& action = excerpt_[at];
        if (is_work(at) || is_call(at, Action::Kind::call) || (action.kind == Action::Kind::join && waited_)) {
            entries_.push_back({at, {}});
            chain_ = at;
            waited_ = false;
            return at + 1;
        }
        if (entries_.empty() || waited_ || !is_call(at, Action::Kind::issue) || action.after != first_ + chain_)
            return at;
        if (waits(at + 1, at)) {
            entries_.push_back({at, {}});
            waited_ = true;
            return at + 2;
        }
        if (!waits(at + 2, at) || !is_work(at + 1)) return at;
        entries_.push_back({at, at + 1});
        chain_ = at + 1;
        waited_ = true;
        return at + 3;
    }

    std::span<const Action> excerpt_;
    ActionId first_;
    const std::function<bool(const Action&)>& may_be_in_one_;
    std::vector<std::uint32_t> last_reference_;  // the last action that starts after each or waits for it
    // Of the routine that is being looked for.
    std::vector<RoutineEntry> entries_;
    std::uint32_t chain_ = 0;  // the end of the chain
    bool waited_ = false;      // for something beside it since
};

}  // namespace

std::vector<Repeat> repeated_excerpts(const Script& script) {
    std::vector<Repeat> all = script.repeats();
    std::set<std::pair<ActionId, std::uint32_t>> originals;
    for (const Repeat& repeat : script.repeats()) {
        if (!originals.emplace(repeat.original, repeat.actions).second) continue;
        const auto actions = std::span(script.actions()).subspan(repeat.original, repeat.actions);
        const auto own = std::ranges::find_if(
            actions, [](const Action& action) { return action.where.micro_batch != Where::whole_step; });
        if (own == actions.end()) continue;
        all.push_back({repeat.original, repeat.original, repeat.actions, own->where.micro_batch, 0});
    }
    std::ranges::sort(all, {}, [](const Repeat& repeat) { return std::pair(repeat.first, ~repeat.actions); });
    ActionId past = 0;
    std::erase_if(all, [&past](const Repeat& repeat) {
        if (repeat.first < past) return true;
        past = repeat.first + repeat.actions;
        return false;
    });
    const auto excerpt = [](const Repeat& repeat) { return std::pair(repeat.original, repeat.actions); };
    std::map<std::pair<ActionId, std::uint32_t>, std::uint32_t> times;
    for (const Repeat& repeat : all) ++times[excerpt(repeat)];
    std::erase_if(all, [&](const Repeat& repeat) { return times[excerpt(repeat)] < 2; });
    return all;
}

bool may_be_in_routine(const Script& script, const Action& call) {
    const RankGroups groups = script.calls()[call.subject].group;
    return groups.keeps_to_stage() && !script.issues_early(groups);
}

std::vector<ExcerptPart> cut(const Script& script, const Repeat& repeat,
                             const std::function<bool(const Action& call)>& may_be_in_one) {
    return Cutter(script, repeat, may_be_in_one).parts();
}

}  // namespace weft
