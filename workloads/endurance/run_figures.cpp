#include "workloads/endurance/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/io/units.hpp"

namespace weft {
namespace {

// Machines whose figures, with sources in their files, stand in for those that others lack.
constexpr std::string_view counted = "meta-roce-h100";  // failures by cause, repair, storage: Llama 3 405B
constexpr std::string_view timed = "megascale";         // detection and launch

// What no machine's file has, since it is of runs. Other published runs are predicted from it: validation set `runs`.

// Llama 3 405B (arXiv 2407.21783, section 3.3.4): 47 planned interruptions beside 419 unexpected ones. Published runs
// differ by a factor of ten in planned stops a day as well as by GPU-hour, by three for each failure.
constexpr double planned_for_failures = 47.0 / 419.0;
// ByteRobust (arXiv 2509.16293, table 7): a whole job is requeued for a change of code in 454 s (2,048 GPUs) to 768 s
// (16,384), of which the launch is counted apart.
constexpr Seconds usual_stop{300.0};
// BLOOM (bigscience-workshop/bigscience, train/tr11-176B-ml/README.md): 4 nodes in reserve for 48. OPT-175B
// (facebookresearch/metaseq, projects/OPT/chronicles) had 4, then 12 to 18 for 124.
constexpr double nodes_for_spare = 12;

// Mean time between failures of `count` of them together.
Seconds together(const std::optional<Seconds>& one, double count) { return one ? *one / count : endless; }

std::string time_text(Seconds time) {
    return time < Seconds{3600}    ? fmt::format("{:.3g} min", time.value / 60)
           : time < Seconds{86400} ? fmt::format("{:.3g} h", time.value / 3600)
                                   : fmt::format("{:.3g} d", time.value / 86400);
}

class Reader {
  public:
    Reader(const Plan& plan, const RunTerms& terms)
        : plan_(plan),
          terms_(terms),
          own_(plan.machine.operation.failures.value_or(FailureFigures{})),
          counted_(Machine::load(counted)) {}

    RunFigures read() {
        const FailureFigures &other = *counted_.info().operation.failures,
                             times = *Machine::load(timed).info().operation.failures;
        failures(other);
        figures_.run.detection = pause("detection", terms_.detection, own_.detection, *times.detection, timed);
        figures_.run.stop =
            take("stop", terms_.stop, std::optional<Seconds>(), usual_stop,
                 "a planned stop takes 5 min before its launch: requeuing a job takes 454 to 768 s, launch "
                 "included (ByteRobust, arXiv 2509.16293)");
        figures_.run.launch = pause("launch", terms_.launch, own_.launch, *times.launch, timed);
        figures_.run.repair = pause("repair", terms_.repair, own_.repair, *other.repair, counted);
        spares();
        storage();
        host();
        return std::move(figures_);
    }

  private:
    using Origin = RunFigures::Origin;

    template <class Value>
    Value take(std::string_view name, const std::optional<Value>& asked, const std::optional<Value>& own, Value usual,
               std::string assumption) {
        figures_.origins.emplace_back(name, asked ? Origin::asked : own ? Origin::machine : Origin::assumed);
        if (!asked && !own) figures_.assumptions.push_back(std::move(assumption));
        return asked ? *asked : own.value_or(usual);
    }

    Seconds pause(std::string_view name, const std::optional<Seconds>& asked, const std::optional<Seconds>& own,
                  Seconds usual, std::string_view machine) {
        return take(
            name, asked, own, usual,
            fmt::format("{} as on {}, {}: {} says nothing", name, machine, time_text(usual), plan_.machine.name));
    }

    Seconds hardware(const FailureFigures& of) const {
        const double nodes = plan_.job.nodes;
        return either(either(together(of.accelerator, plan_.job.layout.ranks()), together(of.node, nodes)),
                      together(of.nic, nodes * plan_.machine.nics_per_node));
    }

    void failures(const FailureFigures& other) {
        const double ranks = plan_.job.layout.ranks();
        const auto known = [](Seconds time) { return time == endless ? std::nullopt : std::optional(time); };
        figures_.run.hardware =
            take("hardware", terms_.hardware, known(hardware(own_)), hardware(other),
                 fmt::format("hardware fails every {}: by accelerator, node and NIC as on {} (Llama 3 "
                             "405B, arXiv 2407.21783): {} says nothing",
                             time_text(hardware(other)), counted, plan_.machine.name));
        const Seconds usual = together(other.process, ranks);
        figures_.run.software =
            take("software", terms_.software, known(together(own_.process, ranks)), usual,
                 fmt::format("software fails every {}: once in {:.0f} h of an accelerator as on {} "
                             "(Llama 3 405B, 56 times in 54 days of 16,384): {} says nothing",
                             time_text(usual), other.process->value / 3600, counted, plan_.machine.name));
        const Seconds stops = either(figures_.run.hardware, figures_.run.software) / planned_for_failures;
        figures_.run.planned =
            take("planned", terms_.planned, own_.planned, stops,
                 fmt::format("planned stops every {}: 47 for 419 failures as in Llama 3 405B's run", time_text(stops)));
    }

    void spares() {
        const std::uint32_t rest = plan_.machine.most_nodes - plan_.job.nodes;
        if (terms_.spares && *terms_.spares > rest) {
            throw RangeError("{} spare nodes: {} has {} nodes, of which {} are the job's, so up to {}", *terms_.spares,
                             plan_.machine.name, plan_.machine.most_nodes, plan_.job.nodes, rest);
        }
        const auto share = static_cast<std::uint32_t>(std::ceil(plan_.job.nodes / nodes_for_spare));
        const std::uint32_t usual = std::min(share, rest);
        figures_.run.spares =
            take("spares", terms_.spares, std::optional<std::uint32_t>(), usual,
                 fmt::format("{} spare nodes: {}", usual,
                             usual < share ? fmt::format("{} has no more", plan_.machine.name)
                                           : "one for twelve of the job's, as in BLOOM's run (4 for 48)"));
    }

    // A share of the other machine's by accelerators, where the own is not known. Others use it as well.
    void storage() {
        const MachineInfo &own = plan_.machine, &other = counted_.info();
        const auto accelerators = [](const MachineInfo& machine) {
            return static_cast<double>(machine.nodes) * machine.accelerators_per_node;
        };
        const double size = accelerators(own) / accelerators(other);
        const StorageFigures& there = *other.operation.storage;
        const StorageFigures usual{there.write * size, there.read * size};
        const StorageFigures all =
            take("storage", std::optional<StorageFigures>(), own.operation.storage, usual,
                 fmt::format("a file system of {}, as {} has for each accelerator: {} says nothing",
                             to_text(usual.write), counted, own.name));
        const double part = static_cast<double>(plan_.job.nodes) / own.nodes;
        const double share = take("storage_share", terms_.storage_share, std::optional<double>(), part,
                                  fmt::format("{:.3g} % of the file system's bandwidth, as of the nodes: others write, "
                                              "too",
                                              100 * part));
        figures_.storage = {all.write * share, all.read * share};
        figures_.storage_share = share;
    }

    void host() {
        const std::optional<HostInfo>& host = plan_.machine.host;
        figures_.host_link = host ? host->link : plan_.machine.nic;
        if (host) return;
        figures_.assumptions.push_back(fmt::format("copies to hosts as fast as a NIC, {}: {} says nothing of its hosts",
                                                   to_text(plan_.machine.nic), plan_.machine.name));
    }

    const Plan& plan_;
    const RunTerms& terms_;
    const FailureFigures own_;
    Machine counted_;
    RunFigures figures_{};
};

}  // namespace

Seconds either(Seconds a, Seconds b) {
    return a == endless ? b : b == endless ? a : Seconds{1 / (1 / a.value + 1 / b.value)};
}

RunFigures run_figures(const Plan& plan, const RunTerms& terms) { return Reader(plan, terms).read(); }

}  // namespace weft
