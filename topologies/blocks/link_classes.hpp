// The "links" section of a machine file: every class of link with its specified and its measured figures apart.
//
//   "slingshot.nic": {
//     "bandwidth": { "nominal": "25 GB/s", "efficiency": 0.97, "source": "..." },
//     "latency":   { "value": "350 ns", "source": "..." }
//   }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class LinkClasses {
  public:
    explicit LinkClasses(Field links);  // records what is wrong with the section

    // The class that `key` of `block` names. An unknown name is recorded as an error at the key, with the nearest
    // known ones; class 0 is returned then, which must not be looked up before Document::check().
    LinkClassId read(Field& block, std::string_view key) const;
    // The class called `name`; an unknown one is an error at `key`.
    LinkClassId find(Field& block, std::string_view key, std::string_view name) const;

    const Table<LinkClassId, LinkClass>& table() const { return table_; }

  private:
    Table<LinkClassId, LinkClass> table_;
    std::vector<std::string> names_;
};

}  // namespace weft
