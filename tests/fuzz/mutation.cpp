#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

namespace weft::test {
namespace {

// Where sizes, counts, shares and clocks end.
const std::vector<std::string> extreme_numbers{
    "0",     "-1",     "1",           "2",          "3",          "7",          "0.5",
    "-0.0",  "1e308",  "-1e308",      "1e-308",     "5e-324",     "1e15",       "9007199254740993",
    "65536", "100000", "4294967295",  "4294967296", "2147483648", "1000000000", "18446744073709551615",
    "1e400", "-1e400", "0x10",        "1_000",      "00",         "1e",         "9223372036854775808",
    "1e9",   "1e-9",   "0.999999999", "1.0000001",  "12",         "64",         "1e18"};
const std::vector<std::string> odd_texts{
    "",       "nan",     "inf",          "-inf",       " ",           "null",        "true",  "0 s",
    "-1 s",   "1e308 s", "0 GB/s",       "1e300 GB/s", "1e-300 GB/s", "5e-324 GB/s", "1 EiB", "0 B",
    "9200 s", "1e-30 s", "1e18 TFLOP/s", "0 TFLOP/s",  "\xC3\xA9",    "\xFF",        "../..", "/dev/null",
    "a.b.c",  "#",       "%s%n",         "frontier"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-'; }

std::string odd_word(Draws& draws) {
    if (draws.one_in(40)) return std::string(std::size_t{1} << (4 + draws.below(14)), 'x');
    return draws.one_in(3) ? draws.of(odd_texts) : draws.of(extreme_numbers);
}

// The members and elements below a value, in its order.
struct Place {
    Json* parent = nullptr;
    std::string key;        // of a member
    std::size_t index = 0;  // of an element
    std::vector<std::string> path;

    Json& value() const { return parent->is_object() ? (*parent)[key] : (*parent)[index]; }
    void drop() const {
        if (parent->is_object()) {
            parent->erase(key);
        } else {
            parent->erase(index);
        }
    }
};

void collect(Json& json, std::vector<std::string>& path, std::vector<Place>& places) {
    if (json.is_object()) {
        for (auto& [key, value] : json.items()) {
            path.push_back(key);
            places.push_back({&json, key, 0, path});
            collect(value, path, places);
            path.pop_back();
        }
    } else if (json.is_array()) {
        for (std::size_t i = 0; i < json.size(); ++i) {
            path.push_back(std::to_string(i));
            places.push_back({&json, {}, i, path});
            collect(json[i], path, places);
            path.pop_back();
        }
    }
}

std::vector<Place> places_of(Json& json) {
    std::vector<Place> places;
    std::vector<std::string> path;
    collect(json, path, places);
    return places;
}

// A number that stands before a unit, and where it ends; nothing for other texts.
std::size_t end_of_quantity(const std::string& text) {
    const std::size_t end = text.find(' ');
    return end != std::string::npos && std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? end : 0;
}

Json number_of(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    return json.is_number() ? json : Json(text);
}

// A text that one of the seeds has anywhere.
Json known_text(const std::vector<Json>& seeds, Draws& draws) {
    Json seed = draws.of(seeds);
    const std::vector<Place> places = places_of(seed);
    for (int left = 20; left > 0 && !places.empty(); --left) {
        if (const Json& found = draws.of(places).value(); found.is_string()) return found;
    }
    return Json("");
}

Json other_value(const Json& value, const std::vector<Json>& seeds, Draws& draws) {
    if (value.is_boolean() && !draws.one_in(4)) return Json(!value.get<bool>());
    if (value.is_number() && !draws.one_in(3)) {
        const double number = value.get<double>();
        const double factor = draws.of(std::vector<double>{2, 3, 0.5, 10, 1000, 0.001, -1});
        if (value.is_number_integer() && std::abs(number * factor) < 1e15) {
            const std::int64_t beside = draws.one_in(4) ? 1 : 0;  // sizes that are divided stay so mostly
            return Json(static_cast<std::int64_t>(number * factor) + beside);
        }
        return Json(number * factor);
    }
    if (value.is_string() && !value.get<std::string>().empty() && !draws.one_in(5)) {
        const std::string text = value.get<std::string>();
        if (const std::size_t end = end_of_quantity(text); end > 0) {
            const std::string number =
                draws.one_in(2)
                    ? text.substr(0, end) + draws.of(std::vector<std::string>{"e3", "e-3", "e9", "e-9", "0"})
                    : draws.of(extreme_numbers);
            return Json(number + text.substr(end));
        }
        if (!draws.one_in(3)) return known_text(seeds, draws);
    }
    switch (draws.below(6)) {
        case 0:
            return Json(odd_word(draws));
        case 1:
            return Json(draws.one_in(2));
        case 2:
            return draws.of(std::vector<Json>{nullptr, Json::array(), Json::object(), Json::array({Json::array()})});
        default:
            return number_of(draws.of(extreme_numbers));
    }
}

Json nested(Json value, Draws& draws) {
    for (std::size_t left = std::size_t{1} << draws.below(9); left > 0; --left) {
        value = draws.one_in(2) ? Json::array({std::move(value)}) : Json{{"a", std::move(value)}};
    }
    return value;
}

void rename(const Place& place, Draws& draws) {
    if (!place.parent->is_object()) return;
    Json moved = place.value();
    place.drop();
    std::string name = place.key + "s";
    if (draws.one_in(2)) name = place.key.substr(0, place.key.size() / 2);
    (*place.parent)[name] = std::move(moved);
}

// What another seed has, at its place as far as there is one.
void graft(Json& json, Json other, Draws& draws) {
    const std::vector<Place> places = places_of(other);
    if (places.empty()) return;
    const Place& from = draws.of(places);
    Json* at = &json;
    for (std::size_t i = 0; i + 1 < from.path.size(); ++i) {
        const std::string& step = from.path[i];
        if (at->is_object()) {
            at = &(*at)[step];
        } else if (at->is_array() && !at->empty()) {
            at = &(*at)[draws.below(at->size())];
        } else {
            break;
        }
        if (at->is_null()) *at = Json::object();
    }
    if (at->is_object()) (*at)[from.path.back()] = from.value();
    if (at->is_array()) at->push_back(from.value());
}

void change(Json& json, const std::vector<Json>& seeds, Draws& draws) {
    const std::vector<Place> places = places_of(json);
    if (places.empty() || draws.one_in(10)) return graft(json, draws.of(seeds), draws);
    const Place& place = draws.of(places);
    switch (draws.below(12)) {
        case 0:
            return place.drop();
        case 1:
            return rename(place, draws);
        case 2: {
            Json copy = draws.of(places).value();  // may hold the place itself
            place.value() = std::move(copy);
            return;
        }
        case 3: {
            if (!place.parent->is_array()) break;
            Json copy = place.value();
            place.parent->push_back(std::move(copy));
            return;
        }
        case 4:
            if (draws.one_in(4)) {
                place.value() = nested(place.value(), draws);
                return;
            }
            break;
        default:
            break;
    }
    place.value() = other_value(place.value(), seeds, draws);
}

struct Piece {
    std::size_t begin = 0, size = 0;
};

std::vector<Piece> pieces(const std::string& text, bool (*belongs)(char)) {
    std::vector<Piece> found;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!belongs(text[i])) continue;
        const std::size_t begin = i;
        while (i < text.size() && belongs(text[i])) ++i;
        found.push_back({begin, i - begin});
    }
    return found;
}

std::string piece_of(const std::string& text, bool (*belongs)(char), Draws& draws) {
    const std::vector<Piece> found = pieces(text, belongs);
    if (found.empty()) return {};
    const Piece piece = draws.of(found);
    return text.substr(piece.begin, piece.size);
}

void change_piece(std::string& text, const std::vector<std::string>& seeds, bool (*belongs)(char), Draws& draws) {
    const std::vector<Piece> found = pieces(text, belongs);
    if (found.empty()) return;
    const Piece piece = draws.of(found);
    const std::string old = text.substr(piece.begin, piece.size);
    std::string replaced;
    switch (draws.below(6)) {
        case 0:
            break;
        case 1:
            replaced = piece_of(text, belongs, draws);
            break;
        case 2:
            replaced = piece_of(draws.of(seeds), belongs, draws);
            break;
        case 3:
            replaced = old + (belongs('\n') || belongs(' ') ? "\n" : " ") + old;
            break;
        default:
            replaced = odd_word(draws);
            break;
    }
    text.replace(piece.begin, piece.size, replaced);
}

}  // namespace

std::string mutated_json(const std::vector<Json>& seeds, std::size_t most, Draws& draws) {
    Json json = draws.of(seeds);
    for (std::size_t left = 1 + draws.below(most); left > 0; --left) change(json, seeds, draws);
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (draws.one_in(50)) {
        const std::size_t brace = text.find('{', draws.below(text.size()));
        const std::size_t end = brace == std::string::npos ? brace : text.find(':', brace);
        if (end != std::string::npos) text.insert(brace + 1, text.substr(brace + 1, end - brace) + "0,");
    }
    return text;
}

std::string mutated_text(const std::vector<std::string>& seeds, std::size_t most, Draws& draws) {
    std::string text = draws.of(seeds);
    const auto of_line = [](char c) { return c != '\n'; };
    for (std::size_t left = 1 + draws.below(most); left > 0; --left) {
        change_piece(text, seeds, draws.one_in(3) ? +of_line : is_word, draws);
    }
    return text;
}

std::string mutated_bytes(std::string text, std::size_t most, Draws& draws) {
    static const std::string characters = "{}[]()<>\"'\\/:;,.=#-+$*&|!%@~ \t\n\r0159eEaxZ_";
    for (std::size_t left = 1 + draws.below(most); left > 0; --left) {
        const std::size_t at = draws.below(text.size() + 1);
        const char c = draws.one_in(3) ? static_cast<char>(draws.below(256)) : draws.of(characters);
        switch (draws.below(20)) {
            case 0:
                text.resize(at);
                break;
            case 1: {
                const std::string piece = text.substr(at, 1 + draws.below(4));
                std::string many;
                for (std::size_t i = std::size_t{1} << draws.below(14); i > 0; --i) many += piece;
                text.insert(at, many);
                break;
            }
            case 2:
            case 3:
            case 4:
            case 5:
                text.erase(at, 1 + draws.below(9));
                break;
            case 6:
            case 7:
            case 8:
            case 9:
            case 10:
                text.insert(at, 1, c);
                break;
            default:
                if (at < text.size()) text[at] = c;
                break;
        }
    }
    return text;
}

}  // namespace weft::test
