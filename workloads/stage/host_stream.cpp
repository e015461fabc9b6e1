#include "workloads/stage/host_stream.hpp"

namespace weft {

void HostStream::synchronise() {
    if (plan_.host_bound) ready_ = script_.now();
}

void HostStream::begin() {
    operations_ = 0;
    first_ = script_.actions().size();
}

void HostStream::end(Where where) {
    if (!plan_.host_bound) return;
    double launches = operations_;
    for (std::size_t i = first_; i < script_.actions().size(); ++i) {
        const Action::Kind kind = script_.actions()[i].kind;
        if (kind == Action::Kind::call || kind == Action::Kind::issue) launches += 1;
    }
    script_.wait(script_.launch("launch", plan_.device.host_launch * launches, where, ready_));
    ready_ = Action::none;  // from here on the host's own order says it
}

void HostStream::wait_for_results(ActionId result, Where where) {
    if (!plan_.host_bound) return;
    end(where);
    ready_ = result;
    begin();
}

}  // namespace weft
