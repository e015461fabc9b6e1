// Dense ids and the tables they index. An id is an enum class, so a LinkId cannot index the table of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"

namespace weft {

enum class NodeId : std::uint32_t {};  // a vertex of the topology graph: accelerator, NIC or switch
enum class LinkId : std::uint32_t {};
enum class LinkClassId : std::uint8_t {};
enum class RankId : std::uint32_t {};  // an accelerator of the machine, counted from 0 node by node
enum class FlowId : std::uint32_t {};
enum class PatternId : std::uint32_t {};
enum class CommunicationId : std::uint32_t {};
enum class ExchangeId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class RoutineId : std::uint32_t {};
enum class RankClassId : std::uint32_t {};
enum class LaneId : std::uint8_t {};
enum class LabelId : std::uint16_t {};

template <class Id>
constexpr std::size_t index(Id id) {
    return static_cast<std::size_t>(id);
}

template <class Id>
constexpr Id next(Id id) {
    return Id(static_cast<std::underlying_type_t<Id>>(id) + 1);
}

template <class Id, class T>
class Table {
  public:
    Table() = default;
    explicit Table(std::size_t size, const T& value = T()) : rows_(size, value) {}

    T& operator[](Id id) { return rows_[index(id)]; }
    const T& operator[](Id id) const { return rows_[index(id)]; }
    Id push_back(T row) {
        WEFT_CHECK(rows_.size() <= std::numeric_limits<std::underlying_type_t<Id>>::max(), "more rows than ids");
        rows_.push_back(std::move(row));
        return Id(static_cast<std::underlying_type_t<Id>>(rows_.size() - 1));
    }
    // Appends `rows`, `times` over.
    void repeat(std::span<const T> rows, std::uint32_t times) {
        WEFT_CHECK(
            std::uint64_t{times} * rows.size() + rows_.size() <= std::numeric_limits<std::underlying_type_t<Id>>::max(),
            "more rows than ids");
        for (std::uint32_t i = 0; i < times; ++i) rows_.insert(rows_.end(), rows.begin(), rows.end());
    }
    std::size_t size() const { return rows_.size(); }
    bool empty() const { return rows_.empty(); }
    void reserve(std::size_t size) { rows_.reserve(size); }
    void resize(std::size_t size) { rows_.resize(size); }
    Id end_id() const { return Id(static_cast<std::underlying_type_t<Id>>(rows_.size())); }

    auto begin() { return rows_.begin(); }
    auto end() { return rows_.end(); }
    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }
    const std::vector<T>& rows() const { return rows_; }

  private:
    std::vector<T> rows_;
};

}  // namespace weft
