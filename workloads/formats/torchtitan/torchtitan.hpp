// Keys of a torchtitan configuration, the degrees of parallelism in it, and the models that torchtitan ships.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/transformer/transformer.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {

class TorchtitanKey {
  public:
    TorchtitanKey(Field& root, std::string_view name, std::string_view section = "parallelism")
        : section_(root.is_object(section) ? root.object(section) : root),
          name_(name),
          given_(root.is_object(section) && section_.has(name)) {}

    bool given() const { return given_; }
    Field& section() { return section_; }
    std::string_view name() const { return name_; }
    Origin origin() const { return given_ ? section_.origin(name_) : unwritten("torchtitan's default"); }
    std::uint32_t count(std::uint32_t otherwise) { return given_ ? section_.count(name_) : otherwise; }
    double number(double otherwise) { return given_ ? section_.number(name_) : otherwise; }
    bool flag() { return given_ && section_.flag(name_); }
    std::string text(std::string_view otherwise) { return given_ ? section_.text(name_) : std::string(otherwise); }
    void refuse(Import& import, std::string why) {
        if (given_) import.error(origin(), std::move(why));
    }
    void warn(Import& import, std::string what) {
        if (given_) import.warn(origin(), std::move(what));
    }

  private:
    Field section_;
    std::string_view name_;
    bool given_;
};

struct TorchtitanDegrees {
    double replicas = 1, shards = 0;  // data ranks; 0: not known
    std::uint32_t pipeline = 1;
};

// Gives the job its layout, schedule and what FSDP shards. `layers`: of the model; 0: not known.
TorchtitanDegrees read_torchtitan_degrees(Import& import, Field& root, const FormatOptions& options,
                                          std::uint32_t layers);

// Models that torchtitan ships, by name and flavour as its configurations call them: flavours.json.
struct TorchtitanFlavour {
    std::string model;    // "llama3"
    std::string flavour;  // "8B"
    std::string object;   // a model, as its file says it
    Transformer shape;    // the same, read
};

std::span<const TorchtitanFlavour> torchtitan_flavours();
// nullptr: none of these. Flavours that differ in the attention's mask or kernel alone ("8B_flex") are the plain ones.
const TorchtitanFlavour* find_torchtitan_flavour(std::string_view model, std::string_view flavour);
// The one of this shape; nullptr: none.
const TorchtitanFlavour* torchtitan_flavour_of(const Transformer& shape);
std::string known_torchtitan_flavours();  // "llama3 8B, llama3 70B, ..."

}  // namespace weft
