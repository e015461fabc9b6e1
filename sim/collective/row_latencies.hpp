// The latencies that add up in one phase in the groups of a row, wherever the row lies.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/collective/library.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowLatencies {
  public:
    // `communicator`: that of the survey. All arguments must outlive this.
    RowLatencies(const Topology& topology, const RowSurvey& survey, const Communicator& communicator)
        : topology_(topology), survey_(survey), communicator_(communicator) {}

    // As that of PhaseTraffic, of a phase with the messages of the survey. Protocols must outlive this.
    Seconds of(const Phase& phase, const ProtocolCost& protocol);

  private:
    using Part = RowSurvey::Part;
    // How long links take messages of each kind, in groups whose messages turn alike. On a mesh further kinds follow,
    // of messages that take links so long.
    struct Turns {
        std::vector<std::vector<std::uint32_t>> rounds;  // by channel, the kinds of messages; as far as these tell
        std::vector<std::vector<Seconds>> of_kinds{};
    };
    void add(const Part& part);
    // On a mesh.
    void add_each(std::uint32_t number);
    static constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> first_messages(const std::vector<std::uint32_t>& kind_of) const;
    std::vector<std::vector<std::uint32_t>> rounds(const Part& part, const std::vector<std::uint32_t>& kind_of) const;
    bool is_across(std::uint32_t kind) const {
        return kind >= survey_.kinds().size() || survey_.kinds().size_of(kind).across;
    }
    template <class MovedBy>
    std::vector<Seconds> on_links(const Part& part, const std::vector<std::uint32_t>& first, MovedBy moved_by) const;
    Seconds longest(const Phase& phase, const ProtocolCost& protocol) const;

    const Topology& topology_;
    const RowSurvey& survey_;
    const Communicator& communicator_;
    std::vector<Turns> turns_;  // none before they are first asked for
    std::map<std::tuple<const ProtocolCost*, std::uint32_t, std::uint32_t>, Seconds> known_;  // by protocol and hops
};

}  // namespace weft
