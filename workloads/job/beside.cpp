// What runs beside the model of a job: an encoder of images, a teacher.
#include "workloads/framework/refusals.hpp"

namespace weft {

void check_beside(const Job& job, const Refusals& refuse) {
    const Transformer& model = job.model;
    const bool sees = model.encoder.layers > 0;
    const double tokens = job.batch.images * model.encoder.given();
    refuse.when(!sees && job.batch.images > 0, "batch.images", "{} has no encoder of images", model.name);
    refuse.when(sees && job.batch.images == 0, "batch.images", "without images leave out model.encoder");
    refuse.when(sees && tokens > job.batch.sequence, "batch.images",
                "{} images are {:.0f} tokens, more than a sequence of {}", job.batch.images, tokens,
                job.batch.sequence);
    refuse.when(sees && job.optimizer.rule == UpdateRule::muon, "optimizer",
                "Muon of an encoder's matrices is not known");
    refuse.when((sees || !model.teacher.empty()) && job.layout.context > 1, "layout.context",
                "how context ranks share an encoder or a teacher is not known");
    for (const Transformer& teacher : model.teacher) {
        refuse.when(teacher.vocabulary != model.vocabulary, "model.teacher", "{} has a vocabulary of {}, {} of {}",
                    teacher.name, teacher.vocabulary, model.name, model.vocabulary);
        refuse.when(
            teacher.experts.count > 0 || teacher.encoder.layers > 0 || !teacher.teacher.empty() || model.mtp_layers > 0,
            "model.teacher",
            "teachers with experts, encoders or teachers, and those of models with mtp_layers, are not known");
    }
}

}  // namespace weft
