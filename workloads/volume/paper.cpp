#include <cmath>

#include "workloads/volume/volume.hpp"

namespace weft {

double paper_parameters(const Job& job) {
    const Transformer& model = job.model;
    const double h = model.hidden, vocabulary = static_cast<double>(padded_vocabulary(model, 1));
    return 2 * vocabulary * h + double(job.batch.sequence) * h + model.layers * (12 * h * h + 8 * h) + 2 * h;
}

VolumeTable paper_volume(const Job& job) {
    VolumeTable table;
    const double element = element_bytes(job.precision);
    const auto add = [&](Collective op, std::string dimension, std::uint32_t n, double calls, Bytes message) {
        table.rows.push_back({.op = op == Collective::point_to_point ? "send" : std::string(name(op)),
                              .dimension = std::move(dimension),
                              .group_size = n,
                              .calls = calls,
                              .message = message,
                              .volume = wire_volume(op, message * calls, n),
                              .when = "step"});
    };
    if (const std::uint32_t d = job.layout.data; d > 1) {
        const Bytes parameters{paper_parameters(job) * element};
        if (job.zero == 0) {
            add(Collective::all_reduce, "data", d, 1, parameters);
        } else {
            add(Collective::reduce_scatter, "data", d, 1, parameters);
            add(Collective::all_gather, "data", d, job.zero == 3 ? 2 : 1, parameters);
        }
    }
    const Bytes hidden{double(job.batch.micro) * job.batch.sequence * job.model.hidden * element};
    if (const std::uint32_t t = job.layout.tensor; t > 1) {
        add(Collective::all_reduce, "tensor", t, 6.0 * job.model.layers / job.layout.pipeline + 1.0, hidden);
    }
    if (const std::uint32_t p = job.layout.pipeline; p > 1) {
        add(Collective::point_to_point, "pipeline", 2, 2.0 * (p - 1), hidden);
    }
    return table;
}

}  // namespace weft
