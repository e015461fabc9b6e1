// Reads an SVG as an outside client does, for tests: throws if it is not well-formed.
#pragma once

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace weft::test {

struct SvgElement {
    std::string name, css_class, text, data;  // data: of a path
    double x = 0, y = 0, width = 0, height = 0;
    double bottom() const { return y + height; }
};

inline boost::property_tree::ptree parsed_svg(const std::string& svg) {
    std::istringstream in(svg);
    boost::property_tree::ptree tree;
    read_xml(in, tree);
    return tree.get_child("svg");
}

// The elements below the root, in drawing order.
inline std::vector<SvgElement> svg_elements(const std::string& svg) {
    std::vector<SvgElement> elements;
    for (const auto& [name, node] : parsed_svg(svg)) {
        if (name == "<xmlattr>") continue;
        elements.push_back({.name = name,
                            .css_class = node.get("<xmlattr>.class", ""),
                            .text = node.data(),
                            .data = node.get("<xmlattr>.d", ""),
                            .x = node.get("<xmlattr>.x", 0.0),
                            .y = node.get("<xmlattr>.y", 0.0),
                            .width = node.get("<xmlattr>.width", 0.0),
                            .height = node.get("<xmlattr>.height", 0.0)});
    }
    return elements;
}

inline std::vector<SvgElement> svg_elements(const std::string& svg, const std::string& css_class) {
    std::vector<SvgElement> chosen;
    for (const SvgElement& element : svg_elements(svg)) {
        if (element.css_class == css_class) chosen.push_back(element);
    }
    return chosen;
}

inline std::vector<std::string> svg_texts(const std::string& svg) {
    std::vector<std::string> texts;
    for (const SvgElement& element : svg_elements(svg)) {
        if (element.name == "text") texts.push_back(element.text);
    }
    return texts;
}

}  // namespace weft::test
