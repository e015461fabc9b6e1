// Compression for files that other tools open.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace weft {

// A gzip file of `text`, without name and date: the same text gives the same bytes.
std::string gzip(std::string_view text);

// The same piece by piece.
class GzipStream {
  public:
    GzipStream();
    ~GzipStream();

    // The compressed bytes that are ready; most come later, or at the end.
    std::string add(std::string_view piece);
    std::string finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace weft
