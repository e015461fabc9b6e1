#include "tools/plan/launch.hpp"

#include <algorithm>
#include <filesystem>

namespace weft {
namespace {

std::filesystem::path beside(const PlanRequest& request) { return request.job.path.parent_path() / "best.json"; }

Study study_of(const PlanRequest& request, const std::string& job) {
    return read_study(Document::parse(beside(request).string(), job));
}

// Worth a try, the likeliest first.
std::vector<const ExportFormat*> formats_for(const Study& study, const ExportFormat* asked) {
    if (asked != nullptr) return {asked};
    std::vector<const ExportFormat*> formats;
    for (const ExportFormat* const format : exports::all()) {
        if (format->job != nullptr) formats.push_back(format);
    }
    std::stable_partition(formats.begin(), formats.end(),
                          [&](const ExportFormat* each) { return each->name == study.job.framework->name; });
    return formats;
}

}  // namespace

std::string launch_text(const PlanRequest& request, const std::vector<std::string>& layout,
                        const ExportFormat& format) {
    return format.job(study_of(request, job_text(request, layout, beside(request))));
}

LaunchFiles launch_files(const PlanRequest& request, const std::vector<std::string>& layout,
                         const ExportFormat* asked) {
    LaunchFiles files{.job = job_text(request, layout, beside(request)), .format = {}, .launch = {}};
    const Study study = study_of(request, files.job);
    for (const ExportFormat* const format : formats_for(study, asked)) {
        try {
            files.launch = format->job(study);
            files.format = format->name;
            return files;
        } catch (const ConfigError& error) {
            if (files.launch.empty()) files.launch = error.what();
        }
    }
    return files;
}

}  // namespace weft
