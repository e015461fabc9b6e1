// A step runs the same pass for many micro-batches, and a pass the same layer many times. What a PassWriter writes
// depends on the part of the model, the pass, its halves, on data parallelism, and on what it finds where it begins: so
// what data parallelism is idle in is written once and repeated wherever it would find the same.
#include <algorithm>

#include "workloads/stage/pass_writer.hpp"

namespace weft {

// Layers of a place that run again read otherwise where a router's calls wait for that.
std::size_t PassWriter::layers_part(const At& at) const {
    const bool apart = !balancing_.forward.empty() && routes_again(at);
    return stage_.chunks.size() + at.place + (apart ? job_.layer_places() : 0);
}

// Nothing where a pass or layer may read as no other does: data parallelism takes part, its first computation may
// extend the one before it (which is of the same layer then), or its first launch waits for something older than the
// end of the chain.
std::optional<PassWriter::Beginning> PassWriter::beginning(const PassAt& at, Halves halves, std::size_t part) const {
    const bool is_layer = part >= stage_.chunks.size();
    const bool extends = is_open() && open_.where.micro_batch == at.where.micro_batch &&
                         (!is_layer || open_.where.layer == at.where.layer);
    if (extends || !data_parallel_.idle(at)) return std::nullopt;
    const Joint joint = script_.joint();
    const ActionId ready = host_.ready();
    if (ready != Action::none && ready != joint.chain) return std::nullopt;
    return Beginning{.at = at,
                     .halves = halves,
                     .part = part,
                     .host = ready == Action::none ? HostReady::before : HostReady::at_chain,
                     .joint = joint};
}

bool PassWriter::repeat(const Beginning& begin) {
    const std::vector<Written>& parts = written_[begin.part];
    const auto written = std::ranges::find_if(parts, [&begin](const Written& part) {
        return part.begin.at.pass == begin.at.pass && part.begin.halves == begin.halves &&
               part.begin.host == begin.host && part.begin.joint.like(begin.joint);
    });
    if (written == parts.end()) return false;
    script_.repeat(written->excerpt, begin.at.where);
    host_.repeat();
    open_ = written->open;
    if (open_.action != Action::none) {
        open_.actions = script_.actions().size();
        open_.action = static_cast<ActionId>(open_.actions - 1);
        open_.where.micro_batch = begin.at.where.micro_batch;
        open_.where.layer += begin.at.where.layer - written->begin.at.where.layer;
    }
    return true;
}

// But for what has no launches, after which what the host waited for still matters.
void PassWriter::remember(const Beginning& begin) {
    if (host_.ready() != Action::none) return;
    std::optional<Excerpt> excerpt = script_.since(begin.joint, begin.at.where.layer);
    if (excerpt) written_[begin.part].push_back({begin, *std::move(excerpt), is_open() ? open_ : Open{}});
}

}  // namespace weft
