// weft._weft: weft/weft.hpp for Python. What is convenient about it is in weft/*.py.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "tools/library/weft.hpp"

namespace {

namespace py = pybind11;
namespace lib = weft::library;

// Set when who asked for the work has left.
using Stop = std::shared_ptr<std::atomic<bool>>;
struct Stopped {};
Stop not_stopped() { return std::make_shared<std::atomic<bool>>(false); }

// Shared with work that may outlive the call; let go with the interpreter's lock, for what it holds of Python.
template <class Choices>
std::shared_ptr<const Choices> kept(Choices choices) {
    return {new Choices(std::move(choices)), [](const Choices* made) {
                const py::gil_scoped_acquire acquire;
                delete made;
            }};
}

// Work that was left when Ctrl-C came, and that ends by itself.
class Abandoned {
  public:
    template <class Result>
    void add(std::shared_ptr<std::future<Result>> result) {
        left_.push_back([result] { result->wait(); });
    }
    void wait() {  // with the interpreter's lock, which the work may need
        for (const std::function<void()>& each : left_) {
            const py::gil_scoped_release release;
            each();
        }
        left_.clear();
    }

  private:
    std::vector<std::function<void()>> left_;
};

Abandoned& abandoned() {
    static Abandoned all;
    return all;
}

// work() on a thread of its own, without the interpreter's lock, while this one hears of Ctrl-C.
template <class Work>
auto run(Work work, const Stop& stop = not_stopped()) {
    const auto result = std::make_shared<decltype(std::async(std::launch::async, std::move(work)))>(
        std::async(std::launch::async, std::move(work)));
    constexpr std::chrono::milliseconds first{2}, later{50};
    const auto ends_in = [&](std::chrono::milliseconds time) {
        const py::gil_scoped_release release;
        return result->wait_for(time) == std::future_status::ready;
    };
    for (bool ends = ends_in(first); !ends; ends = ends_in(later)) {
        if (PyErr_CheckSignals() == 0) continue;
        *stop = true;
        abandoned().add(result);
        throw py::error_already_set();
    }
    return result->get();
}

// `progress` is called with the interpreter's lock, from whatever thread the work is on; what it raises ends the work.
lib::WorkChoices choices(unsigned jobs, const py::object& progress, const Stop& stop) {
    return {.threads = jobs, .progress = [stop, progress](std::size_t done, std::size_t count) {
                if (*stop) throw Stopped();
                if (progress.is_none()) return;
                const py::gil_scoped_acquire acquire;
                progress(done, count);
            }};
}

template <class Value>
py::array column(const std::shared_ptr<const lib::TimelineColumns>& owner, const std::vector<Value>& values) {
    auto* const kept = new std::shared_ptr<const lib::TimelineColumns>(owner);  // NOLINT: the capsule owns it
    const py::capsule capsule(
        kept, [](void* pointer) { delete static_cast<std::shared_ptr<const lib::TimelineColumns>*>(pointer); });
    py::array_t<Value> array(static_cast<py::ssize_t>(values.size()), values.data(), capsule);
    array.attr("setflags")(py::arg("write") = false);
    return array;
}

py::dict timeline(const lib::SimulatedStep& step) {
    const auto columns = std::make_shared<const lib::TimelineColumns>(run([step] { return step.timeline(); }));
    py::dict made;
    made["rank"] = column(columns, columns->rank);
    made["stage"] = column(columns, columns->stage);
    made["lane"] = column(columns, columns->lane);
    made["label"] = column(columns, columns->label);
    made["posted"] = column(columns, columns->posted);
    made["begin"] = column(columns, columns->begin);
    made["end"] = column(columns, columns->end);
    made["lanes"] = columns->lanes;
    made["labels"] = columns->labels;
    return made;
}

// ConfigError of weft.errors, which carries diagnostics.
void translate(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const lib::InputError& error) {
        const py::object type = py::module_::import("weft.errors").attr("ConfigError");
        py::list mistakes;
        for (const lib::Mistake& each : error.mistakes()) {
            mistakes.append(
                py::make_tuple(each.file, each.line, each.column, each.key, each.message, each.suggestions));
        }
        PyErr_SetObject(type.ptr(), py::make_tuple(error.what(), mistakes).ptr());
    }
}

void add_step(py::module_& module) {
    py::class_<lib::SimulatedStep>(module, "Step")
        .def_property_readonly("fits", &lib::SimulatedStep::fits)
        .def_property_readonly("simulated", &lib::SimulatedStep::is_simulated)
        .def("metric", &lib::SimulatedStep::metric)
        .def("metrics", &lib::SimulatedStep::metrics)
        .def("text", &lib::SimulatedStep::text)
        .def("json", &lib::SimulatedStep::simulate_json, py::call_guard<py::gil_scoped_release>())
        .def("compare",
             [](const lib::SimulatedStep& step, std::vector<std::string> traces) {
                 return run([step, traces] { return step.compare_json(traces); });
             })
        .def("page", [](const lib::SimulatedStep& step) { return run([step] { return step.page(); }); })
        .def("write_trace", [](const lib::SimulatedStep& step,
                               const std::filesystem::path& path) { run([step, path] { step.write_trace(path); }); })
        .def("timeline", &timeline);
}

void add_job(py::module_& module) {
    py::class_<lib::WarmJob>(module, "Job")
        .def_static("open", &lib::WarmJob::open, py::call_guard<py::gil_scoped_release>())
        .def_static("read", &lib::WarmJob::read, py::call_guard<py::gil_scoped_release>())
        .def_property_readonly("notes", &lib::WarmJob::notes)
        .def("simulate",
             [](const lib::WarmJob& job, lib::Overrides overrides, std::string network, std::string folding,
                bool beyond_memory) {
                 return run([job, overrides = std::move(overrides), network = std::move(network),
                             folding = std::move(folding), beyond_memory] {
                     return job.simulate(overrides,
                                         {.network = network, .folding = folding, .beyond_memory = beyond_memory});
                 });
             })
        .def("explain",
             [](const lib::WarmJob& job, lib::Overrides overrides, unsigned jobs, const py::object& progress) {
                 const Stop stop = not_stopped();
                 const auto choice = kept(choices(jobs, progress, stop));
                 return run(
                     [job, overrides = std::move(overrides), choice] { return job.explain_json(overrides, *choice); },
                     stop);
             })
        .def("plan",
             [](const lib::WarmJob& job, std::vector<std::string> among, bool modelled, std::size_t top, unsigned jobs,
                const py::object& progress) {
                 const Stop stop = not_stopped();
                 const auto choice =
                     kept(lib::PlanChoices{choices(jobs, progress, stop), std::move(among), modelled, top});
                 return run([job, choice] { return job.plan_json(*choice); }, stop);
             })
        .def("sweep", [](const lib::WarmJob& job, std::vector<std::string> vary, std::vector<std::string> zip,
                         std::vector<std::string> where, std::string network, std::string folding, unsigned jobs,
                         const py::object& progress) {
            const Stop stop = not_stopped();
            const auto choice = kept(lib::SweepChoices{choices(jobs, progress, stop), std::move(vary), std::move(zip),
                                                       std::move(where), std::move(network), std::move(folding)});
            lib::SweepTable table = run([job, choice] { return job.sweep(*choice); }, stop);
            return py::make_tuple(std::move(table.columns), std::move(table.units), std::move(table.rows));
        });
}

}  // namespace

PYBIND11_MODULE(_weft, module) {
    py::register_exception_translator(translate);
    py::module_::import("atexit").attr("register")(py::cpp_function([] { abandoned().wait(); }));
    module.attr("version") = std::string(lib::version());

    add_step(module);
    add_job(module);
    module.def("command", [](std::string name, std::vector<std::string> arguments) {
        return run(
            [name = std::move(name), arguments = std::move(arguments)] { return lib::command_text(name, arguments); });
    });
    module.def("import_files", &lib::import_json, py::call_guard<py::gil_scoped_release>());
    module.def("model", &lib::model_json, py::call_guard<py::gil_scoped_release>());
    module.def("machines", &lib::machines);
    module.def("models", &lib::models);
}
