#include "workloads/stage/pass_writer.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/stage_tensors.hpp"
#include "workloads/framework/framework.hpp"

namespace weft {
namespace {

bool same(const Where& a, const Where& b) { return a.micro_batch == b.micro_batch && a.layer == b.layer; }

}  // namespace

PassWriter::PassWriter(const Plan& plan, std::uint32_t stage, DataParallel& data_parallel, Script& script)
    : plan_(plan),
      job_(plan.job),
      stage_(plan.stages[stage]),
      data_parallel_(data_parallel),
      script_(script),
      host_(plan, script),
      counts_wanted_(plan.host_bound ? counts_wanted(job_) : CountsWanted::never),
      around_(job_.layer_places()),
      exchanges_(job_.layer_places()),
      cuts_(job_.layer_places()),
      written_(stage_.chunks.size() + 2 * job_.layer_places()),
      balancing_(balancing_loss_calls(job_)),
      narrow_products_(stage_.chunks.size()) {
    for (const StageModule& module : stage_.modules) {
        if (!has_narrow_products(module)) continue;
        narrow_products_[module.chunk] += static_cast<std::size_t>(std::ranges::count(module.vector, false));
    }
}

void PassWriter::reduce_maxima(const At& at) {
    calls(reductions_of_maxima(job_, narrow_products_[at.pass.chunk], at.pass.pass), at);
}

void PassWriter::compute(const At& at, Parts part, Seconds duration) {
    const bool extends =
        is_open() && open_.pass == at.pass.pass && same(open_.where, at.pass.where) && !script_.waited();
    if (!extends) {
        open_ = {.action = script_.compute(label_of(at.pass.pass, part), duration, at.pass.where),
                 .actions = script_.actions().size(),
                 .pass = at.pass.pass,
                 .where = at.pass.where,
                 .parts = part};
        return;
    }
    open_.parts |= part;
    script_.extend(open_.action, duration, label_of(at.pass.pass, open_.parts));
}

void PassWriter::compute(const At& at, std::string_view label, Seconds duration) {
    script_.compute(label, duration, at.pass.where);
    open_.action = Action::none;
}

void PassWriter::call(const Call& call, const At& at) { script_.call(call, at.pass.where); }

void PassWriter::calls(const std::vector<Call>& calls, const At& at) {
    for (std::size_t i = 0; i < calls.size();) {
        std::size_t end = i + 1;  // of those that start together
        while (end < calls.size() && calls[end].start == Start::with_previous) ++end;
        std::vector<ActionId> beside;
        for (std::size_t other = i + 1; other < end; ++other) {
            beside.push_back(script_.issue(calls[other], at.pass.where, script_.now()));
        }
        call(calls[i], at);
        wait(beside);
        i = end;
    }
}

void PassWriter::before(const At& at, std::size_t module) { data_parallel_.before(script_, at.pass, module); }
void PassWriter::after(const At& at, std::size_t module) { data_parallel_.after(script_, at.pass, module); }

std::optional<std::size_t> PassWriter::module_of(const At& at, const PieceCost& cost) const {
    if (cost.module.empty()) return std::nullopt;
    std::size_t module = at.module;
    while (stage_.modules[module].name != cost.module) {
        ++module;
        WEFT_CHECK(module < stage_.modules.size(), "a piece names no module of its layer");
    }
    return module;
}

void PassWriter::before(const At& at, const PieceCost& own) {
    if (const auto module = module_of(at, own)) before(at, *module);
}
void PassWriter::after(const At& at, const PieceCost& own) {
    if (const auto module = module_of(at, own)) after(at, *module);
}

PassWriter::Parts PassWriter::part_of(Piece piece) {
    switch (piece) {
        case Piece::input_norm:
        case Piece::qkv:
        case Piece::core:
        case Piece::projection:
            return attention;
        case Piece::experts:
            return experts;
        default:
            return mlp;
    }
}

std::string_view PassWriter::label_of(Pass pass, unsigned parts) {
    if (parts == weights_alone) return "backward weights";
    constexpr std::string_view names[3][5] = {
        {"forward attention", "forward MLP", "forward layer", "forward experts", "forward layer"},
        {"recompute attention", "recompute MLP", "recompute layer", "recompute experts", "recompute layer"},
        {"backward attention", "backward MLP", "backward layer", "backward experts", "backward layer"}};
    parts &= ~unsigned{weights_alone};
    const unsigned column = parts == 1 ? 0 : parts == 2 || parts == 6 ? 1 : parts == 3 ? 2 : parts == 4 ? 3 : 4;
    return names[static_cast<unsigned>(pass)][column];
}

PassWriter::At PassWriter::at(const Slot& slot, Pass pass) const {
    const Chunk& chunk = stage_.chunks[slot.chunk];
    return {.pass = {.pass = pass, .where = {slot.micro_batch, chunk.first_layer}, .chunk = slot.chunk},
            .module = chunk.first_module};
}

PassWriter::At PassWriter::layer_at(At at, const Chunk& chunk, std::uint32_t i) const {
    at.pass.where.layer = chunk.first_layer + i;
    at.kind = layer_kind(job_.model, at.pass.where.layer);
    at.place = job_.layer_place(at.pass.where.layer);
    at.module = chunk.layer_module[i];
    return at;
}

void PassWriter::forward(const Slot& slot) {
    const At here = at(slot, Pass::forward);
    const std::optional<Beginning> begin = beginning(here.pass, Halves::both, slot.chunk);
    if (begin && repeat(*begin)) return;
    write_forward(here);
    if (begin) remember(*begin);
}

void PassWriter::backward(const Slot& slot, Halves halves, Accumulation accumulation) {
    At here = at(slot, Pass::backward);
    here.pass.accumulation = accumulation;
    const std::optional<Beginning> begin = beginning(here.pass, halves, slot.chunk);
    if (begin && repeat(*begin)) return;
    write_backward(here, halves);
    if (begin) remember(*begin);
}

void PassWriter::layer(const At& at, Halves halves) {
    const std::optional<Beginning> begin = beginning(at.pass, halves, layers_part(at));
    if (begin && repeat(*begin)) return;
    if (at.pass.pass != Pass::backward) {
        layer_forward(at);
    } else if (halves == Halves::weight) {
        layer_weights(at);
    } else {
        layer_backward(at, halves);
    }
    if (begin) remember(*begin);
}

void PassWriter::write_forward(const At& here) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    begin_forward(here);
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        const At own = layer_at(here, chunk, i);
        if (predicts(own)) prediction_forward(own);
        layer(own, Halves::both);
        if (predicts(own)) prediction_norm_forward(own);
        store_activations(own, chunk, i);
    }
    end_forward(here);
}

void PassWriter::begin_forward(const At& here) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    data_parallel_.begin_pass(script_, here.pass);
    if (chunk.part > 0) calls(job_.framework->gather_received_activation(job_), here);
    if (chunk.has_embedding() || chunk.has_head()) {
        const std::uint32_t end = chunk.has_embedding() ? 0 : job_.layout.pipeline - 1;
        calls(job_.framework->load_batch(job_, end), here);
    }
    if (chunk.predictions > 0 && !chunk.has_embedding()) {
        calls(job_.framework->load_batch(job_, 0), here);
        if (!chunk.has_head()) calls(job_.framework->load_batch(job_, job_.layout.pipeline - 1), here);
    }
    if (chunk.has_embedding()) embedding_forward(here);
}

void PassWriter::end_forward(At here) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    here.pass.where.layer = chunk.first_layer + chunk.layers;
    here.module = chunk.head_module;
    reduce_maxima(here);
    if (chunk.has_head()) head_forward(here);
    data_parallel_.end_pass(script_, here.pass);
}

void PassWriter::write_backward(const At& here, Halves halves) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    begin_backward(here, halves);
    if (halves == Halves::both && delays_weight_gradients(job_) == Setting::on) {
        delayed_backward(here);
    } else {
        for (std::uint32_t i = chunk.layers; i-- > 0;) {
            const At own = layer_at(here, chunk, i);
            repeat_layers_before(here, i, halves);
            if (predicts(own)) prediction_norm_backward(own, halves);
            layer(own, halves);
            if (predicts(own)) prediction_backward(own, halves);
        }
    }
    end_backward(here, halves);
}

void PassWriter::begin_backward(const At& here, Halves halves) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    At end = here;
    end.pass.where.layer = chunk.first_layer + chunk.layers;
    end.module = chunk.head_module;
    if (halves != Halves::weight) data_parallel_.begin_pass(script_, here.pass);
    if (halves != Halves::weight && !chunk.has_head()) calls(job_.framework->gather_before_backward(job_), end);
    if (chunk.has_head()) head_backward(end, halves);
}

void PassWriter::end_backward(const At& here, Halves halves) {
    if (halves != Halves::weight) reduce_maxima(here);
    if (stage_.chunks[here.pass.chunk].has_embedding()) embedding_backward(here, halves);
    if (halves != Halves::input) data_parallel_.end_pass(script_, here.pass);
}

// What backward of a layer needs that was not kept on the device.
void PassWriter::repeat_layers_before(const At& here, std::uint32_t i, Halves halves) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    const std::uint32_t group = job_.recompute.group();
    const bool ends_group = (i + 1) % group == 0 || i + 1 == chunk.layers;
    if (ends_group && halves != Halves::weight) recompute_group(here, i / group * group, i + 1);
    load_activations(layer_at(here, chunk, i), chunk, i);
}

// Layers of a chunk that forward kept the first one's input of.
void PassWriter::recompute_group(const At& here, std::uint32_t first, std::uint32_t end) {
    if (!runs_again(job_.recompute.of_layer(first))) return;
    At again = here;
    again.pass.pass = Pass::recompute;
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    calls(job_.framework->checkpoint_gather(job_), layer_at(again, chunk, first));
    for (std::uint32_t i = first; i < end; ++i) layer(layer_at(again, chunk, i), Halves::both);
}

// The table of tokens, perhaps one of positions, and perhaps a norm of their sum.
std::size_t PassWriter::end_of_embedding(const At& at) const {
    std::size_t end = at.module + 1;
    for (const std::string_view name : {"positions", "embedding norm"}) {
        if (end < stage_.modules.size() && stage_.modules[end].name == name) ++end;
    }
    return end;
}

void PassWriter::embedding_forward(const At& at) {
    for (std::size_t m = at.module; m < end_of_embedding(at); ++m) before(at, m);
    compute(at, "forward embedding", plan_.costs.embedding_forward);
    for (std::size_t m = at.module; m < end_of_embedding(at); ++m) after(at, m);
    calls(around(at, Piece::embedding, Pass::forward).after, at);
}

// Only the table's gradient: token ids have none.
void PassWriter::embedding_backward(const At& at, Halves halves) {
    if (halves != Halves::weight) calls(around(at, Piece::embedding, Pass::backward).before, at);
    if (halves == Halves::input) return;
    for (std::size_t m = end_of_embedding(at); m-- > at.module;) before(at, m);
    compute(at, "backward embedding", plan_.costs.embedding_backward);
    for (std::size_t m = end_of_embedding(at); m-- > at.module;) after(at, m);
}

void PassWriter::head_forward(const At& at) {
    const bool has_output_layer = stage_.modules.size() > at.module + 1;
    before(at, at.module);
    compute(at, "forward final norm", plan_.costs.final_norm_forward);
    after(at, at.module);
    for (std::uint32_t loss = 0; loss <= job_.model.mtp_layers; ++loss) {
        calls(around(at, Piece::head, Pass::forward).before, at);
        if (has_output_layer && loss == 0) before(at, at.module + 1);
        compute(at, "forward head", plan_.costs.head_forward);
        if (has_output_layer && loss == job_.model.mtp_layers) after(at, at.module + 1);
        calls(job_.framework->loss(job_), at);
    }
}

void PassWriter::loss_backward(const At& at, Halves halves) {
    const PartCosts& costs = plan_.costs;
    if (halves == Halves::weight) return compute(at, "backward head weights", costs.head_weight_backward);
    const Around& around = this->around(at, Piece::head, Pass::backward);
    const std::vector<ActionId> issued = issue(around.beside, at);
    compute(at, "backward head", costs.head_input_backward);
    wait(issued);
    sum_gradients(at, {.weight = costs.head_weight_backward, .label = "backward head weights"}, around, halves);
}

void PassWriter::head_backward(const At& at, Halves halves) {
    const PartCosts& costs = plan_.costs;
    const bool has_output_layer = stage_.modules.size() > at.module + 1;
    if (has_output_layer && halves != Halves::weight) before(at, at.module + 1);
    for (std::uint32_t loss = 0; loss <= job_.model.mtp_layers; ++loss) loss_backward(at, halves);
    if (has_output_layer && halves != Halves::input) after(at, at.module + 1);
    if (halves != Halves::weight) {
        before(at, at.module);
        compute(at, "backward final norm", costs.final_norm_backward);
    }
    if (halves != Halves::input) after(at, at.module);
}

}  // namespace weft
