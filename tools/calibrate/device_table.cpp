#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include "sim/base/enumerators.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "tools/output/result_texts.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

// Repetitions that differ by this much count half.
constexpr double usual_spread = 0.05;

// By the names of tools/measure/kernels.py; others are of no class.
PassClass pass_named(std::string_view name) {
    const auto is = [&](auto... names) { return ((name == names) || ...); };
    if (is("copy", "add", "cast", "gelu", "silu", "dropout")) return PassClass::element_wise;
    if (is("layer_norm", "rms_norm")) return PassClass::norm;
    if (is("softmax", "log_softmax")) return PassClass::softmax;
    if (is("rows", "add rows")) return PassClass::gathered;
    if (is("transpose")) return PassClass::strided;
    if (is("scale rows")) return PassClass::broadcast;
    if (is("column sums")) return PassClass::reduction;
    return name.starts_with("adam") ? PassClass::optimizer : PassClass::fused;
}

class DeviceTableReader {
  public:
    DeviceTableReader(const std::string& path, std::string_view text)
        : text_(split_lines(path, text)), errors_(path), table_(read(text_, errors_)) {}

    std::vector<DeviceTableRow> rows(const std::vector<HeldCell>& holds) {
        for (const std::string_view column : {"kind", "seconds"}) {
            if (!table_.find(column)) errors_.add(first_line(), fmt::format("no column is called \"{}\"", column));
        }
        for (const HeldCell& hold : holds) {
            if (table_.find(hold.first)) continue;
            errors_.add(first_line(), fmt::format("--hold: no column is called \"{}\"{}", hold.first,
                                                  suggestion(hold.first, table_.columns)));
        }
        errors_.check();
        std::vector<DeviceTableRow> result;
        for (const CsvRow& row : table_.rows) {
            if (errors_.is_full()) break;
            read_row(row, holds, result);
        }
        errors_.check();
        return result;
    }

  private:
    static CsvTable read(const TableText& text, TableErrors& errors) {
        if (text.lines.empty()) errors.fail(0, "no line of column names");
        CsvTable table = read_csv_table(text, errors);
        errors.check();
        return table;
    }

    int first_line() const { return text_.lines.front().number; }

    std::string_view cell(const CsvRow& row, std::string_view column) const {
        const std::optional<std::size_t> at = table_.find(column);
        return at ? std::string_view(row.cells[*at]) : std::string_view();
    }

    void wrong(const CsvRow& row, std::string_view column, std::string_view expected) {
        is_sound_ = false;
        const std::string_view found = cell(row, column);
        errors_.add(row.line, table_.find(column)
                                  ? fmt::format("{}: expected {}, got \"{}\"", column, expected, excerpt(found))
                                  : fmt::format("no column {}: expected {}", column, expected));
    }

    // 1 after an error.
    double positive(const CsvRow& row, std::string_view column) {
        const std::optional<double> value = to_number(cell(row, column));
        if (value && *value > 0.0) return *value;
        wrong(row, column, "a number above 0");
        return 1.0;
    }

    double count(const CsvRow& row, std::string_view column, bool is_optional = false) {
        if (is_optional && cell(row, column).empty()) return 1.0;
        const std::optional<double> value = to_number(cell(row, column));
        if (value && *value >= 1.0 && *value == std::floor(*value) && *value <= 1e15) return *value;
        wrong(row, column, "a whole number of at least 1");
        return 1.0;
    }

    Precision precision(const CsvRow& row) {
        const std::string_view text = cell(row, "precision");
        if (text.empty() || text == "bf16") return Precision::bf16;
        if (text == "fp16") return Precision::fp16;
        if (text == "fp32") return Precision::fp32;
        if (text == "fp8") return Precision::fp8;
        wrong(row, "precision", "fp32, fp16, bf16 or fp8");
        return Precision::bf16;
    }

    Kernel kernel(const CsvRow& row, MeasuredKernel kind, Precision precision) {
        switch (kind) {
            case MeasuredKernel::gemm:
                return measured_gemm(count(row, "m"), count(row, "n"), count(row, "k"), count(row, "count", true),
                                     precision);
            case MeasuredKernel::attention:
            case MeasuredKernel::attention_backward:
                return attention(row, kind, precision);
            case MeasuredKernel::memory:
                return measured_pass({positive(row, "bytes")}, pass_named(cell(row, "name")));
            case MeasuredKernel::launch:
                return measured_pass({positive(row, "bytes")});
            case MeasuredKernel::host:
            case MeasuredKernel::contended:
                break;
        }
        return {};
    }

    Kernel attention(const CsvRow& row, MeasuredKernel kind, Precision precision) {
        Kernel kernel = measured_attention(kind, count(row, "keys"), count(row, "head_size"),
                                           count(row, "heads") * count(row, "batch", true), precision);
        if (cell(row, "name").ends_with("cudnn")) kernel.core = AttentionCore::cudnn;
        return kernel;
    }

    double weight(const CsvRow& row) {
        const std::string_view text = cell(row, "spread");
        if (text.empty()) return 1.0;
        const std::optional<double> spread = to_number(text);
        constexpr double most = 1e6;  // and no weight is lost
        if (!spread || *spread < 0.0 || *spread > most) wrong(row, "spread", "a share from 0 to 1e6");
        return 1.0 / (1.0 + std::pow(spread.value_or(0.0) / usual_spread, 2));
    }

    void read_row(const CsvRow& row, const std::vector<HeldCell>& holds, std::vector<DeviceTableRow>& result) {
        const std::optional<MeasuredKernel> kind = enumerator_called<MeasuredKernel>(cell(row, "kind"));
        if (!kind) {
            const std::string text = excerpt(cell(row, "kind"));
            const std::vector<std::string> kinds = all_enumerator_names<MeasuredKernel>();
            errors_.add(row.line, fmt::format("kind: expected {}, got \"{}\"{}", fmt::join(kinds, ", "), text,
                                              suggestion(text, kinds)));
            return;
        }
        is_sound_ = true;
        DeviceTableRow read{.measured = {.kind = *kind, .precision = precision(row), .kernel = {}, .value = 0},
                            .weight = weight(row),
                            .line = row.line};
        read.measured.kernel = kernel(row, *kind, read.measured.precision);
        read.measured.value = positive(row, "seconds");
        if (*kind == MeasuredKernel::contended) {
            read.measured.value /= positive(row, "alone_seconds");
            const bool is_ratio = std::isfinite(read.measured.value) && read.measured.value > 0.0;
            if (!is_ratio) wrong(row, "alone_seconds", "a time that can be compared with that of seconds");
        }
        read.is_held = std::ranges::any_of(holds, [&](const HeldCell& h) { return cell(row, h.first) == h.second; });
        if (is_sound_) result.push_back(std::move(read));
    }

    TableText text_;
    TableErrors errors_;
    CsvTable table_;
    bool is_sound_ = true;  // the row at hand
};

// Files of devices and machines with other constants.

using Json = nlohmann::ordered_json;

Json value_json(const DeviceConstant& constant, double value) {
    if (constant.unit == ConstantUnit::seconds) return fmt::format("{:.6f} us", value * 1e6);
    return std::stod(fmt::format("{:.6g}", value));
}

// What is written in the place of a constant's value: of a list, one entry's share.
Json& place(Json& object, const DeviceConstant& constant) {
    const int entry = constant.entry();
    return entry < 0 ? object.at("value") : object.at("value").at(static_cast<std::size_t>(entry))["share"];
}

// To the picosecond.
std::string duration_text(double seconds) { return fmt::format("{:.6f} us", seconds * 1e6); }

Json value_json(const FittedConstant& constant) {
    if (constant.name.starts_with("efficiency")) return std::stod(fmt::format("{:.9f}", constant.after));
    if (constant.name.starts_with("rate")) return fmt::format("{:.6f} GB/s", constant.after / 1e9);
    return duration_text(constant.after);
}

Json& row(Json& library, std::size_t cost) {
    return *std::next(library.at("costs").begin(), static_cast<std::ptrdiff_t>(cost));
}

void append_source(Json& object, std::string_view provenance) {
    const std::string before = object.value("source", "");
    object["source"] = fmt::format("{}{}{}", before, before.empty() ? "" : "; ", provenance);
}

}  // namespace

std::vector<DeviceTableRow> read_device_table(const std::string& path, std::string_view text,
                                              const std::vector<HeldCell>& holds) {
    return DeviceTableReader(path, text).rows(holds);
}

std::string provenance(const DeviceFit& fit) {
    std::set<std::string> files;
    for (const DeviceFitRow& row : fit.rows) {
        if (!row.is_held) files.insert(row.where.substr(0, row.where.rfind(':')));
    }
    std::string kinds;
    double error = 0;
    for (const KindErrors& kind : errors_by_kind(fit)) {
        if (kind.is_held) continue;
        if (kind.kind == "all") {
            error = kind.after;
            continue;
        }
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind.rows, kind.kind);
    }
    return fmt::format("least squares in the logarithm of {} rows ({}), rms error {:.1f} %", kinds,
                       fmt::join(files, ", "), 100.0 * error);
}

std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance) {
    const NamedDocument file = open_shipped(embedded::devices(), "device", name);
    Json device = Json::parse(file.document.text(), nullptr, true, true);
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        const DeviceConstant& constant = fit.constants[i];
        if (fit.fit.values[i] == fit.before[i]) continue;
        Json& object = device["fitted"][constant.key()];
        if (object.is_null()) object = Json{{"value", 0}, {"source", "memory_efficiency"}};
        const std::string deviation = deviation_text(fit, i);
        object["source"] = fmt::format("{}{}{}; before: {}, {}", provenance, deviation.empty() ? "" : ", +- ",
                                       deviation, constant_text(constant, fit.before[i]), object.value("source", ""));
        place(object, constant) = value_json(constant, fit.fit.values[i]);
    }
    std::string text = device.dump(4) + "\n";
    Document written = Document::parse(file.name, text);
    read_device(written.root(), file.name);  // what is written can be read
    written.check();
    return text;
}

std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance) {
    Document document = open_machine(name);
    extend(document.root(), open_machine);
    document.check();
    Json machine = Json::parse(document.text());
    for (Json& library : machine.at("libraries")) {
        if (library.at("name") != calibration.library.name) continue;
        std::set<std::size_t> changed;
        for (const FittedConstant& constant : calibration.constants) {
            if (constant.after == constant.before) continue;
            if (constant.cost == calibration.library.costs.size()) {
                library.at("launch")["value"] = duration_text(constant.after);
                append_source(library.at("launch"), provenance);
                continue;
            }
            row(library, constant.cost)[std::string(constant.name)] = value_json(constant);
            changed.insert(constant.cost);
        }
        for (const std::size_t cost : changed) append_source(row(library, cost), provenance);
    }
    std::string text = machine.dump(4) + "\n";
    Machine::read(Document::parse(std::string(name), text));  // what is written can be read
    return text;
}

}  // namespace weft
