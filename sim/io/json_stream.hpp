// A JSON file told event by event, for files that are too long to hold: profilers write gigabytes.
#pragma once

#include <string_view>

#include "sim/io/byte_source.hpp"

namespace weft {

// Hears the values of a document in their order. Texts live as long as the call.
class JsonListener {
  public:
    virtual ~JsonListener() = default;
    virtual void key(std::string_view name) = 0;
    virtual void text(std::string_view value) = 0;
    virtual void number(std::string_view digits) = 0;  // as it is written
    virtual void word(bool value) = 0;
    virtual void null() = 0;
    virtual void open() = 0;  // an object or a list
    virtual void close() = 0;
};

// To the end. Throws ConfigError as the source does, and for invalid JSON, with the byte.
void stream_json(ByteSource& source, JsonListener& listener);

}  // namespace weft
