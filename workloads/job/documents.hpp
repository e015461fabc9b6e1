// Documents of different lengths that are packed into sequences: how much less attention there is than in whole
// sequences, and how much more than the mean the slowest rank has of it.
//
// Documents follow one another without end, and sequences are cut out of that at random places, as loaders of
// pre-training do (Megatron-core datasets/gpt_dataset.py; torchtitan datasets/hf_datasets.py); what is cut off is a
// document of its own. Of one tokens-long stretch of documents of lengths l
//   E[sum of squares] = 2 / E[l] * E[S l a - (S + l) a^2 / 2 + a^3 / 3],   a = min(l, S)
// (two tokens u apart are of one document with probability E[max(l - u, 0)] / E[l]).
//
// Context ranks wait for one another in every layer; data ranks in every pass where parameters are gathered or experts
// shared (then the most that one of them has counts), else at the end of a step, which the slowest of them decides. Its
// m micro-batches take sum t + (p - 1) / v max t through p stages of v chunks, as a proportionate flow shop does
// (Pinedo, Scheduling); padding to context pieces is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

class Field;
struct Job;
class Refusals;

// How context ranks share packed sequences, where each does not have all tokens of some heads:
//   document    each document in 2 c equal pieces, one early and one late piece a rank, so that all have as much
//               (Transformer Engine, thd_get_partitioned_indices; Megatron-core's packed sequences)
//   sequence    the sequence so, whatever is in it (PyTorch's _HeadTailLoadBalancer; torchtitan)
//   contiguous  the sequence in c pieces, one a rank
enum class DocumentCut : std::uint8_t { framework, document, sequence, contiguous };

struct Documents {
    // Tokens and weight of each kind of document; or, if empty, a log-normal distribution.
    std::vector<double> lengths, shares;
    double mean = 0, sigma = 0;  // mean: 0, no documents; sigma: of the logarithm
    DocumentCut cut = DocumentCut::framework;
    std::uint32_t seed = 0;

    double mean_length() const;
    bool operator==(const Documents&) const = default;
};

Documents read_documents(Field field);
std::string documents_json(const Documents& documents);  // as it is read
void check_documents(const Job& job, const Refusals& refuse);

// Of sequence `index`: the documents, or parts of them, that fill its `tokens`.
std::vector<double> drawn_documents(const Documents& documents, double tokens, std::uint64_t index);

// Pairs of a query and a key of its document times two, less the queries, of each of `context` ranks (see DocumentCut).
std::vector<double> pairs_of_ranks(const std::vector<double>& documents, double tokens, std::uint32_t context,
                                   DocumentCut cut, const AttentionWindow& window);

// What the attention of a job's step has of the sequences' pairs. Needs its layout whole.
PackedAttention packed_attention(const Job& job);

// For people; empty where documents are not of different lengths.
std::string packing_text(const Job& job);

}  // namespace weft
