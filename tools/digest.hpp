// SHA-256 (FIPS 180-4), to tell whether two inputs are the same, and what results follow from.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "sim/io/document.hpp"

namespace weft {

std::string sha256(std::string_view text);  // 64 hexadecimal digits

// Hashes of what results follow from, to tell whether two runs had the same inputs.

// Texts one after another, each with its length, so that no two lists give the same bytes.
class DigestedTexts {
  public:
    DigestedTexts& add(std::string_view text);
    std::string digest() const;

  private:
    std::string bytes_;
};

// Every text between quotation marks in JSON, and the whole where it is none.
void collect_texts(std::string_view json, std::set<std::string>& texts);
// Of the files that these texts name from `folder`, and of those that such files name.
std::string digest_of_named_files(const std::set<std::string>& texts, const std::filesystem::path& folder);
const std::string& digest_of_shipped_data();

// Of all that the results of a job follow from: the job with its overrides, the files that it names, shipped machines,
// models and devices, and the version of weft.
std::string input_digest(const Document& job);

}  // namespace weft
