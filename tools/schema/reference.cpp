#include "tools/schema/reference.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "models/device/device.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

// Keys of a file that name another one, and say with the rest what is other than in that.
constexpr std::array<std::string_view, 2> keys_of_changes{"die", "extends"};

void read_all(std::string_view kind, ValueRecord& record) {
    for (const embedded::File& file : files_of(kind)) {
        Document document = Document::parse(std::string(file.path), std::string(file.text));
        const Field root = document.copy().root();  // whose questions are not the reader's
        const bool changes = std::ranges::any_of(keys_of_changes, [&](std::string_view key) { return root.has(key); });
        document.record();
        read_as(kind, document);
        document.add_to(record, changes ? Document::Extent::change : Document::Extent::whole);
    }
}

void add_keys(const ValueRecord& record, const std::string& path, std::map<std::string, const ValueRecord*>& keys) {
    for (const auto& [kind, object] : record.objects) {
        for (const auto& [key, member] : object.members) {
            const std::string inner = path_of_member(kind.empty() ? path : path + "(" + kind + ")", key);
            keys.emplace(inner, &member.value);
            add_keys(member.value, inner, keys);
        }
    }
    if (record.element != nullptr) add_keys(*record.element, path + "[]", keys);
    if (record.any != nullptr) add_keys(*record.any, path + ".*", keys);
}

// By path; of a job and a model beside what else their rows say.
std::vector<std::pair<std::string, std::string>> meanings_of(std::string_view kind) {
    std::vector<std::pair<std::string, std::string>> meanings;
    if (kind == "job") {
        for (const JobKey& key : all_keys()) {
            if (!key.meaning.empty()) meanings.emplace_back(key.path, key.meaning);
        }
        return meanings;
    }
    const auto files = kind == "model" ? embedded::model_keys() : embedded::schema_meanings();
    for (const embedded::File& file : files) {
        if (kind != "model" && file.name != kind) continue;
        const auto rows = nlohmann::ordered_json::parse(file.text);
        for (const auto& [key, row] : rows.items()) meanings.emplace_back(key, row.is_object() ? row["meaning"] : row);
    }
    return meanings;
}

}  // namespace

std::size_t Reference::place_of_meaning(const std::string& path) const {
    std::string plain;
    bool inside = false;
    for (const char c : path) {
        inside = inside || c == '(';
        if (!inside) plain += c;
        if (c == ')') inside = false;
    }
    // A key of a part with a name of its own, or of an encoder, may mean what it means of the whole.
    const std::size_t part = plain.find(".*.");
    const bool encodes = plain.starts_with("encoder.");
    const std::string whole = encodes ? plain.substr(8) : part == plain.npos ? plain : plain.substr(part + 3);
    for (const std::string& key : {path, plain, "*." + path.substr(path.rfind('.') + 1), whole}) {
        const auto found = std::ranges::find(meanings, key, [](const auto& meaning) { return meaning.first; });
        if (found != meanings.end()) return static_cast<std::size_t>(found - meanings.begin());
    }
    return meanings.size();
}

std::string Reference::meaning(const std::string& path) const {
    const std::size_t place = place_of_meaning(path);
    return place == meanings.size() ? std::string() : meanings[place].second;
}

std::vector<std::pair<std::string, const ObjectRecord::Member*>> Reference::members(const ObjectRecord& object,
                                                                                    const std::string& path) const {
    std::vector<std::pair<std::string, const ObjectRecord::Member*>> sorted;
    for (const auto& [key, member] : object.members) sorted.emplace_back(key, &member);
    std::ranges::stable_sort(sorted, {},
                             [&](const auto& entry) { return place_of_meaning(path_of_member(path, entry.first)); });
    return sorted;
}

std::map<std::string, const ValueRecord*> every_key(const Reference& reference) {
    std::map<std::string, const ValueRecord*> keys;
    add_keys(reference.root, "", keys);
    return keys;
}

std::vector<std::string> reference_kinds() { return {"device", "job", "machine", "model"}; }

void read_as(std::string_view kind, Document document) {
    Field root = document.root();
    if (kind == "job") {
        read_study(document);
    } else if (kind == "machine") {
        Machine::read(document);
    } else if (kind == "device") {
        extend(root,
               [](const std::string& name) { return open_shipped(embedded::devices(), "device", name).document; });
        read_device(root, "device");
    } else {
        extend(root, open_model);
        read_transformer(root, "model");
    }
    document.check();
}

std::vector<embedded::File> files_of(std::string_view kind) {
    std::vector<embedded::File> files;
    const auto add = [&](std::span<const embedded::File> more) { files.insert(files.end(), more.begin(), more.end()); };
    if (kind == "machine") add(embedded::machines());
    if (kind == "device") add(embedded::devices());
    if (kind == "model") add(embedded::catalog());
    std::ranges::copy_if(embedded::schema_examples(), std::back_inserter(files),
                         [&](const embedded::File& file) { return file.name.starts_with(kind); });
    return files;
}

Reference make_reference(std::string_view kind) {
    Reference reference{.kind = std::string(kind)};
    reference.meanings = meanings_of(kind);
    read_all(kind, reference.root);
    for (const std::string_view key : keys_of_changes) {
        if (reference.root.objects[""].members.contains(std::string(key))) reference.changes.emplace_back(key);
    }
    // What a job may write in itself instead of naming it.
    for (const std::string part : {"machine", "model"}) {
        if (kind != "job") continue;
        reference.others.emplace(part, part);
        reference.root.objects[""].members[part].value.objects.clear();
    }
    return reference;
}

std::string path_of_member(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
}

}  // namespace weft
