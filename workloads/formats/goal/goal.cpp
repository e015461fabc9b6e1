// GOAL schedules, as LogGOPSim, its schedgen and ATLAHS write them: all ranks in one text. Source: Hoefler, Siebert and
// Lumsdaine, "Group Operation Assembly Language", ICPP 2009, and the text that LogGOPSim's txt2bin accepts.
//
//   num_ranks 2
//   rank 0 {
//     l1: calc 1000 cpu 1                  // ns, on a core: one thing at a time; 0 if it is not said
//     l2: send 64b to 1 tag 7 cpu 0 nic 1  // over which NIC is the machine's to say
//     l2 requires l1                       // l2 begins when l1 is over
//     l3: recv 64b from 1 tag 8
//     l3 irequires l2                      // l3 begins when l2 has begun
//   }
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "sim/base/texts.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

// Words and the signs { } : ; of a text. Comments (// # /* */) are passed over.
class Words {
  public:
    explicit Words(ByteSource& source) : source_(source) {}

    int line() const { return line_; }  // of the word that comes next
    bool is_over() {
        pass_blanks();
        return source_.peek(1).empty();
    }
    // The next word, which stays: empty at the end. Good until the next is taken.
    std::string_view peek() {
        pass_blanks();
        const std::string_view text = source_.peek(longest_word + 1);
        const std::size_t end = std::min(text.find_first_of(" \t\r\n{}:;"), text.size());
        if (end > longest_word) refuse(fmt::format("a word of more than {} bytes", longest_word));
        return text.substr(0, std::max<std::size_t>(end, 1));  // a sign is a word
    }
    std::string_view take() {
        const std::string_view word = peek();
        source_.skip(word.size());
        return word;
    }
    bool take(std::string_view wanted) {
        if (peek() != wanted) return false;
        take();
        return true;
    }
    [[noreturn]] void refuse(std::string why) const { refuse_file(source_.name(), std::move(why), line_); }

  private:
    static constexpr std::size_t longest_word = 256;

    void drop(std::string_view text) {
        line_ += static_cast<int>(std::ranges::count(text, '\n'));
        source_.skip(text.size());
    }
    void pass_blanks() {
        for (;;) {
            const std::string_view text = source_.peek(longest_word);
            drop(text.substr(0, text.find_first_not_of(" \t\r\n")));
            const std::string_view mark = source_.peek(2);
            if (mark.starts_with('#') || mark == "//") {
                pass_until("\n");
            } else if (mark == "/*") {
                drop(mark);
                pass_until("*/");
            } else if (mark.empty() || std::string_view(" \t\r\n").find(mark.front()) == mark.npos) {
                return;
            }
        }
    }
    void pass_until(std::string_view mark) {
        while (!source_.peek(1).empty() && source_.peek(mark.size()) != mark) drop(source_.peek(1));
        drop(source_.peek(mark.size()));
    }

    ByteSource& source_;
    int line_ = 1;
};

class ScheduleReader {
  public:
    ScheduleReader(ByteSource& source, RecordedReading& reading) : source_(source), reading_(reading), words_(source) {}

    void read() {
        if (!words_.take("num_ranks")) words_.refuse("expected \"num_ranks N\" first");
        ranks_ = number<std::uint32_t>("a number of ranks");
        if (ranks_ == 0 || ranks_ > most_recorded_ranks) {
            words_.refuse(fmt::format("expected 1 to {} ranks, got {}", most_recorded_ranks, ranks_));
        }
        reading_.program.ranks.resize(ranks_);
        while (!words_.is_over()) {
            if (words_.take(";")) continue;
            if (!words_.take("rank")) words_.refuse(fmt::format("expected \"rank N {{\", got \"{}\"", words_.peek()));
            rank();
        }
        for (std::uint32_t i = 0; i < ranks_; ++i) {
            if (reading_.program.ranks[i].file.empty()) mistake(words_.line(), fmt::format("rank {} is missing", i));
        }
    }

  private:
    void mistake(int line, std::string message) {
        reading_.mistakes.add({.file = source_.name(), .line = line, .key = {}, .message = std::move(message)});
    }

    // A number, behind which `unit` may stand.
    template <class Number>
    Number number(std::string_view what, std::string_view unit = {}) {
        std::string_view word = words_.peek();
        const std::string_view written = word;
        if (!unit.empty() && word.ends_with(unit)) word.remove_suffix(unit.size());
        const auto value = parse_as<Number>(word);
        if (!value) words_.refuse(fmt::format("expected {}, got \"{}\"", what, written));
        words_.take();
        return *value;
    }

    void rank() {
        const int line = words_.line();
        const auto number_of_rank = number<std::uint32_t>("the number of a rank");
        if (number_of_rank >= ranks_) {
            words_.refuse(fmt::format("rank {}: num_ranks says that there are {}", number_of_rank, ranks_));
        }
        if (!reading_.program.ranks[number_of_rank].file.empty())
            mistake(line, fmt::format("rank {} is there twice", number_of_rank));
        reading_.program.ranks[number_of_rank].file.clear();
        rank_ = &reading_.begin_rank(number_of_rank, source_);
        rank_->ids_are_lines = true;
        labels_.clear();
        label_ids_.emplace(labels_);
        nodes_.clear();
        dependencies_.clear();
        if (!words_.take("{")) words_.refuse("expected \"{\"");
        while (!words_.take("}")) {
            if (words_.is_over()) words_.refuse(fmt::format("rank {} is cut: \"}}\" is missing", number_of_rank));
            if (!words_.take(";")) statement();
        }
        resolve();
    }

    void statement() {
        const int line = words_.line();
        const std::string word(words_.take());
        if (is_operation(word)) return operation(word, line);
        if (words_.take(":")) {
            const std::uint32_t label = label_of(word);
            if (nodes_[label] != no_node) mistake(line, fmt::format("label {} is there twice", word));
            nodes_[label] = static_cast<std::uint32_t>(rank_->nodes.size());
            const std::string what(words_.take());
            if (!is_operation(what)) words_.refuse(fmt::format("expected calc, send or recv, got \"{}\"", what));
            return operation(what, line);
        }
        const bool on_begin = words_.peek() == "irequires";
        if (!on_begin && words_.peek() != "requires") {
            words_.refuse(
                fmt::format("expected \"{0}: ...\" or \"{0} requires ...\", got \"{1}\"", word, words_.peek()));
        }
        words_.take();
        const std::string on(words_.take());
        const std::uint32_t label = label_of(word);  // before that of `on`: numbers in order of mention
        dependencies_.push_back({label, label_of(on), on_begin});
        lines_.push_back(line);
    }

    static bool is_operation(std::string_view word) { return word == "calc" || word == "send" || word == "recv"; }

    void operation(std::string_view what, int line) {
        RecordedNode node{.id = static_cast<std::uint64_t>(line)};
        node.name = reading_.names(what);
        if (what == "calc") {
            node.kind = RecordedKind::compute;
            node.time = Seconds{static_cast<double>(number<std::uint64_t>("nanoseconds")) / 1e9};
        } else {
            const bool sends = what == "send";
            node.kind = sends ? RecordedKind::send : RecordedKind::receive;
            node.bytes = Bytes{static_cast<double>(number<std::uint64_t>("bytes such as 64b", "b"))};
            if (!words_.take(sends ? "to" : "from"))
                words_.refuse(sends ? "expected \"to RANK\"" : "expected \"from RANK\"");
            node.partner = number<std::uint32_t>("a rank");
        }
        std::uint32_t cpu = 0;
        for (;;) {
            if (words_.take("tag")) {
                node.tag = number<std::uint32_t>("a tag");
            } else if (words_.take("cpu")) {
                cpu = number<std::uint32_t>("a core");
            } else if (words_.take("nic")) {
                number<std::uint32_t>("a NIC");
            } else {
                break;
            }
        }
        if (cpu >= most_cores) words_.refuse(fmt::format("cpu {}: at most {} cores", cpu, most_cores));
        if (node.kind == RecordedKind::compute) node.unit = reading_.unit(*rank_, fmt::format("cpu {}", cpu), false);
        reading_.add(*rank_, node, source_);
    }

    std::uint32_t label_of(std::string_view label) {
        const std::uint32_t number = (*label_ids_)(label);
        if (number == nodes_.size()) nodes_.push_back(no_node);
        return number;
    }

    // Labels may be named before they are set.
    void resolve() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < dependencies_.size(); ++i) {
            const ReadDependency one = dependencies_[i];
            for (const std::uint32_t label : {one.node, one.on}) {
                if (nodes_[label] != no_node) continue;
                mistake(lines_[i],
                        fmt::format("label {} is not set in this rank{}", labels_[label], nearest_label(label)));
            }
            dependencies_[kept++] = {nodes_[one.node], nodes_[one.on], one.on_begin};
            if (nodes_[one.node] == no_node || nodes_[one.on] == no_node) --kept;
        }
        RecordedReading::set_dependencies(*rank_, std::span(dependencies_).first(kept));
        lines_.clear();
    }

    std::string nearest_label(std::uint32_t label) const {
        constexpr std::size_t few = 1000;  // to look through
        std::vector<std::string> set;
        for (std::uint32_t i = 0; i < nodes_.size() && set.size() < few; ++i) {
            if (nodes_[i] != no_node) set.push_back(labels_[i]);
        }
        return suggestion(labels_[label], set);
    }

    static constexpr std::uint32_t most_cores = 1024;

    ByteSource& source_;
    RecordedReading& reading_;
    Words words_;
    std::uint32_t ranks_ = 0;
    RecordedRank* rank_ = nullptr;  // at hand
    std::vector<std::string> labels_;
    std::optional<Interned> label_ids_;
    std::vector<std::uint32_t> nodes_;          // by label
    std::vector<ReadDependency> dependencies_;  // of labels
    std::vector<int> lines_;                    // of these
};

bool is_goal(const SourceFile& file) {
    const std::string_view beginning = std::string_view(file.text).substr(0, 4096);
    return contains(beginning, "num_ranks ") && contains(file.text, "rank 0");
}

}  // namespace

void read_goal(ByteSource& source, RecordedReading& reading) { ScheduleReader(source, reading).read(); }

namespace formats {

extern const Format goal{"goal", "GOAL schedule", is_goal, recorded_facts, "a schedule has all its ranks in one file"};

}  // namespace formats
}  // namespace weft
