#include "sim/io/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/base/check.hpp"
#include "sim/io/values.hpp"

namespace weft {
namespace {

// "config.json:12 hidden_size"; a comment ends with its line, so nothing else may end it.
std::string comment(const Origin& origin) {
    std::string place = std::filesystem::path(origin.file).filename().string();
    if (origin.line > 0) place += fmt::format(":{}", origin.line);
    std::string text = place + (place.empty() || origin.key.empty() ? "" : " ") + origin.key;
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return text;
}

// Lines of text, each with where it was made from.
struct Lines {
    std::vector<std::string> texts;
    std::vector<Origin> origins;

    void add(std::string text, const Origin& origin) {
        texts.push_back(std::move(text));
        origins.push_back(origin);
    }
};

// The texts with their comments in one column, where that is not far to the right.
std::string commented(const Lines& lines) {
    constexpr std::size_t furthest = 56;
    std::size_t column = 0;
    for (const std::string& text : lines.texts) {
        if (text.size() <= furthest) column = std::max(column, text.size());
    }
    std::string all;
    for (std::size_t line = 0; line < lines.texts.size(); ++line) {
        const std::string words = comment(lines.origins[line]);
        all += words.empty() ? lines.texts[line] : fmt::format("{:<{}}  // {}", lines.texts[line], column, words);
        all += '\n';
    }
    return all;
}

}  // namespace

struct DraftWriter {
    static void write(const Draft& draft, std::string_view key, std::string_view after, std::size_t depth, Lines& lines,
                      const Origin& origin) {
        const std::string indent(4 * depth, ' ');
        lines.add(fmt::format("{}{}{{", indent, key), origin);
        for (const Draft::Member& member : draft.members_) {
            const std::string_view comma = &member == &draft.members_.back() ? "" : ",";
            const std::string name = json_string(member.key) + ": ";
            if (!member.members.empty()) {
                write(member.members.front(), name, comma, depth + 1, lines, member.origin);
            } else {
                lines.add(fmt::format("{}    {}{}{}", indent, name, member.json, comma), member.origin);
            }
        }
        lines.add(fmt::format("{}}}{}", indent, after), {});
    }
    static Lines lines(const Draft& draft) {
        Lines all;
        write(draft, "", "", 0, all, {});
        return all;
    }
};

Draft::Member& Draft::member(std::string_view key) {
    const auto found = std::ranges::find(members_, key, &Member::key);
    if (found != members_.end()) return *found;
    return members_.emplace_back(Member{.key = std::string(key), .json = {}, .origin = {}, .members = {}});
}

void Draft::set(std::string_view key, std::string_view text, Origin origin) {
    set_json(key, json_string(text), std::move(origin));
}

void Draft::set(std::string_view key, double number, Origin origin) {
    WEFT_CHECK(std::isfinite(number), "a number to be written is finite");
    set_json(key, fmt::format("{}", number), std::move(origin));
}

void Draft::set_json(std::string_view key, std::string json, Origin origin) {
    Member& to = member(key);
    to.json = std::move(json);
    to.origin = std::move(origin);
    to.members.clear();
}

Draft& Draft::object(std::string_view key) {
    Member& in = member(key);
    if (in.members.empty()) {
        in.members.resize(1);
        if (in.json.starts_with('"')) in.members.front().set_json("extends", in.json, in.origin);
        in.origin = {};
    }
    return in.members.front();
}

Draft& Draft::object(std::string_view key, Origin origin) {
    Draft& made = object(key);
    member(key).origin = std::move(origin);
    return made;
}

bool Draft::has(std::string_view key) const { return std::ranges::find(members_, key, &Member::key) != members_.end(); }

void Draft::erase(std::string_view key) {
    std::erase_if(members_, [&](const Member& member) { return member.key == key; });
}

void Draft::add(const Draft& other) { members_.insert(members_.end(), other.members_.begin(), other.members_.end()); }

std::string Draft::json() const {
    const auto members = list_of<std::string>(members_, [](const Member& member) {
        return json_string(member.key) + ":" + (member.members.empty() ? member.json : member.members.front().json());
    });
    return fmt::format("{{{}}}", fmt::join(members, ","));
}

std::string Draft::text() const { return commented(DraftWriter::lines(*this)); }

Document Draft::document(std::string name) const {
    Lines lines = DraftWriter::lines(*this);
    Document document = Document::parse(std::move(name), commented(lines));
    document.made_from(std::move(lines.origins));
    return document;
}

}  // namespace weft
