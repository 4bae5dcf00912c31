// Generated laws in isolation, for the conformance test: columns of numbers in, columns of results out.
#if defined(__GNUC__) && !defined(__clang__)
// for tests, which wait longer for the compiler than for the laws
#pragma GCC optimize("O1")
#endif
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// compiled once, with instructions that all processors have
#define ACTUATORS_VARIANT laws_alone
#include "generated_laws.h"
#include "lanes.h"
#include "variants.h"

namespace laws_alone {

namespace py = pybind11;
using Column = py::array_t<float>;

// Evaluation of a law, or of its parameter preparation, on columns of `count` numbers.
using Evaluate = void (*)(const float* const* in, float* const* out, py::ssize_t count);

struct Entry {
    const char *name, *kind;
    int results, parameters, prepared, states, curves, asked, arguments;
    bool timed;
    Evaluate law, prepare;
};

template <class Law, size_t... K>
void evaluate_law(const float* const* in, float* const* out, py::ssize_t count, std::index_sequence<K...>) {
    for (py::ssize_t i = 0; i < count; ++i) {
        const auto results = Law::law(in[K][i]...);
        for (int k = 0; k < Law::kResults + Law::kStates; ++k) out[k][i] = results.at[k];
    }
}

template <class Law, size_t... K>
void evaluate_prepare(const float* const* in, float* const* out, py::ssize_t count, std::index_sequence<K...>) {
    for (py::ssize_t i = 0; i < count; ++i) {
        const auto results = Law::prepare(in[K][i]...);
        for (int k = 0; k < Law::kPrepared; ++k) out[k][i] = results.at[k];
    }
}

template <class Law>
Entry entry_of() {
    return {Law::kName,
            Law::kKind,
            Law::kResults,
            Law::kParameters,
            Law::kPrepared,
            Law::kStates,
            Law::kCurves,
            Law::kAsked,
            Law::kArguments,
            Law::kTimed,
            [](const float* const* in, float* const* out, py::ssize_t count) {
                evaluate_law<Law>(in, out, count, std::make_index_sequence<Law::kArguments>());
            },
            [](const float* const* in, float* const* out, py::ssize_t count) {
                evaluate_prepare<Law>(in, out, count, std::make_index_sequence<Law::kParameters + 1>());
            }};
}

template <class... Law>
void add_entries(std::vector<Entry>& entries, List<Law...>) {
    (entries.push_back(entry_of<Law>()), ...);
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> made;
        add_entries(made, Controllers());
        add_entries(made, EffortStages());
        add_entries(made, Feedbacks());
        return made;
    }();
    return all;
}

const Entry& entry_named(const std::string& name) {
    std::string known;
    for (const Entry& one : entries()) {
        if (name == one.name) return one;
        known += std::string(known.empty() ? "" : ", ") + one.name;
    }
    throw std::invalid_argument("name = " + name + ": must be one of " + known + ".");
}

// A float32 argument of the given shape; -1 matches any length.
Column float_array(const std::string& name, const py::handle& given, const std::vector<py::ssize_t>& shape) {
    bool good =
        py::isinstance<py::array>(given) && py::reinterpret_borrow<py::array>(given).dtype().is(py::dtype::of<float>());
    if (good) {
        const auto array = py::reinterpret_borrow<py::array>(given);
        good = array.ndim() == static_cast<py::ssize_t>(shape.size()) && (array.flags() & py::array::c_style) &&
               reinterpret_cast<uintptr_t>(array.data()) % sizeof(float) == 0;
        for (size_t axis = 0; good && axis < shape.size(); ++axis)
            good = shape[axis] < 0 || array.shape(static_cast<py::ssize_t>(axis)) == shape[axis];
    }
    if (!good) {
        std::string wanted;
        for (const py::ssize_t size : shape) wanted += (size < 0 ? "any" : std::to_string(size)) + ",";
        throw std::invalid_argument(name + ": must be a contiguous NumPy array of float32, shape (" + wanted + ").");
    }
    return py::reinterpret_borrow<Column>(given);
}

std::vector<Column> evaluate(Evaluate function, const py::list& columns, int arguments, int results) {
    if (columns.size() != static_cast<size_t>(arguments))
        throw std::invalid_argument("columns has " + std::to_string(columns.size()) + " arrays: must be " +
                                    std::to_string(arguments) + ".");
    std::vector<Column> in, out;
    std::vector<const float*> from;
    std::vector<float*> to;
    for (size_t k = 0; k < columns.size(); ++k) {
        const py::ssize_t size = in.empty() ? -1 : in[0].shape(0);
        in.push_back(float_array("columns[" + std::to_string(k) + "]", columns[k], {size}));
        from.push_back(in.back().data());
    }
    const py::ssize_t count = in.empty() ? 0 : in[0].shape(0);
    for (int k = 0; k < results; ++k) {
        out.emplace_back(count);
        to.push_back(out.back().mutable_data());
    }
    function(from.data(), to.data(), count);
    return out;
}

// Values of a curve, lane-wise.
template <class V>
V curve_at(V position, const float* rows, py::ssize_t count) {
    V point = splat<V>(rows[0]), value = splat<V>(rows[1]), slope = splat<V>(0.0f);
    for (py::ssize_t row = 0; row < count; ++row) {
        const float* numbers = rows + 3 * row;
        const Values<V, 3> taken =
            curve_row(position, point, value, slope, splat<V>(numbers[0]), splat<V>(numbers[1]), splat<V>(numbers[2]));
        point = taken.at[0], value = taken.at[1], slope = taken.at[2];
    }
    return curve_value(position, point, value, slope);
}

Column curve(const py::object& given_rows, const py::object& given_positions) {
    const Column rows = float_array("rows", given_rows, {-1, 3});
    const Column positions = float_array("positions", given_positions, {-1});
    if (!rows.shape(0)) throw std::invalid_argument("rows has none: must be one at least.");
    const py::ssize_t count = positions.shape(0);
    Column out(count);
    const float* q = positions.data();
    float* limit = out.mutable_data();
    py::ssize_t i = 0;
    // vectors first, then the scalar remainder, as in the core
    for (; i + kLanes <= count; i += kLanes) {
        const Lanes lanes = curve_at(load(q + i), rows.data(), rows.shape(0));
        std::memcpy(limit + i, &lanes, sizeof lanes);
    }
    for (; i < count; ++i) limit[i] = curve_at(q[i], rows.data(), rows.shape(0));
    return out;
}

// Values of a function and its derivatives by each argument, for one instruction set.
std::vector<Column> function(const std::string& name, const py::list& columns, const std::string& variant) {
    for (const actuators::Variant* one : actuators::variants()) {
        if (variant != one->name || !one->available()) continue;
        for (const actuators::FunctionFacts& known : one->functions())
            if (name == known.name) return evaluate(known.over, columns, known.arguments, 1 + known.arguments);
        throw std::invalid_argument("name = " + name + ": must be a function of laws.");
    }
    throw std::invalid_argument("variant = " + variant + ": must be one of variants().");
}

void register_laws(py::module_& m) {
    m.def("laws", [] {
        py::dict all;
        for (const Entry& one : entries())
            all[one.name] =
                py::dict(py::arg("kind") = one.kind, py::arg("parameters") = one.parameters,
                         py::arg("prepared") = one.prepared, py::arg("states") = one.states,
                         py::arg("curves") = one.curves, py::arg("asked") = one.asked, py::arg("timed") = one.timed);
        return all;
    });
    m.def(
        "law",
        [](const std::string& name, const py::list& columns) {
            const Entry& one = entry_named(name);
            return evaluate(one.law, columns, one.arguments, one.results + one.states);
        },
        py::arg("name"), py::arg("columns"));
    m.def(
        "prepare",
        [](const std::string& name, const py::list& columns) {
            const Entry& one = entry_named(name);
            // the last column is the time step
            return evaluate(one.prepare, columns, one.parameters + 1, one.prepared);
        },
        py::arg("name"), py::arg("columns"));
    m.def("function", &function, py::arg("name"), py::arg("columns"), py::arg("variant"));
    m.def("curve", &curve, py::arg("rows"), py::arg("positions"));
}

}  // namespace laws_alone
