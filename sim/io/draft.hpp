// A JSON object made out of other files, each value with the place that it came from.
#pragma once

#include <concepts>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"

namespace weft {

class Draft {
  public:
    // Gives a member its value, anew if there is one of that key.
    void set(std::string_view key, std::string_view text, Origin origin);
    void set(std::string_view key, const char* text, Origin origin) { set(key, std::string_view(text), origin); }
    void set(std::string_view key, std::integral auto value, Origin origin) {
        if constexpr (std::same_as<decltype(value), bool>) {
            set_json(key, value ? "true" : "false", std::move(origin));
        } else {
            set_json(key, std::to_string(value), std::move(origin));
        }
    }
    void set(std::string_view key, double number, Origin origin);
    void set_json(std::string_view key, std::string json, Origin origin);  // any value, as JSON on one line

    // The object under `key`, made where there is none; stays where it is. A text becomes one that extends what it
    // names.
    Draft& object(std::string_view key);
    Draft& object(std::string_view key, Origin origin);
    bool has(std::string_view key) const;
    bool empty() const { return members_.empty(); }
    void erase(std::string_view key);
    void add(const Draft& other);  // its members behind these

    std::string json() const;  // compact
    // A member a line, each followed by a comment with where it came from.
    std::string text() const;
    // The text as a document whose mistakes are told at the places that its values came from; Field::origin() is there,
    // too.
    Document document(std::string name) const;

  private:
    friend struct DraftWriter;
    struct Member {
        std::string key;
        std::string json;            // of a value
        Origin origin;               // of a value, or of an object where that is known
        std::vector<Draft> members;  // one: an object
    };
    Member& member(std::string_view key);

    std::deque<Member> members_;
};

}  // namespace weft
