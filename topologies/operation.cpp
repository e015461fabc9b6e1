#include "topologies/machine.hpp"

namespace weft {
namespace {

std::optional<Seconds> time(Field& failures, std::string_view key) {
    if (!failures.has(key)) return std::nullopt;
    return sourced_duration(failures, key);
}

std::optional<Seconds> between_failures(Field& failures, std::string_view key) {
    const std::optional<Seconds> mean = time(failures, key);
    if (mean == Seconds{}) failures.error(key, "expected more than 0: a mean time between failures");
    return mean;
}

FailureFigures read_failures(Field field) {
    const FailureFigures figures{.accelerator = between_failures(field, "accelerator"),
                                 .node = between_failures(field, "node"),
                                 .nic = between_failures(field, "nic"),
                                 .process = between_failures(field, "process"),
                                 .planned = between_failures(field, "planned"),
                                 .detection = time(field, "detection"),
                                 .launch = time(field, "launch"),
                                 .repair = time(field, "repair")};
    field.text("source", "");
    field.done();
    return figures;
}

StorageFigures read_storage(Field field) {
    const auto rate = [](Field& figure) { return figure.bandwidth("value"); };
    const StorageFigures figures{.write = sourced(field, "write", rate), .read = sourced(field, "read", rate)};
    field.text("source", "");
    field.done();
    return figures;
}

NodePower read_power(Field field) {
    NodePower power{.node = sourced(field, "node", [](Field& figure) { return figure.power("value"); })};
    if (field.has("overhead")) {
        power.overhead = sourced(field, "overhead", [](Field& figure) { return figure.number("value"); });
        if (power.overhead < 1.0) field.error("overhead", "expected a factor of 1 or more, got {}", power.overhead);
    }
    field.text("source", "");
    field.done();
    return power;
}

}  // namespace

Operation read_operation(Field& machine) {
    Operation operation;
    if (machine.has("failures")) operation.failures = read_failures(machine.object("failures"));
    if (machine.has("storage")) operation.storage = read_storage(machine.object("storage"));
    if (machine.has("power")) operation.power = read_power(machine.object("power"));
    return operation;
}

}  // namespace weft
