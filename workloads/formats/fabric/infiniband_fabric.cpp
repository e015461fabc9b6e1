#include "workloads/formats/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

constexpr std::size_t most_mistakes = 20;  // of a file of another kind
constexpr std::uint32_t most_ports = 1U << 18;

// Gbit/s of data that a lane carries in one direction, after its coding.
struct LaneSpeed {
    std::string_view name;
    double gbit;
};
constexpr std::array lane_speeds{LaneSpeed{"SDR", 2},    LaneSpeed{"DDR", 4},     LaneSpeed{"QDR", 8},
                                 LaneSpeed{"FDR10", 10}, LaneSpeed{"FDR", 13.64}, LaneSpeed{"EDR", 25},
                                 LaneSpeed{"HDR", 50},   LaneSpeed{"NDR", 100},   LaneSpeed{"XDR", 200}};

DeviceKind device_kind(std::string_view letter, std::string_view description) {
    if (letter == "S" || letter == "SW") return DeviceKind::switch_;
    if (letter == "R" || letter == "RT") return DeviceKind::router;
    // Of SHARP, in a switch: it ends no traffic of hosts.
    return description.find("Aggregation Node") == description.npos ? DeviceKind::adapter : DeviceKind::aggregation;
}

class IbnetdiscoverReader {
  public:
    explicit IbnetdiscoverReader(const SourceFile& file) : file_(file) {}

    IbFabric read() {
        each_line(file_.text, [&](std::string_view line, int number) {
            line_ = number;
            read_line(line);
            return mistakes_.size() < most_mistakes;
        });
        if (!mistakes_.empty()) throw ConfigError(std::move(mistakes_));
        return std::move(found_);
    }

  private:
    void mistake(std::string message) {
        mistakes_.push_back({.file = file_.path, .line = line_, .key = {}, .message = std::move(message)});
    }

    void read_line(std::string_view line) {
        const std::string_view plain = line.substr(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (plain.empty() || plain.front() == '#') return;
        if (plain.front() == '[') return read_port(plain);
        for (const std::string_view kind : {"Switch", "Ca", "Rt"}) {
            if (plain.starts_with(kind) && plain.find('"') != plain.npos) return read_device(plain.substr(kind.size()));
        }
        for (const std::string_view kind : {"SW ", "CA ", "RT "}) {
            if (plain.starts_with(kind)) return read_listed(plain);
        }
        for (const std::string_view word : {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=",
                                            "chassisguid=", "Chassis", "id:", "=="}) {
            if (plain.starts_with(word)) return;
        }
        if (found_.unknown_lines++ == 0) found_.unknown_line = line_;
    }

    IbDevice& device(const std::string& guid, std::string_view letter, std::string_view text) {
        const std::string description(trimmed(text));
        const auto [place, is_new] = found_.devices.try_emplace(guid);
        IbDevice& one = place->second;
        if (is_new) {
            found_.order.push_back(guid);
            one.line = line_;
        }
        if (one.description.empty()) {
            one.description = description;
            one.kind = device_kind(letter, description);
        }
        return one;
    }

    // Switch	65 "S-2c5eab0300b87b40"		# "MF0;leaf1:MQM9700/U1" enhanced port 0 lid 73 lmc 0
    void read_device(std::string_view rest) {
        TextScanner line(rest);
        const std::optional<std::uint32_t> ports = line.number();
        const std::optional<std::string> id = line.quoted();
        if (!ports || !id || id->size() < 3 || (*id)[1] != '-')
            return mistake("expected a number of ports and \"S-GUID\"");
        here_ = id->substr(2);
        IbDevice& one = device(here_, id->substr(0, 1), line.quoted().value_or(""));
        if (one.has_part)
            return mistake(fmt::format("the device with GUID {} has a part already, in line {}", here_, one.line));
        one.has_part = true;
        one.line = line_;
    }

    // [35]	"S-2c5eab0300c26280"[32]		# "MF0;spine2:MQM9700/U1" lid 236 4xNDR
    // [1](e09d730300af1228) 	"S-2c5eab0300b87b40"[15]		# lid 654 lmc 0 "MF0;leaf1:MQM9700/U1" lid 73
    // 4xNDR
    void read_port(std::string_view text) {
        TextScanner line(text);
        const bool begun = line.take("[");
        const std::optional<std::uint32_t> port = line.number();
        const bool closed = line.take("]");
        if (line.take("(")) line.until(')');
        line.skip_blanks();
        if (!begun || !closed || !port) return mistake("expected a port, such as [1]");
        if (here_.empty()) return mistake("a port before any Switch, Ca or Rt");
        if (line.rest().empty() || line.rest().front() == '#') return;  // nothing is plugged in
        const std::optional<std::string> id = line.quoted();
        if (!id || id->size() < 3 || (*id)[1] != '-' || !line.take("["))
            return mistake("expected what the port is cabled to, such as \"S-GUID\"[1]");
        const std::optional<std::uint32_t> peer = line.number();
        const std::optional<std::string> description = line.quoted();
        if (!peer || !description)
            return mistake("expected the port at the other end, and a comment with the name of its device");
        device(id->substr(2), id->substr(0, 1), *description);
        std::string speed, word;
        while (!(word = line.word()).empty()) {
            if (word[0] >= '1' && word[0] <= '9' && word.find('x') != word.npos) speed = word;
        }
        add_cable({here_, *port}, {id->substr(2), *peer}, speed);
    }

    // SW  1719 10 0x7cfe9003009ce5b0 4x EDR - CA   134  1 0x7cfe9003003b4bde ( 'leaf1' - 'node1 HCA-1' )
    // SW  1781 80 0x08c0eb0300add20e 4x SDR                                    'leaf7'
    void read_listed(std::string_view text) {
        TextScanner line(text);
        const std::string kind = line.word();
        const std::optional<std::uint32_t> lid = line.number(), port = line.number();
        const std::string guid = line.word(), width = line.word(), speed = line.word();
        if (!lid || !port || !guid.starts_with("0x") || !width.ends_with("x"))
            return mistake("expected kind, lid, port, GUID, width and speed");
        if (!line.take("- ")) {  // nothing is plugged in
            line.until('\'');
            device(guid.substr(2), kind, line.until('\'').value_or("")).has_part = true;
            return;
        }
        const std::string peer_kind = line.word();
        const std::optional<std::uint32_t> peer_lid = line.number(), peer_port = line.number();
        const std::string peer = line.word();
        const bool names = line.take("(") && line.take("'");
        const std::string_view both = line.rest();
        const std::size_t between = both.find("' - '"), end = both.rfind('\'');
        if (!peer_lid || !peer_port || !peer.starts_with("0x") || !names || between == both.npos || end < between + 5)
            return mistake("expected the other end, and the names of both in brackets");
        device(guid.substr(2), kind, both.substr(0, between)).has_part = true;
        device(peer.substr(2), peer_kind, both.substr(between + 5, end - between - 5));
        add_cable({guid.substr(2), *port}, {peer.substr(2), *peer_port}, speed.starts_with("?") ? "" : width + speed);
    }

    void add_cable(IbPort here, IbPort there, const std::string& speed) {
        for (const auto& [port, peer] : {std::pair(here, there), std::pair(there, here)}) {
            const auto [known, is_new] = found_.plugged.try_emplace(port, peer, line_);
            if (is_new || known->second.first == peer) continue;
            return mistake(fmt::format("port {} of {} is cabled to something else in line {}", port.number, port.guid,
                                       known->second.second));
        }
        if (there < here) std::swap(here, there);
        std::string& known = found_.cables[{std::move(here), std::move(there)}];
        if (known.empty()) known = speed;
        if (found_.cables.size() > most_ports) mistake(fmt::format("more than {} cables", most_ports));
    }

    const SourceFile& file_;
    IbFabric found_;
    std::vector<Diagnostic> mistakes_;
    std::string here_;  // GUID of the device whose ports follow
    int line_ = 0;
};

}  // namespace

IbFabric read_ibnetdiscover(const SourceFile& file) { return IbnetdiscoverReader(file).read(); }

double infiniband_gbit(std::string_view speed) {
    const std::size_t x = speed.find('x');
    const std::optional<std::uint32_t> width = parse_as<std::uint32_t>(speed.substr(0, x));
    if (x == speed.npos || width.value_or(17) > 16) return 0;
    const auto known = std::ranges::find(lane_speeds, speed.substr(x + 1), &LaneSpeed::name);
    return known == lane_speeds.end() ? 0 : known->gbit * *width;
}

bool looks_like_ibnetdiscover(const SourceFile& file) {
    bool found = contains(file.text, "\nswitchguid=0x") || contains(file.text, "\ncaguid=0x") ||
                 contains(file.text, "Topology file: generated on");
    each_line(file.text, [&](std::string_view line, int number) {
        TextScanner scanner(line);
        const std::string kind = scanner.word();
        const bool listed = kind == "SW" || kind == "CA" || kind == "RT";
        found = found || (listed && scanner.number() && scanner.number() && scanner.take("0x"));
        found = found || ((kind == "Switch" || kind == "Ca") && scanner.number() && scanner.quoted());
        return !found && number < 100;
    });
    return found;
}

}  // namespace weft
