#include "tools/share/sharing_file.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "sim/io/document.hpp"
#include "topologies/placement.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft {
namespace {

class Reader {
  public:
    Reader(const std::filesystem::path& path, std::span<const std::string> overrides)
        : document_(Document::read(path)), folder_(path.parent_path()) {
        for (const std::string& assignment : overrides) document_.assign(assignment);
    }

    SharingFile read() {
        Field root = document_.root();
        const std::vector<Field> jobs = root.list("jobs");
        if (jobs.empty() && !document_.has_errors()) root.error("jobs", "expected at least one job");
        for (const Field& entry : jobs) read_job(entry);
        root.done();
        if (!document_.has_errors() && mistakes_.empty()) check_together();
        if (!document_.has_errors() && mistakes_.empty()) place();
        throw_mistakes();
        return std::move(file_);
    }

  private:
    void read_job(Field entry) {
        const std::filesystem::path path = folder_ / entry.text("job");
        std::vector<std::string> overrides;
        if (entry.has("set")) overrides = overrides_in(entry.object("set"));
        if (entry.has("placement")) overrides.push_back("fabric.placement=" + entry.text("placement"));
        const std::string name = entry.text("name", path.stem().string());
        const Seconds start = entry.duration("start", Seconds{});
        entry.done();
        if (!names_.insert(name).second) {
            entry.error("name", "another job is called \"{}\"; say a \"name\" for each", name);
        }
        if (!entry.is_text("job")) return;
        try {
            OpenedJob opened = open_job(path, overrides);
            file_.notes.insert(file_.notes.end(), opened.notes.begin(), opened.notes.end());
            file_.jobs.push_back({name, read_study(std::move(opened.document), Purpose::simulation, sources_), start});
            entries_.push_back(entry);
        } catch (const ConfigError& error) {
            for (const Diagnostic& mistake : error.diagnostics()) note(entry, mistake);
        }
    }

    // What an entry says of its job stands in this file, the rest in the job's.
    void note(Field entry, const Diagnostic& mistake) {
        if (mistake.file != "--set") return mistakes_.push_back(mistake);
        const bool is_placement = mistake.key == "fabric.placement" && entry.has("placement");
        entry.error(is_placement ? "placement" : "set", "{}: {}", mistake.key, mistake.message);
    }

    void check_together() {
        const auto& [other, like, unused] = file_.jobs.front();
        const std::string &its = like.machine.info().name, another = fmt::format("as of \"{}\"", other);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& [name, study, start] = file_.jobs[i];
            const auto refuse = [&](const std::string& why) { entries_[i].error("job", why); };
            const std::string& own = study.machine.info().name;
            if (!study.machine.is_copy_of(like.machine)) {
                refuse(fmt::format("\"{}\" is on {}, and \"{}\" on {}{}: expected one machine", name, own, other,
                                   own == its ? "another " : "", its));
            }
            if (study.job.fabric.background != like.job.fabric.background) {
                refuse("expected the same fabric.background " + another);
            }
            if (study.job.fabric.quantile != like.job.fabric.quantile) {
                refuse("expected the same fabric.quantile " + another);
            }
            if (study.job.communication_units != like.job.communication_units) {
                refuse("expected as many communication_units " + another);
            }
        }
    }

    // Jobs that say where they are come first.
    void place() {
        const std::uint32_t all = file_.jobs.front().study.machine.info().nodes;
        std::vector<const PlacedJob*> on(all);  // by node
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const PlacedJob& job = file_.jobs[i];
            std::map<const PlacedJob*, std::vector<std::uint32_t>> taken;
            for (const std::uint32_t node : nodes_at(i)) {
                if (const PlacedJob* const by = std::exchange(on[node], &job)) taken[by].push_back(node);
            }
            for (const auto& [by, nodes] : taken) {
                entries_[i].error("placement", fmt::format("nodes {} of \"{}\" are those of \"{}\"", node_ranges(nodes),
                                                           job.name, by->name));
            }
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const PlacedJob& job = file_.jobs[i];
            if (!nodes_at(i).empty()) continue;
            for (std::uint32_t node = 0; node < all && nodes_at(i).size() < job.study.job.nodes; ++node) {
                if (on[node] == nullptr) nodes_at(i).push_back(node);
            }
            for (const std::uint32_t node : nodes_at(i)) on[node] = &job;
            if (nodes_at(i).size() < job.study.job.nodes) {
                entries_[i].error("job", fmt::format("\"{}\" takes {} nodes, and {} of the machine's {} are free",
                                                     job.name, job.study.job.nodes, nodes_at(i).size(), all));
            }
        }
    }
    std::vector<std::uint32_t>& nodes_at(std::size_t i) { return file_.jobs[i].study.job.fabric.placement; }

    void throw_mistakes() {
        try {
            document_.check();
        } catch (const ConfigError& error) {
            mistakes_.insert(mistakes_.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
        if (!mistakes_.empty()) throw ConfigError(std::move(mistakes_));
    }

    Document document_;
    std::filesystem::path folder_;
    StudySources sources_;  // so that jobs of one machine have the same
    SharingFile file_;
    std::vector<Field> entries_;  // of its jobs
    std::set<std::string> names_;
    std::vector<Diagnostic> mistakes_;  // in the jobs' own files
};

}  // namespace

SharingFile read_sharing_file(const std::filesystem::path& path, std::span<const std::string> overrides) {
    return Reader(path, overrides).read();
}

}  // namespace weft
