// A stage of a GPT-NeoX-like model, and a player that runs a data-parallel engine through steps as a real stage would.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft::test {

constexpr std::uint64_t modules_per_layer = 6;

// Embedding, `layers` times six modules with biases everywhere, final norm, output layer without bias: what one of
// `ranks` tensor ranks holds. Norms and the biases of row-parallel matrices are not cut.
inline std::vector<StageModule> neox_stage(std::uint32_t layers, std::uint64_t h, std::uint64_t vocabulary = 50304,
                                           std::uint64_t ranks = 1) {
    std::vector<StageModule> modules{{{"embedding", false, {vocabulary * h / ranks}, {false}}, 0, 0}};
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        const auto add = [&](const char* name, std::uint64_t weight, std::uint64_t bias) {
            modules.push_back({{name, false, {weight, bias}, {weight == bias, true}}, layer, 0});
        };
        add("input norm", h, h);
        add("qkv", 3 * h * h / ranks, 3 * h / ranks);
        add("dense", h * h / ranks, h);
        add("post-attention norm", h, h);
        add("h_to_4h", 4 * h * h / ranks, 4 * h / ranks);
        add("4h_to_h", 4 * h * h / ranks, h);
    }
    modules.push_back({{"final norm", false, {h, h}, {true, true}}, layers, 0});
    modules.push_back({{"output layer", false, {h * vocabulary / ranks}, {false}}, layers, 0});
    return modules;
}

struct NamedModel {
    std::string name;
    std::uint32_t layers;
    std::uint64_t hidden;
    double bucket_elements;  // as its configuration file has it; 0: the framework's default
};
inline const std::vector<NamedModel>& neox_models() {
    static const std::vector<NamedModel> models{{"19M", 6, 512, 0},
                                                {"125M", 12, 768, 0},
                                                {"1.3B", 24, 2048, 0},
                                                {"13B", 40, 5120, 0},
                                                {"20B", 44, 6144, 1.26e9}};
    return models;
}

inline std::uint64_t elements_of(const std::vector<StageModule>& modules) {
    std::uint64_t sum = 0;
    for (const StageModule& module : modules) {
        for (const std::uint64_t elements : module.tensors) sum += elements;
    }
    return sum;
}

// The part of a run in which a call was written.
enum class Part { start_up, begin, forward, backward, gradients, before_optimizer, after_optimizer };

struct PlayedCall {
    Part part;
    Call call;
    Where where;
    bool beside;  // issued rather than blocking
};

struct Player {
    const std::vector<StageModule>& modules;
    DataParallel& engine;
    Checkpointing checkpointing = Checkpointing::every_layer;
    Script script{};
    std::vector<std::pair<std::size_t, Part>> parts{};  // from which action on

    void mark(Part part) { parts.emplace_back(script.actions().size(), part); }

    void module(PassAt at, std::size_t index) {
        at.where.layer = modules[index].layer;
        engine.before(script, at, index);
        const std::array names{"forward", "recompute", "backward"};
        script.compute(names[static_cast<std::size_t>(at.pass)], Seconds{1e-3}, at.where);
        engine.after(script, at, index);
    }

    void start_up() {
        mark(Part::start_up);
        engine.start_up(script);
    }

    void forward(std::uint32_t micro_batch, Accumulation accumulation) {
        mark(Part::forward);
        const PassAt at{Pass::forward, {micro_batch, 0}, 0, accumulation};
        engine.begin_pass(script, at);
        for (std::size_t i = 0; i < modules.size(); ++i) module(at, i);
        engine.end_pass(script, at);
    }

    // Layer by layer: recomputed as a whole, then differentiated in reverse. The embedding and what follows the last
    // layer are not recomputed.
    void backward(std::uint32_t micro_batch, Accumulation accumulation) {
        mark(Part::backward);
        PassAt at{Pass::backward, {micro_batch, 0}, 0, accumulation};
        engine.begin_pass(script, at);
        const std::size_t tail = modules.size() - 2;  // final norm
        module(at, tail + 1);
        module(at, tail);
        for (std::size_t end = tail; end > 1; end -= modules_per_layer) {
            at.pass = Pass::recompute;
            if (checkpointing == Checkpointing::every_layer) {
                for (std::size_t i = end - modules_per_layer; i < end; ++i) module(at, i);
            }
            at.pass = Pass::backward;
            for (std::size_t i = end; i-- > end - modules_per_layer;) module(at, i);
        }
        module(at, 0);
        engine.end_pass(script, at);
    }

    void begin_step() {
        mark(Part::begin);
        engine.begin_step(script);
    }

    void step(std::uint32_t micro_batches) {
        begin_step();
        for (std::uint32_t i = 0; i < micro_batches; ++i) {
            const auto accumulation = i + 1 == micro_batches ? Accumulation::complete : Accumulation::continues;
            forward(i, accumulation);
            backward(i, accumulation);
        }
        mark(Part::gradients);
        engine.finish_gradients(script);
        mark(Part::before_optimizer);
        engine.before_optimizer(script);
        mark(Part::after_optimizer);
        engine.after_optimizer(script);
    }

    std::vector<PlayedCall> calls() const {
        std::vector<PlayedCall> played;
        std::size_t part = 0;
        for (std::size_t i = 0; i < script.actions().size(); ++i) {
            const Action& action = script.actions()[i];
            if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
            while (part + 1 < parts.size() && parts[part + 1].first <= i) ++part;
            played.push_back(
                {parts[part].second, script.calls()[action.subject], action.where, action.kind == Action::Kind::issue});
        }
        return played;
    }
};

// The calls of one step (and of start-up, where asked for).
using Factory = std::unique_ptr<DataParallel> (*)(const ShardingInput&);

inline std::vector<PlayedCall> play_step(Factory make, ShardingInput input, const std::vector<StageModule>& modules) {
    input.modules = modules;
    const auto engine = make(input);
    Player player{modules, *engine, input.checkpointing};
    player.step(input.micro_batches);
    return player.calls();
}

inline std::vector<PlayedCall> play_start_up(Factory make, ShardingInput input,
                                             const std::vector<StageModule>& modules) {
    input.modules = modules;
    const auto engine = make(input);
    Player player{modules, *engine, input.checkpointing};
    player.start_up();
    return player.calls();
}

}  // namespace weft::test
