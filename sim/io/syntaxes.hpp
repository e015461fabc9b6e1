// Documents in other syntaxes than JSON, read key by key all the same. They throw ConfigError with every place that is
// wrong: bad syntax, duplicate keys, more nesting or values than any sensible document has.
#pragma once

#include <string>

#include "sim/io/document.hpp"

namespace weft {

// YAML 1.2; of plain scalars, those that Python would read as a number, True, False or None are that. An alias stands
// for a copy of its anchor; "<<" merges nothing.
Document parse_yaml(std::string name, std::string text);

// TOML 1.0; dates are texts.
Document parse_toml(std::string name, std::string text);

// XML. An element is an object of its attributes, all of them texts, with its name under "#name" and the elements in it
// in the list "#elements", or the text in it under "#text" (absent if there is none). Text between elements is left
// out, entities of a document's own are not expanded.
Document parse_xml(std::string name, std::string text);

}  // namespace weft
