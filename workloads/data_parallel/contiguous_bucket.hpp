// The contiguous gradient bucket of DeepSpeed's ZeRO optimizers: reduced before a tensor that would overfill it is
// added. A tensor larger than the bucket is reduced alone.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

class ContiguousBucket {
  public:
    explicit ContiguousBucket(double limit) : limit_(limit) {}

    bool empty() const { return tensors_.empty(); }
    bool overfilled_by(double elements) const { return filled_ > 0 && filled_ + elements > limit_; }
    double limit() const { return limit_; }    // elements
    double filled() const { return filled_; }  // elements
    const std::vector<std::size_t>& tensors() const { return tensors_; }

    void add(std::size_t tensor, double elements) {
        tensors_.push_back(tensor);
        filled_ += elements;
    }
    void clear() {
        tensors_.clear();
        filled_ = 0;
    }

  private:
    double limit_;
    double filled_ = 0;
    std::vector<std::size_t> tensors_;
};

}  // namespace weft
