// Lists that arguments of Megatron-LM write as small expressions.
#include <algorithm>
#include <cctype>
#include <optional>

#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

constexpr std::size_t longest_list = 4096;
constexpr int deepest_list = 16;

class ListParser {
  public:
    explicit ListParser(std::string_view text) : text_(text) {}

    // Lists of Python joined by "+" and repeated by "*" (megatron/training/arguments.py, moe_freq_type).
    std::vector<std::uint32_t> python() {
        std::vector<std::uint32_t> list = sum();
        skip();
        return failed_ || at_ != text_.size() ? std::vector<std::uint32_t>() : list;
    }

  private:
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    bool take(char c) {
        skip();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::size_t number() {
        skip();
        std::size_t value = 0;
        const std::size_t begin = at_;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_)
            value = std::min<std::size_t>(10 * value + static_cast<std::size_t>(text_[at_] - '0'), longest_list + 1);
        failed_ = failed_ || begin == at_;
        return value;
    }
    void repeat(std::vector<std::uint32_t>& list) {
        const std::size_t times = number();
        if (times * list.size() > longest_list) {
            failed_ = true;
            return;
        }
        std::vector<std::uint32_t> all;
        for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), list.begin(), list.end());
        list = std::move(all);
    }

    std::vector<std::uint32_t> sum() {
        if (++depth_ > deepest_list) failed_ = true;
        std::vector<std::uint32_t> all;
        do {
            const std::vector<std::uint32_t> next = product();
            all.insert(all.end(), next.begin(), next.end());
            failed_ = failed_ || all.size() > longest_list;
        } while (!failed_ && take('+'));
        --depth_;
        return all;
    }
    std::vector<std::uint32_t> product() {
        std::vector<std::uint32_t> list = factor();
        while (!failed_ && take('*')) repeat(list);
        return list;
    }
    std::vector<std::uint32_t> factor() {
        std::vector<std::uint32_t> list;
        if (failed_) return list;
        if (take('(')) {
            list = sum();
            failed_ = failed_ || !take(')');
        } else if (take('[')) {
            while (!failed_ && !take(']')) {
                list.push_back(static_cast<std::uint32_t>(number()));
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

std::vector<std::uint32_t> python_list(std::string_view text) { return ListParser(text).python(); }

}  // namespace weft
