// A layer, embedding and loss as PyTorch runs them where nothing is fused: every operator is a kernel that reads its
// operands and writes its result, and maps of one input are products of their own.
//
// `plain` is a decoder of torch.nn modules as torchtitan writes it (models/llama3/model/model.py: RMSNorm and LayerNorm
// by PyTorch's kernels, before its 2.9 operator by operator, rotation by complex numbers in fp32, SwiGLU as silu and
// product; experts by grouped products, models/moe/moe.py), `transformers` Hugging Face's
// (models/llama/modeling_llama.py: LlamaRMSNorm operator by operator in fp32, rotate_half in the precision of the
// heads). Operators and what each moves were read from Kineto traces of such steps (PyTorch 2.11): names, shapes,
// types. Kernels that move less than a map's bias are left out.
//
// Under autocast (DistributedDataParallel, weights in fp32) the activation between blocks and its norms are in fp32,
// and each map casts its input; the gradients come back the same way.
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

constexpr double fp32 = 4;

Kernel pass(std::string_view name, double elements, double bytes, PassClass of, double launches = 1) {
    Kernel kernel = memory_kernel(name, elements, bytes);
    kernel.pass = of;
    kernel.launches = launches;
    return kernel;
}

class EagerLayer {
  public:
    EagerLayer(const Transformer& model, LayerKind kind, const Shard& shard)
        : model_(model), kind_(kind), shard_(shard), size_(model, shard), e_(shard.element_bytes) {}

    void rewrite(LayerPiece& piece) const {
        const Fused fused = take_out(piece);
        switch (piece.piece) {
            case Piece::input_norm:
            case Piece::post_norm:
            case Piece::residual:
                for (int i = 0; i < fused.sums; ++i) residual(piece);
                for (int i = 0; i < fused.norms; ++i) norm(piece);
                for (int i = 0; i < fused.gradient_sums; ++i) {
                    piece.input_backward.push_back(
                        pass("residual gradient", size_.own_state, 3.0 * state_bytes(), PassClass::element_wise));
                }
                break;
            case Piece::qkv:
                if (is_recurrent(model_.mixer)) {
                    inputs(piece, 1);
                    break;
                }
                split(piece, "qkv", separate_maps());
                biases(piece);
                rotation(piece);
                inputs(piece, 3);
                break;
            case Piece::projection:
            case Piece::mlp_down:
                biases(piece);
                break;
            case Piece::mlp_up:
                if (model_.gated) split(piece, "h_to_4h", {size_.ffn, size_.ffn});
                biases(piece);
                activation_of(piece, size_.tokens * size_.ffn);
                inputs(piece, model_.gated ? 2 : 1);
                break;
            case Piece::permute:
                dispatch(piece);
                break;
            case Piece::experts:
                experts(piece);
                break;
            case Piece::unpermute:
                combine(piece);
                break;
            default:
                break;  // as it is
        }
    }

  private:
    std::vector<double> separate_maps() const {
        const double t = shard_.tensor, keys = static_cast<double>(key_width(model_)) / t;
        std::vector<double> outputs{size_.queries + static_cast<double>(gate_width(model_)) / t, keys};
        if (!model_.keys_are_values) outputs.push_back(static_cast<double>(value_width(model_)) / t);
        return outputs;
    }
    double state_bytes() const { return shard_.autocast == Autocast::on ? fp32 : e_; }

    // What the fused passes of a piece do.
    struct Fused {
        int norms = 0, sums = 0, gradient_sums = 0;  // of the activation between blocks
    };

    // Takes out the passes that PyTorch's own kernels stand for. Those of router, shared experts, dropout, norms of
    // heads and attention that is not fused stay as they are counted.
    static Fused take_out(LayerPiece& piece) {
        Fused fused;
        if (piece.piece == Piece::router || piece.piece == Piece::core || piece.piece == Piece::shared_up ||
            piece.piece == Piece::shared_down) {
            return fused;
        }
        for (const Kernel& kernel : piece.forward) {
            fused.norms += kernel.name.ends_with("norm") && piece.piece != Piece::qkv;
            fused.sums += kernel.name.ends_with("residual");
        }
        for (const Kernel& kernel : piece.input_backward)
            fused.gradient_sums += kernel.name.ends_with("residual gradient");
        const auto stands_for = [](const Kernel& kernel) {
            return kernel.kind == KernelKind::memory && kernel.name.find("dropout") == std::string_view::npos &&
                   !kernel.name.starts_with("query and key norm");
        };
        for (std::vector<Kernel>* const kernels : {&piece.forward, &piece.input_backward, &piece.weight_backward})
            std::erase_if(*kernels, stands_for);
        return fused;
    }

    // One map of several outputs becomes a product for each.
    void split(LayerPiece& piece, std::string_view map, const std::vector<double>& widths) const {
        const auto cut = [&](std::vector<Kernel>& kernels, double Kernel::*outputs) {
            std::vector<Kernel> parts;
            for (const Kernel& kernel : kernels) {
                if (!kernel.name.starts_with(map)) {
                    parts.push_back(kernel);
                    continue;
                }
                Kernel part = kernel;
                for (const double width : widths) {
                    part.*outputs = width;
                    parts.push_back(gemm_kernel(part.name, part.m, part.n, part.k, e_, part.count));
                    parts.back().parameters = true;
                }
            }
            kernels = std::move(parts);
        };
        cut(piece.forward, &Kernel::n);
        cut(piece.input_backward, &Kernel::k);
        cut(piece.weight_backward, &Kernel::m);
    }

    void biases(LayerPiece& piece) const {
        const bool biased = piece.piece == Piece::qkv          ? model_.biases.qkv
                            : piece.piece == Piece::projection ? model_.biases.projection
                                                               : model_.biases.mlp;
        if (!biased) return;
        std::vector<Kernel> sums;
        for (const Kernel& product : piece.weight_backward) {
            if (product.kind == KernelKind::gemm)
                sums.push_back(pass("bias gradient", product.m * product.k * product.count, e_, PassClass::reduction));
        }
        piece.weight_backward.insert(piece.weight_backward.end(), sums.begin(), sums.end());
    }

    void norm(LayerPiece& piece) const {
        const double s = state_bytes();
        if (norms_in_parts(model_, shard_.modules, shard_.pytorch)) {
            // to fp32, square, mean, product with 1 / root, back, weight; and their gradients
            const double cast = s < fp32 ? s + fp32 : 0.0;
            piece.forward.push_back(
                pass("norm", size_.own_state, 2.0 * cast + 4.0 * fp32 + 2.0 * s, PassClass::element_wise, 6));
            piece.forward.push_back(pass("mean of squares", size_.own_state, fp32, PassClass::reduction));
            piece.input_backward.push_back(pass("norm gradient", size_.own_state, 5.0 * s + 2.0 * cast + 14.0 * fp32,
                                                PassClass::element_wise, 11));
            piece.input_backward.push_back(
                pass("norm weight gradient", size_.own_state, s + fp32, PassClass::reduction));
        } else {
            piece.forward.push_back(pass("norm", size_.own_state, 2.0 * s, PassClass::norm));
            piece.input_backward.push_back(pass("norm gradient", size_.own_state, 3.0 * s, PassClass::norm));
            piece.input_backward.push_back(pass("norm weight gradient", size_.own_state, 2.0 * s, PassClass::norm));
        }
    }

    // Maps of one input: casts of it, and the sum of its gradients.
    void inputs(LayerPiece& piece, double maps) const {
        const double s = state_bytes();
        if (maps > 1) {
            piece.input_backward.push_back(pass("sum of input gradients", size_.hidden_state, (maps - 1.0) * 3.0 * s,
                                                PassClass::element_wise, maps - 1.0));
        }
        if (shard_.autocast == Autocast::off) return;
        const double casts = maps * (e_ + fp32);
        piece.forward.push_back(pass("cast input", size_.hidden_state, casts, PassClass::element_wise, maps));
        piece.input_backward.push_back(pass("cast gradient", size_.hidden_state, casts, PassClass::element_wise, maps));
    }

    void rotation(LayerPiece& piece) const {
        if (!rotates(model_, kind_)) return;
        const double rotated = size_.tokens * size_.rotated;
        if (shard_.modules == ModuleCode::transformers) {
            piece.forward.push_back(pass("rotary", rotated, rotary_passes * e_, PassClass::element_wise, 10));
            piece.input_backward.insert(
                piece.input_backward.begin(),
                pass("rotary gradient", rotated, rotary_gradient_passes * e_, PassClass::element_wise, 18));
            return;
        }
        const auto turn = [&](bool forward) {
            const PassClass there = forward ? PassClass::strided : PassClass::element_wise;
            const PassClass back = forward ? PassClass::element_wise : PassClass::strided;
            return std::vector<Kernel>{
                pass(forward ? "rotary in fp32" : "rotary in fp32 gradient", rotated, e_ + fp32, there, 2),
                pass(forward ? "rotary" : "rotary gradient", rotated, 2.0 * fp32, PassClass::element_wise, 3),
                pass(forward ? "rotary back" : "rotary back gradient", rotated, fp32 + e_, back, 2)};
        };
        const std::vector<Kernel> forward = turn(true), backward = turn(false);
        piece.forward.insert(piece.forward.end(), forward.begin(), forward.end());
        piece.input_backward.insert(piece.input_backward.begin(), backward.begin(), backward.end());
    }

    // SwiGLU as silu and product, whose gradients are two products and that of silu; or one function.
    void activation_of(LayerPiece& piece, double inner) const {
        if (model_.gated) {
            piece.forward.push_back(pass("silu", inner, 2.0 * e_, PassClass::element_wise));
            piece.forward.push_back(pass("gate", inner, 3.0 * e_, PassClass::element_wise));
            piece.input_backward.push_back(pass("gate gradient", inner, 6.0 * e_, PassClass::element_wise, 2));
            piece.input_backward.push_back(pass("silu gradient", inner, 3.0 * e_, PassClass::element_wise));
        } else {
            piece.forward.push_back(pass("gelu", inner, 2.0 * e_, PassClass::element_wise));
            piece.input_backward.push_back(pass("gelu gradient", inner, 3.0 * e_, PassClass::element_wise));
        }
    }

    // Under autocast the sum of fp32 and 16 bits, and the gradient of the latter.
    void residual(LayerPiece& piece) const {
        const double s = state_bytes();
        piece.forward.push_back(pass("residual", size_.own_state, 2.0 * s + e_, PassClass::element_wise));
        if (shard_.autocast == Autocast::on) {
            piece.input_backward.push_back(pass("cast gradient", size_.own_state, e_ + fp32, PassClass::element_wise));
        }
    }

    // Rows of tokens by index in the order of their experts; backward adds them up by index.
    void dispatch(LayerPiece& piece) const {
        const ExpertSizes expert(model_, shard_);
        const double moved = expert.dispatched * expert.hidden;
        piece.forward.push_back(pass("rows of experts", moved, 2.0 * e_, PassClass::gathered, 24));
        piece.input_backward.push_back(pass("rows of experts gradient", moved, 3.0 * e_, PassClass::gathered, 12));
        piece.input_backward.push_back(pass("sum of gradients", size_.own_state, 3.0 * e_, PassClass::element_wise));
    }

    void experts(LayerPiece& piece) const {
        const ExpertSizes expert(model_, shard_);
        if (model_.gated) split(piece, "experts up", {expert.ffn, expert.ffn});
        activation_of(piece, expert.received() * expert.ffn);
        if (model_.gated) {
            piece.input_backward.push_back(
                pass("sum of input gradients", expert.received() * expert.hidden, 3.0 * e_, PassClass::element_wise));
        }
    }

    // Weighted by their probabilities and added into zeros; backward takes rows by index, and the probabilities'
    // gradients are sums over products.
    void combine(LayerPiece& piece) const {
        const ExpertSizes expert(model_, shard_);
        const double moved = expert.dispatched * expert.hidden;
        piece.forward.push_back(pass("weighted rows", moved, 2.0 * e_, PassClass::broadcast));
        piece.forward.push_back(pass("sum of rows", moved, 3.0 * e_, PassClass::gathered, 4));
        piece.input_backward.push_back(pass("sum of rows gradient", moved, 2.0 * e_, PassClass::gathered));
        piece.input_backward.push_back(pass("weighted rows gradient", moved, 2.0 * e_, PassClass::broadcast));
        piece.input_backward.push_back(pass("probabilities' gradient", moved, 3.0 * e_, PassClass::element_wise));
        piece.input_backward.push_back(pass("probabilities' sums", moved, e_, PassClass::reduction));
    }

    const Transformer& model_;
    LayerKind kind_;
    const Shard& shard_;
    ShardSizes size_;
    double e_;
};

}  // namespace

void run_eagerly(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard) {
    const EagerLayer layer(model, kind, shard);
    for (LayerPiece& piece : pieces) layer.rewrite(piece);
}

// Logits to fp32 and their logarithms; backward a gradient of zeros but for the targets, that of the logarithms, and
// back to working precision. The softmax reads its input twice, once for maximum and sum.
std::vector<Kernel> eager_loss(double logits, double element_bytes) {
    return {pass("logits in fp32", logits, element_bytes + fp32, PassClass::strided),
            pass("cross entropy", logits, 3.0 * fp32, PassClass::softmax)};
}
std::vector<Kernel> eager_loss_gradient(double logits, double element_bytes) {
    return {pass("targets' gradient", logits, fp32, PassClass::element_wise),
            pass("cross entropy gradient", logits, 3.0 * fp32, PassClass::softmax),
            pass("logits' gradient", logits, fp32 + element_bytes, PassClass::element_wise)};
}

}  // namespace weft
