// What the ranks of a program exchange, summed, is the sum of their volume tables: call for call and byte for byte.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

// Whatever is asked, it is refused with reasons, or it runs and adds up; with every rank on its own, too.
RC_GTEST_PROP(traffic, of_any_job_is_what_its_tables_list, ()) {
    const std::vector<std::string> settings = test::random_job();
    const Folding folding = *rc::gen::element(Folding::stages, Folding::exact, Folding::none);
    RC_LOG() << ::testing::PrintToString(settings) << ", folding " << name(folding);
    try {
        const Study study = test::small_study(settings);
        RC_TAG("ran");
        RC_ASSERT(test::unsoundness(study, folding) == "");
    } catch (const ConfigError& error) {
        RC_TAG("refused");
        RC_ASSERT(!error.diagnostics().empty());
    }
}

}  // namespace
}  // namespace weft
