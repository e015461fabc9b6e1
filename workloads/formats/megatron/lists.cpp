// Lists that arguments of Megatron-LM write as small expressions.
#include <algorithm>
#include <charconv>

#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

constexpr std::size_t longest_list = 4096;
constexpr int deepest_list = 16;

using List = std::vector<std::uint32_t>;

// Lists of Python joined by "+" and repeated by "*" (megatron/training/arguments.py, moe_freq_type).
class ListParser {
  public:
    explicit ListParser(std::string_view text) : text_(text) {}

    List list() {
        List list = sum();
        return failed_ || !take('\0') ? List() : list;
    }

  private:
    // The next character, behind blanks; '\0' is the end.
    bool take(char c) {
        at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
        if (at_ == text_.size() ? c != '\0' : text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::uint32_t number() {
        at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        failed_ = failed_ || error != std::errc();
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    List sum() {
        failed_ = failed_ || ++depth_ > deepest_list;
        List all;
        do {
            const List next = product();
            all.insert(all.end(), next.begin(), next.end());
            failed_ = failed_ || all.size() > longest_list;
        } while (!failed_ && take('+'));
        --depth_;
        return all;
    }
    List product() {
        List once = factor();
        while (!failed_ && take('*')) {
            const std::size_t times = number();
            failed_ = failed_ || times * once.size() > longest_list;
            List all;
            for (std::size_t i = 0; i < times && !failed_; ++i) all.insert(all.end(), once.begin(), once.end());
            once = std::move(all);
        }
        return once;
    }
    List factor() {
        List list;
        if (!failed_ && take('(')) {
            list = sum();
            failed_ = failed_ || !take(')');
        } else if (!failed_ && take('[')) {
            while (!failed_ && !take(']')) {
                list.push_back(number());
                take(',');
                failed_ = failed_ || list.size() > longest_list;
            }
        } else {
            failed_ = true;
        }
        return list;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false;
};

}  // namespace

std::vector<std::uint32_t> python_list(std::string_view text) { return ListParser(text).list(); }

}  // namespace weft
