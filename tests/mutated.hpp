// Texts for readers that must read or refuse whatever they are given.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <string>

namespace weft::test {

// `text` with 1 to `most` single characters replaced or inserted, or a few removed, anywhere.
inline std::string mutated(std::string text, int most, const rc::Gen<char>& characters) {
    for (int left = *rc::gen::inRange(0, most); left >= 0; --left) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        const char c = *characters;
        switch (*rc::gen::inRange(0, 3)) {
            case 0:
                text[at] = c;
                break;
            case 1:
                text.insert(at, 1, c);
                break;
            default:
                text.erase(at, *rc::gen::inRange<std::size_t>(1, 9));
                break;
        }
        if (text.empty()) text = " ";
    }
    return text;
}

}  // namespace weft::test
