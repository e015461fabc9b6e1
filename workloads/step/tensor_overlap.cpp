// Pieces of a layer with what tensor ranks exchange around them, one after another or, under megatron.overlap_tensor,
// side by side (Transformer Engine's user buffers, ring exchange: common/comm_gemm_overlap; Megatron-LM
// --tp-comm-overlap). The product then runs in `tensor` chunks of the tokens: each as soon as its tokens have come, or
// with its sums sent as soon as they are done. With chunks alike and transfers alike, over
//   product P, communication C of t - 1 equal steps:  max(P (t - 1) / t, C) + P / t
// both ways: own tokens are there at the start and the last ones come at the end of C; what is sent first is computed
// first. So one chunk runs before (scatter) or after (gather) the call, and the rest beside it. Chunks of one product
// run on several streams and fill each other's last waves, so that together they take as long as the whole.
// What backward exchanges beside another product (saved inputs, sums of input gradients) is so in every case.
#include "workloads/framework/calls.hpp"
#include "workloads/step/pass_writer.hpp"

namespace weft {

bool PassWriter::overlaps_tensor() const { return sequence_parallel_ && job_.megatron.overlap_tensor == Setting::on; }

// Of a product, all chunks but one.
Seconds PassWriter::beside(Seconds product) const {
    return product * (static_cast<double>(job_.layout.tensor - 1) / job_.layout.tensor);
}

void PassWriter::reduce_output(const At& at) {
    if (job_.layout.tensor == 1) return;
    call(sequence_parallel_ ? scatter_hidden(job_, "reduce-scatter layer") : reduce_hidden(job_, "all-reduce layer"),
         at);
}

// `product` of the `whole` duration needs what is gathered.
void PassWriter::gather_beside(const At& at, Piece piece, const Call& gather, Seconds whole, Seconds product) {
    const ActionId gathered = script_.issue(gather, at.pass.where, script_.now());
    compute(at, part_of(piece), beside(product));
    script_.wait(gathered);
    compute(at, part_of(piece), whole - beside(product));
}

void PassWriter::gathered_forward(const At& at, Piece piece) {
    const Call gather = gather_operand(job_, "all-gather layer");
    if (!overlaps_tensor()) {
        if (sequence_parallel_) call(gather, at);
        return piece_forward(at, piece);
    }
    const PieceCost& own = cost(at, piece);
    const std::size_t module = module_of(at, own);
    before(at, module);
    gather_beside(at, piece, gather, own.forward, own.forward_product);
    after(at, module);
}

void PassWriter::reduced_forward(const At& at, Piece piece) {
    if (!overlaps_tensor()) {
        piece_forward(at, piece);
        return reduce_output(at);
    }
    const PieceCost& own = cost(at, piece);
    const std::size_t module = module_of(at, own);
    const Seconds late = beside(own.forward_product);
    before(at, module);
    compute(at, part_of(piece), own.forward - late);
    const ActionId scattered =
        script_.issue(scatter_hidden(job_, "reduce-scatter layer"), at.pass.where, script_.now());
    compute(at, part_of(piece), late);
    after(at, module);
    script_.wait(scattered);
}

void PassWriter::gathered_backward(const At& at, Piece piece, Halves halves) {
    const Call gather = gather_operand(job_, "all-gather output gradient");
    if (!overlaps_tensor()) {
        if (sequence_parallel_) call(gather, at);
        return piece_backward(at, piece, halves);
    }
    const PieceCost& own = cost(at, piece);
    const std::size_t module = module_of(at, own);
    before(at, module);
    gather_beside(at, piece, gather, own.input_backward, own.input_product);
    if (halves == Halves::input) return;
    compute(at, part_of(piece), own.weight_backward);
    after(at, module);
}

}  // namespace weft
