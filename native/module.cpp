// Python bindings.
#include "array_layout.h"
#include "bound_gradients.h"
#include "bound_plan.h"
#include "calls.h"
#include "draws.h"
#include "in_turn.h"
#include "rebinding.h"
#include "rollout.h"

using namespace actuators;

namespace laws_alone {
// in laws_alone.cpp
void register_laws(py::module_& m);
}  // namespace laws_alone

namespace {

// padding between rows of a ring, in floats: a multiple of the page size would map all rows to the same cache sets
constexpr int64_t kStagger = 272, kStaggered = 384;

// Three zeroed arrays (depth, size) for delayed commands, in the layout that steps read.
std::vector<py::array_t<float>> ring(int64_t depth, int64_t size) {
    if (depth < 1 || depth > (1 << 16) || size < 0 || size > (int64_t{1} << 40) / depth)
        refuse("ring of " + std::to_string(depth) + " x " + std::to_string(size), "of a depth of 1 to 65536");
    const int64_t pitch = (size + 15) / 16 * 16 + (size > kStaggered ? kStagger : 0);
    auto* const memory = new Aligned<float>(kCommands * depth * pitch);
    const py::capsule owner(memory, [](void* given) { delete static_cast<Aligned<float>*>(given); });
    std::vector<py::array_t<float>> arrays;
    for (int c = 0; c < kCommands; ++c)
        arrays.emplace_back(std::vector<py::ssize_t>{depth, size},
                            std::vector<py::ssize_t>{pitch * static_cast<py::ssize_t>(sizeof(float)), sizeof(float)},
                            memory->data() + c * depth * pitch, owner);
    return arrays;
}

// Seconds to read `count` arrays of `size` floats and write one, with the variant that steps use.
double time_stream(int count, int64_t size, int repetitions) {
    if ((count != 1 && count != 5 && count != 8) || size < 1 || repetitions < 1)
        refuse("count, size, repetitions", "1, 5 or 8 arrays, and positive");
    std::vector<Aligned<float>> arrays;
    for (int k = 0; k <= count; ++k) arrays.emplace_back(size, 1.0f);
    std::vector<const float*> inputs;
    for (int k = 0; k < count; ++k) inputs.push_back(arrays[k].data());
    const Variant& variant = choose_variant();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < repetitions; ++k) variant.stream(inputs.data(), count, arrays[count].data(), size);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repetitions;
}

// Rejects uninitialized objects, which `__new__` without `__init__` creates.
template <class... Made>
void refuse_empty() {
    for (py::detail::type_info* one : {py::detail::get_type_info(typeid(Made))...})
        one->operator_new = [](size_t) -> void* {
            throw py::type_error("an object of the core: must be made by its class.");
        };
}

}  // namespace

PYBIND11_MODULE(core, m) {
    m.doc() = "The actuator step in C++; see native/ in the repository.";
    // of another processor, it is of no use
    if (!std::getenv("ACTUATORS_ISA")) choose_variant();
    // a wrong type inside a list or tuple is a TypeError, too
    py::register_local_exception_translator([](std::exception_ptr raised) {
        try {
            if (raised) std::rethrow_exception(raised);
        } catch (const py::cast_error& error) {
            PyErr_SetString(PyExc_TypeError, error.what());
        }
    });
    py::class_<BoundState>(m, "State")
        .def(py::init<const std::vector<py::object>&, const py::object&, const py::object&,
                      const std::vector<py::object>&>(),
             py::arg("buffers"), py::arg("num_pushes"), py::arg("write_idx"), py::arg("laws"));
    py::class_<Tape, std::shared_ptr<Tape>>(m, "Tape")
        .def(py::init<std::vector<int64_t>, std::vector<int32_t>, const std::vector<int>&, int64_t, int64_t, int64_t>(),
             py::arg("robots"), py::arg("slots"), py::arg("arrays"), py::arg("capacity"), py::arg("all_robots"),
             py::arg("all_slots"))
        .def("__len__", &Tape::count);
    py::class_<BoundPlan>(m, "Plan")
        .def(py::init<const std::string&, int64_t, int64_t, const std::vector<float>&, const BoundPlan::Members&,
                      const BoundPlan::Members&, const std::vector<int32_t>&, int64_t, const BoundPlan::Networks&,
                      const BoundPlan::Members&, const std::vector<std::tuple<size_t, int64_t, bool>>&>(),
             py::arg("label"), py::arg("robots"), py::arg("slots"), py::arg("neutral"), py::arg("controllers"),
             py::arg("limits"), py::arg("delayed"), py::arg("depth"), py::arg("networks") = BoundPlan::Networks{},
             py::arg("feedback") = BoundPlan::Members{},
             py::arg("late") = std::vector<std::tuple<size_t, int64_t, bool>>{})
        .def("share", &BoundPlan::share, py::arg("row"), py::arg("values"))
        .def("own", &BoundPlan::own, py::arg("row"), py::arg("values"))
        .def("share_lag", &BoundPlan::share_lag, py::arg("values"))
        .def("own_lag", &BoundPlan::own_lag, py::arg("values"))
        .def("own_piece", &BoundPlan::own_piece, py::arg("row"), py::arg("values"), py::arg("slots"))
        .def("own_lag_piece", &BoundPlan::own_lag_piece, py::arg("values"), py::arg("slots"))
        .def("add_curve", &BoundPlan::add_curve, py::arg("law"), py::arg("number"), py::arg("rows"), py::arg("slots"))
        .def("bind_columns", &BoundPlan::bind_columns, py::arg("inputs"), py::arg("efforts"), py::arg("columns"))
        .def("follower", &follower, py::arg("given"))
        .def_property_readonly("arrays", &BoundPlan::arrays)
        .def("bind_indices", &BoundPlan::bind_indices, py::arg("names"), py::arg("arrays"), py::arg("indices"))
        .def("use", &BoundPlan::use, py::arg("now"), py::arg("after"))
        .def("hand_over", &BoundPlan::hand_over, py::arg("signals"), py::arg("bad"), py::arg("efforts"),
             py::arg("computed"))
        .def("give_signal", &BoundPlan::give_signal, py::arg("number"), py::arg("values"))
        .def("add_published", &BoundPlan::add_published, py::arg("array"), py::arg("signal"), py::arg("neutral"),
             py::arg("row"))
        .def("set_totals", &BoundPlan::set_totals, py::arg("totals"))
        .def("set_linkages", &BoundPlan::set_linkages, py::arg("linkages"))
        .def("publish", &BoundPlan::publish)
        .def("start_at", &BoundPlan::start_at, py::arg("starts"))
        .def("measure", &BoundPlan::measure, py::arg("arrays"))
        .def("observe", &BoundPlan::observe, py::arg("computed"), py::arg("limited_by"), py::arg("motor") = py::none(),
             py::arg("motor_stages") = 0)
        .def("record", &BoundPlan::record, py::arg("tape").none(false))
        .def("stop_recording", &BoundPlan::stop_recording, py::arg("tape").none(false))
        .def("read", &BoundPlan::read, py::arg("tape"), py::arg("which"))
        .def_property_readonly("step", [](const py::object& plan) { return stepper(plan, py::none()); })
        .def("stepper", &stepper, py::arg("check"))
        .def("command", &BoundPlan::command, py::arg("dt"))
        .def("limit", &BoundPlan::limit)
        .def("time_steps", &BoundPlan::time_steps, py::arg("count"), py::arg("dt"))
        .def("reset", &BoundPlan::reset, py::arg("robots") = py::none())
        .def("unsettle", &BoundPlan::unsettle)
        .def("faults", &BoundPlan::faults)
        .def("on_fault", &BoundPlan::on_fault, py::arg("call"))
        .def("set_faults", &BoundPlan::set_faults, py::arg("faults"), py::arg("steps"))
        .def_property_readonly("steps", &BoundPlan::steps)
        .def_property_readonly("variant", [](const BoundPlan& bound) { return bound.plan.variant(); })
        .def_property_readonly("layout", &BoundPlan::layout)
        .def_property_readonly("memory", &BoundPlan::memory);
    py::class_<BoundNoted>(m, "Noted");
    py::class_<BoundGradients>(m, "Gradients")
        .def(py::init<int64_t, const std::string&, const BoundPlan::Networks&, const std::vector<std::string>&,
                      const std::vector<std::vector<py::object>>&, int64_t, const std::string&>(),
             py::arg("elements"), py::arg("controller"), py::arg("networks"), py::arg("limits"), py::arg("curves"),
             py::arg("depth"), py::arg("sensor") = "")
        .def("note", &BoundGradients::note, py::arg("signals"), py::arg("indices"), py::arg("parameters"),
             py::arg("state"), py::arg("lag"), py::arg("dt"))
        .def("efforts", &BoundGradients::efforts, py::arg("noted"))
        .def("back", &BoundGradients::back, py::arg("noted"), py::arg("efforts"), py::arg("effort_index"),
             py::arg("signals"), py::arg("indices"), py::arg("parameters"), py::arg("after"), py::arg("before"),
             py::arg("numbers") = py::none());
    py::class_<Calls>(m, "Calls", py::custom_type_setup(Calls::setup))
        .def(py::init<const std::vector<py::object>&, const std::vector<py::object>&, const std::vector<py::object>&,
                      const py::list&, bool, bool>(),
             py::arg("plans"), py::arg("state_names"), py::arg("control_names"), py::arg("watched"),
             py::arg("stateful"), py::arg("timed"))
        .def_property_readonly("step", &caller)
        .def("add_frame", &Calls::add_frame, py::arg("objects"), py::arg("names"), py::arg("arrays"),
             py::arg("indices"))
        .def("add_states", &Calls::add_states, py::arg("now"), py::arg("after"), py::arg("bound_now"),
             py::arg("bound_after"), py::arg("watched"))
        .def("is_current", &Calls::is_current);
    py::class_<BoundNetwork>(m, "Network")
        .def(py::init<int64_t, int64_t, int64_t, int64_t, int64_t, int, const std::vector<BoundNetwork::Line>&,
                      const Read<float>&>(),
             py::arg("inputs"), py::arg("columns"), py::arg("output"), py::arg("layers"), py::arg("hidden"),
             py::arg("states"), py::arg("instructions"), py::arg("numbers"))
        .def(
            "bind",
            [](const py::object& self, const py::object& x, const py::object& y, const std::vector<py::object>& now,
               const std::vector<py::object>& after) {
                return std::make_unique<BoundEvaluation>(self, x, y, now, after);
            },
            py::arg("x"), py::arg("y"), py::arg("now"), py::arg("after"))
        .def("set", &BoundNetwork::set, py::arg("numbers"))
        .def_property_readonly("variant", &BoundNetwork::variant);
    py::class_<BoundEvaluation>(m, "Evaluation").def("run", &BoundEvaluation::run);
    m.def(
        "address", [](const py::array& array) { return reinterpret_cast<uintptr_t>(array.data()); }, py::arg("array"));
    m.def("unchanged", &unchanged, py::arg("watched"));
    m.def("recognizer", &recognizer, py::arg("given"));
    py::class_<Transfer>(m, "Transfer")
        .def(py::init<const std::vector<py::tuple>&, const py::object&>(), py::arg("items"),
             py::arg("watched") = py::none())
        .def("run", &Transfer::run);
    py::class_<VelocityLimits>(m, "VelocityLimits")
        .def(py::init<const py::object&, std::vector<int32_t>, std::vector<int32_t>,
                      std::vector<VelocityLimits::Coupling>, const py::object&, const py::object&, double>(),
             py::arg("limits"), py::arg("position_columns"), py::arg("velocity_columns"), py::arg("couplings"),
             py::arg("positions"), py::arg("velocities"), py::arg("dt"))
        .def("run", &VelocityLimits::run);
    py::class_<Roots>(m, "Roots")
        .def(py::init<const py::object&, const py::object&, const std::vector<Roots::Item>&,
                      const std::array<double, 3>&, int64_t, const py::object&, const py::object&, const py::object&>(),
             py::arg("positions"), py::arg("velocities"), py::arg("items"), py::arg("down"), py::arg("robots"),
             py::arg("poses"), py::arg("rates"), py::arg("seen"))
        .def("run", &Roots::run)
        .def("update", &Roots::update, py::arg("envs"));
    py::class_<EffectiveInertias>(m, "EffectiveInertias")
        .def(py::init<const py::object&, const py::object&, std::vector<int32_t>, std::vector<int32_t>,
                      std::vector<int32_t>, std::vector<int32_t>, const py::object&, const py::object&>(),
             py::arg("factors"), py::arg("inverses"), py::arg("counts"), py::arg("starts"), py::arg("columns"),
             py::arg("chosen"), py::arg("out"), py::arg("coupled"))
        .def("run", &EffectiveInertias::run);
    py::class_<InTurn>(m, "InTurn")
        .def(py::init<std::vector<py::object>, py::object>(), py::arg("first"), py::arg("last"))
        .def("run", &InTurn::run);
    py::class_<Rollout>(m, "Rollout")
        .def(py::init<py::object, const py::object&, const py::object&, const py::object&, const py::object&,
                      const Rollout::Signals&>(),
             py::arg("plan"), py::arg("positions"), py::arg("velocities"), py::arg("targets"), py::arg("efforts"),
             py::arg("signals"))
        .def("run", &Rollout::run, py::arg("along"), py::arg("values"), py::arg("dt"), py::arg("substeps"),
             py::arg("out"), py::arg("watched") = std::vector<py::object>{}, py::arg("seen") = py::none());
    py::class_<Draws>(m, "Draws")
        .def(py::init<const std::vector<py::tuple>&, int64_t>(), py::arg("items"), py::arg("robots"))
        .def("draw", &Draws::draw, py::arg("rows"), py::arg("counts"), py::arg("first"));
    refuse_empty<BoundState, Tape, BoundPlan, BoundNoted, BoundGradients, Calls, BoundNetwork, BoundEvaluation,
                 Transfer, VelocityLimits, Roots, EffectiveInertias, InTurn, Rollout, Draws>();
    laws_alone::register_laws(m);
    m.def("ring", &ring, py::arg("depth"), py::arg("size"));
    m.def("time_stream", &time_stream, py::arg("count"), py::arg("size"), py::arg("repetitions"));
    m.def("variants", [] {
        std::vector<std::string> names;
        for (const Variant* one : variants())
            if (one->available()) names.push_back(one->name);
        return names;
    });
}
