// What rank classes do: operations and what they wait for, class by class, and before the ops of a class its routines.
// Classes that do the same, each in exchanges of its own, share one *course*, which is kept once, in numbers of its
// own: what is not the same for all of them is which exchanges those are, and when things happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"

namespace weft {

inline constexpr OpId no_op{std::numeric_limits<std::uint32_t>::max()};

enum class OpKind : std::uint8_t {
    compute,   // busy for `Program::work[subject]`
    exchange,  // takes part in exchange `subject`; lasts until the exchange is over
    join,      // takes no time; a point that others wait for
    routine,   // runs the ops of routine `subject` once, from first to last
    leave,     // takes no time; the last op of a routine
};

struct Op {
    OpKind kind = OpKind::join;
    LaneId lane{};              // ops of one lane of one class run in the order they were added
    LabelId label{};            // what it is, for people
    std::uint32_t subject = 0;  // work index, ExchangeId or RoutineId
    std::uint32_t index = 0;    // which repetition, for people
    std::uint32_t part = 0;     // which part of the whole (layer), for people; of a routine, added to those of its ops
};

// Which rank class an op belongs to, and where it is kept. Of every so many ops the class of the first is known, and
// the right one is there or a little further on: that much stays in a cache, which a table of all ops does not.
class OpPlaces {
  public:
    // The next class: so many ops, which are kept from `first_kept` on.
    void add_class(std::uint32_t ops, std::uint32_t first_kept) {
        const auto begin = static_cast<std::uint32_t>(size());
        WEFT_CHECK(ops <= std::numeric_limits<std::uint32_t>::max() - begin, "more ops than numbers");
        const RankClassId id = classes_.push_back({begin + ops, first_kept - begin});
        while (near_.size() * stride < begin + ops) near_.push_back(id);
    }

    std::size_t size() const { return classes_.empty() ? 0 : (classes_.end() - 1)->end; }
    RankClassId class_of(OpId op) const {
        RankClassId id = near_[index(op) / stride];
        while (classes_[id].end <= index(op)) id = next(id);
        return id;
    }
    std::uint32_t kept(OpId op) const { return kept(op, class_of(op)); }
    std::uint32_t kept(OpId op, RankClassId rank_class) const {
        return static_cast<std::uint32_t>(op) + classes_[rank_class].shift;
    }
    OpId op(std::uint32_t kept, RankClassId rank_class) const { return OpId{kept - classes_[rank_class].shift}; }

  private:
    static constexpr std::size_t stride = 64;
    struct Place {
        std::uint32_t end = 0;    // the op past the last one of the class
        std::uint32_t shift = 0;  // from there to where it is kept, modulo 2^32
    };

    Table<RankClassId, Place> classes_;
    std::vector<RankClassId> near_;  // classes of ops 0, `stride`, ...
};

// Ops of a class, by where they are kept.
class OpList {
  public:
    struct Iterator {
        const std::uint32_t* at;
        std::uint32_t shift;
        OpId operator*() const { return OpId{*at - shift}; }
        Iterator& operator++() { return ++at, *this; }
        bool operator==(const Iterator& other) const { return at == other.at; }
    };
    // `shift`: from an op of the class to where it is kept.
    OpList(std::span<const std::uint32_t> kept, std::uint32_t shift) : kept_(kept), shift_(shift) {}
    Iterator begin() const { return {kept_.data(), shift_}; }
    Iterator end() const { return {kept_.data() + kept_.size(), shift_}; }
    bool empty() const { return kept_.empty(); }

  private:
    std::span<const std::uint32_t> kept_;
    std::uint32_t shift_;
};

// Of whoever asks for the same op again and again, its class is known: hence the second form of what is asked here.
struct Operations {
    // Course by course.
    std::vector<Op> kept;                        // of an exchange, `subject` is its number among those of a class
    std::vector<std::uint32_t> predecessors;     // how many ops each waits for (lane order included)
    std::vector<std::uint32_t> successor_start;  // CSR over `kept`, size + 1
    std::vector<std::uint32_t> successors;       // where they are kept
    OpPlaces places;
    std::vector<ExchangeId> exchanges;                 // class by class, in the order of the ops that take part
    Table<RankClassId, std::uint32_t> first_exchange;  // of each class, among them

    std::size_t size() const { return places.size(); }
    bool empty() const { return size() == 0; }
    OpId end_id() const { return OpId{static_cast<std::uint32_t>(size())}; }

    // Of whoever writes them: room for so many that are kept.
    void reserve(std::size_t ops) {
        kept.reserve(ops);
        predecessors.reserve(ops);
    }
    // The next class begins, which has `places` when all of its ops are there.
    void begin_class() { first_exchange.push_back(static_cast<std::uint32_t>(exchanges.size())); }
    // Adds an op, as operator[] returns it, to the course of that class. Successors follow.
    void append(Op op, std::uint32_t waits_for) {
        if (op.kind == OpKind::exchange) {
            exchanges.push_back(ExchangeId(op.subject));
            op.subject = static_cast<std::uint32_t>(exchanges.size() - 1) - *(first_exchange.end() - 1);
        }
        kept.push_back(op);
        predecessors.push_back(waits_for);
    }

    // As the class has it: of an exchange, `subject` is the ExchangeId.
    Op operator[](OpId op) const { return at(op, places.class_of(op)); }
    Op at(OpId op, RankClassId rank_class) const {
        Op what = shared(op, rank_class);
        if (what.kind == OpKind::exchange) what.subject = static_cast<std::uint32_t>(exchange(what, rank_class));
        return what;
    }
    // As it is kept for all classes that share it; of an exchange, which one that is of a class.
    const Op& shared(OpId op, RankClassId rank_class) const { return kept[places.kept(op, rank_class)]; }
    Op& shared(OpId op) { return kept[places.kept(op)]; }
    ExchangeId exchange(const Op& shared, RankClassId rank_class) const {
        return exchanges[first_exchange[rank_class] + shared.subject];
    }
    // In ascending order: of what is kept there, and of a class.
    std::span<const std::uint32_t> kept_successors(std::uint32_t op) const {
        return std::span(successors).subspan(successor_start[op], successor_start[op + 1] - successor_start[op]);
    }
    OpList successors_of(OpId op, RankClassId rank_class) const {
        return {kept_successors(places.kept(op, rank_class)), places.kept(OpId{0}, rank_class)};
    }
    OpList successors_of(OpId op) const { return successors_of(op, places.class_of(op)); }
};

}  // namespace weft
