#include "workloads/job/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "sim/base/hash.hpp"
#include "sim/io/document.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

// Beyond it the draw takes longer than the simulation.
constexpr double most_documents = 1e7;

double drawn_in_step(const Batch& batch) {
    return double(batch.global) * (batch.sequence / batch.documents.mean_length() + 1);
}

class Draws {
  public:
    Draws(std::uint32_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
    double uniform() {  // from 0 to below 1
        constexpr double ulp = 0x1p-53;
        return static_cast<double>(hash_of({seed_, stream_, counter_++}) >> 11) * ulp;
    }
    double normal() {  // Box and Muller
        const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }

  private:
    std::uint64_t seed_, stream_, counter_ = 0;
};

// A document, or (weighed) the one that a token is in: each length is then as likely as the tokens of its documents.
enum class Of : std::uint8_t { documents, tokens };

double drawn_length(const Documents& documents, Draws& draws, Of of) {
    if (documents.lengths.empty()) {
        const double shift = of == Of::tokens ? 0.5 : -0.5;
        return documents.mean * std::exp(documents.sigma * (draws.normal() + shift * documents.sigma));
    }
    const auto weight = [&](std::size_t i) {
        return documents.shares[i] * (of == Of::tokens ? documents.lengths[i] : 1.0);
    };
    double sum = 0;
    for (std::size_t i = 0; i < documents.lengths.size(); ++i) sum += weight(i);
    double left = draws.uniform() * sum;
    std::size_t i = 0;
    while (i + 1 < documents.lengths.size() && left >= weight(i)) left -= weight(i++);
    return documents.lengths[i];
}

// Pairs of the first tokens of a document, times two; in full n^2.
double pairs(const AttentionWindow& window, double tokens) { return window_share(window, tokens) * tokens * tokens; }

DocumentCut cut_of(const Job& job) {
    if (job.batch.documents.cut != DocumentCut::framework) return job.batch.documents.cut;
    return job.framework->context_calls == ContextCalls::torch ? DocumentCut::sequence : DocumentCut::document;
}

// Data ranks that meet in every pass: those that gather parameters for it or share experts.
std::uint32_t meeting_ranks(const Job& job) {
    const Layout& layout = job.layout;
    const std::uint32_t of_rank = std::max(layout.ranks_of_stage() / layout.data, 1U);
    const double gathering = job.framework->shares(job).parameters * layout.data / layout.copies();
    const double sharing = layout.expert > 1 ? double(layout.expert) * layout.expert_tensor / of_rank : 1.0;
    return static_cast<std::uint32_t>(std::clamp(std::ceil(std::max(gathering, sharing)), 1.0, double(layout.data)));
}

struct Work {
    double all = 0, slowest = 0;  // slowest: as if every rank had as much
};

// Of micro-batches that go through a pipeline one after another.
struct MicroBatches {
    double sum = 0, most = 0;

    void add(double one) {
        sum += one;
        most = std::max(most, one);
    }
    // So many equal ones would take as long; `filling`: how often the longest is waited for.
    double equal(double passes, double filling) const { return (sum + filling * most) / (passes + filling); }
};

Work work_of(const Job& job, const AttentionWindow& window) {
    const Batch& batch = job.batch;
    const std::uint32_t data = job.layout.data, context = job.layout.context, passes = job.micro_batches();
    const std::uint32_t meeting = meeting_ranks(job);
    const bool divided = job.context_method != ContextMethod::all_to_all;
    const DocumentCut cut = divided ? cut_of(job) : DocumentCut::document;
    std::vector<MicroBatches> groups((data + meeting - 1) / meeting);
    Work work;
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
        std::vector<double> slowest(groups.size());
        for (std::uint32_t rank = 0; rank < data; ++rank) {
            std::vector<double> own(context);
            for (std::uint32_t i = 0; i < batch.micro; ++i) {
                const std::uint64_t index = (std::uint64_t{pass} * data + rank) * batch.micro + i;
                const auto more = pairs_of_ranks(drawn_documents(batch.documents, batch.sequence, index),
                                                 batch.sequence, context, cut, window);
                std::ranges::transform(own, more, own.begin(), std::plus());
            }
            work.all += std::accumulate(own.begin(), own.end(), 0.0);
            double& most = slowest[rank / meeting];
            most = std::max(most, std::ranges::max(own));
        }
        for (std::size_t group = 0; group < groups.size(); ++group) groups[group].add(slowest[group]);
    }
    const double filling = (job.layout.pipeline - 1.0) / job.pipeline_shape().chunks;
    for (const MicroBatches& group : groups) work.slowest = std::max(work.slowest, group.equal(passes, filling));
    work.slowest *= double(passes) * data * context;
    return work;
}

void check_shares(Field& field, Documents& documents) {
    if (documents.lengths.size() != documents.shares.size() || documents.lengths.empty()) {
        field.error("shares", "expected as many as there are lengths, {}, and at least one; got {}",
                    documents.lengths.size(), documents.shares.size());
    }
    const auto positive = [](double value) { return value > 0; };
    if (!std::ranges::all_of(documents.lengths, [](double length) { return length >= 1; })) {
        field.error("lengths", "expected numbers of tokens, at least 1");
    }
    if (!std::ranges::all_of(documents.shares, positive)) field.error("shares", "expected positive weights");
}

}  // namespace

double Documents::mean_length() const {
    if (lengths.empty()) return mean;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    return std::inner_product(lengths.begin(), lengths.end(), shares.begin(), 0.0) / sum;
}

Documents read_documents(Field field) {
    Documents documents;
    if (field.has("lengths")) {
        for (Field& element : field.list("lengths")) documents.lengths.push_back(element.as_number());
        for (Field& element : field.list("shares")) documents.shares.push_back(element.as_number());
        check_shares(field, documents);
        for (const std::string_view other : {"mean", "sigma"}) {
            if (field.has(other))
                field.error(other, "speaks of a log-normal distribution; give either this or lengths");
        }
    } else {
        documents.mean = field.number("mean");
        documents.sigma = field.number("sigma", 1.0);
        if (!(documents.mean >= 1)) field.error("mean", "expected a number of tokens, at least 1");
        if (!(documents.sigma >= 0)) field.error("sigma", "expected the deviation of the logarithm, at least 0");
    }
    documents.cut = field.enumerator("cut", DocumentCut::framework);
    documents.seed = field.whole("seed", 0);
    field.done();
    return documents;
}

std::string documents_json(const Documents& documents) {
    nlohmann::ordered_json json{{"cut", enumerator_name(documents.cut)}, {"seed", documents.seed}};
    if (documents.lengths.empty()) {
        json.update({{"mean", documents.mean}, {"sigma", documents.sigma}});
    } else {
        json.update({{"lengths", documents.lengths}, {"shares", documents.shares}});
    }
    return json.dump();
}

void check_documents(const Job& job, const Refusals& refuse) {
    const Documents& documents = job.batch.documents;
    const double mean = documents.mean_length();
    if (mean == 0) return;
    constexpr std::string_view key = "batch.documents";
    refuse.when(job.batch.document > 0, key, "batch.document says that all documents are as long; give either");
    const double drawn = drawn_in_step(job.batch);
    refuse.when(drawn > most_documents, key,
                "about {:.2g} documents of {:.0f} tokens in a step; at most {:.2g} are drawn", drawn, mean,
                most_documents);
    refuse.when(job.attention == AttentionCore::unfused, key,
                "attention that is not fused computes all pairs of a sequence, whatever is packed into it");
}

std::vector<double> drawn_documents(const Documents& documents, double tokens, std::uint64_t index) {
    Draws draws(documents.seed, index);
    std::vector<double> drawn;
    double left = tokens;
    // Where the sequence begins some of a document has been in the one before it.
    double next = drawn_length(documents, draws, Of::tokens) * (1.0 - draws.uniform());
    while (left > 0) {
        drawn.push_back(std::min(next, left));
        left -= drawn.back();
        next = drawn_length(documents, draws, Of::documents);
    }
    return drawn;
}

std::vector<double> pairs_of_ranks(const std::vector<double>& documents, double tokens, std::uint32_t context,
                                   DocumentCut cut, const AttentionWindow& window) {
    std::vector<double> work(context);
    if (cut == DocumentCut::document || context == 1) {
        const auto sum = sum_of<double>(documents, [&](const double document) { return pairs(window, document); });
        std::ranges::fill(work, sum / context);
        return work;
    }
    const double pieces = 2.0 * context, piece = tokens / pieces;
    double begin = 0;
    for (const double document : documents) {
        const double end = begin + document;
        double before = 0;
        for (double i = std::floor(begin / piece); i < pieces && i * piece < end; ++i) {
            const double there = pairs(window, std::min(end, (i + 1) * piece) - begin);
            const auto at = static_cast<std::size_t>(cut == DocumentCut::contiguous ? i / 2
                                                     : i < context                  ? i
                                                                                    : pieces - 1 - i);
            work[at] += there - before;
            before = there;
        }
        begin = end;
    }
    return work;
}

PackedAttention packed_attention(const Job& job) {
    const Batch& batch = job.batch;
    const double whole = batch.sequence, equal = batch.document;
    if (equal > 0) {
        const double share = equal / whole;
        return {.share = share, .windowed_share = share * window_share(job.model.window, equal)};
    }
    if (batch.documents.mean_length() == 0 || job.micro_batches() == 0) return {};
    if (drawn_in_step(batch) > most_documents) return {};  // as check_documents() refuses
    const double sequences = double(job.micro_batches()) * job.layout.data * batch.micro;
    const Work full = work_of(job, {});
    const bool has_windows = job.model.window.tokens > 0;
    const Work windowed = has_windows ? work_of(job, job.model.window) : full;
    return {.share = full.all / (sequences * whole * whole),
            .windowed_share = windowed.all / (sequences * whole * whole),
            .slowest = full.slowest / full.all,
            .windowed_slowest = windowed.slowest / windowed.all};
}

std::string packing_text(const Job& job) {
    const double mean = job.batch.documents.mean_length();
    if (mean == 0) return {};
    return fmt::format(
        "documents of {:.0f} tokens on average, a token's of {:.0f}, drawn by seed {}; attention of the "
        "slowest rank {:.3g} of the mean",
        mean, job.packing.share * job.batch.sequence, job.batch.documents.seed, job.packing.slowest);
}

}  // namespace weft
