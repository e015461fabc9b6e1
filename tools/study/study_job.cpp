#include "tools/study/study_job.hpp"

#include "sim/io/shipped.hpp"

namespace weft {

Study StudyJob::read(Purpose purpose) const {
    Document document = open_shipped(embedded::study(), "study job", name).document;
    for (const std::string& assignment : overrides) document.assign(assignment);
    return read_study(std::move(document), purpose);
}

}  // namespace weft
