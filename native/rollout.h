// Joints that their motors move along a log, each by itself, see toolbox/identification/rollout.py.
#pragma once
#include <cmath>

#include "bound_plan.h"
#include "transfer.h"

namespace actuators {

class Rollout {
  public:
    // a signal of the plan, which column of the joints each of its slots is, and whether it is the load
    using Signals = std::vector<std::tuple<py::object, std::vector<int32_t>, bool>>;

    // positions, velocities, targets and efforts are the arrays that the plan is bound to
    Rollout(py::object plan, const py::object& positions, const py::object& velocities, const py::object& targets,
            const py::object& efforts, const Signals& signals)
        : bound_(std::move(plan)),
          plan_(bound_.cast<BoundPlan*>()),
          arrays_{Matrix(positions, true), Matrix(velocities, true), Matrix(targets, true), Matrix(efforts, false)} {
        rows_ = arrays_[0].rows, joints_ = arrays_[0].columns;
        for (const Matrix& one : arrays_)
            if (one.wide || one.rows != rows_ || one.columns != joints_ || !one.whole())
                refuse("arrays", "float32 of one shape, contiguous within a row");
        for (const auto& [array, columns, is_load] : signals) {
            Matrix matrix(array, true);
            if (matrix.wide || !matrix.whole() || matrix.rows != rows_ ||
                matrix.columns != static_cast<int64_t>(columns.size()))
                refuse("signals", "float32, a row per robot and a column per slot, contiguous within a row");
            for (const int32_t column : columns)
                if (column < 0 || column >= joints_) refuse("column = " + std::to_string(column), "that of a joint");
            signals_.push_back({std::move(matrix), columns, is_load});
        }
    }

    // Simulate all rows along a log and write the positions that its encoders would measure into `out`, a row per
    // robot and joint. `along` has command, inertia, load, its slope over the position, and the position where it was
    // taken, (samples, joints) each; `values` has encoder bias, delay [s], armature, first position and velocity,
    // (robots, joints) each.
    void run(const py::object& along, const py::object& values, double dt, int substeps, const py::object& out) {
        const py::array shaped = typed<double>("along", along);
        if (shaped.ndim() != 3 || shaped.shape(1) < 2)
            refuse("along has shape " + text(shaped.attr("shape")), "(5, samples, joints), two samples or more");
        const auto log = checked<double>("along", along, {kAlong, shaped.shape(1), static_cast<py::ssize_t>(joints_)});
        const auto given = checked<double>(
            "values", values, {kValues, static_cast<py::ssize_t>(rows_), static_cast<py::ssize_t>(joints_)});
        const int64_t samples = log.shape(1), size = rows_ * joints_;
        double* written_out = written<double>("out", out, {static_cast<py::ssize_t>(size), log.shape(1)});
        if (!(dt > 0) || substeps < 1) refuse("dt, substeps", "a time > 0 and a number >= 1");
        const double *a = log.data(), *v = given.data();
        plan_->run_many([&](const auto& step) { simulate(a, v, samples, dt, substeps, written_out, step); });
    }

  private:
    static constexpr int kAlong = 5, kValues = 5;

    struct Signal {
        Matrix array;
        std::vector<int32_t> columns;
        bool is_load;
    };

    template <class Step>
    void simulate(const double* along, const double* values, int64_t samples, double dt, int substeps, double* out,
                  const Step& step) {
        const int64_t size = rows_ * joints_, block = samples * joints_;
        const double *command = along, *inertia = along + block, *load = along + 2 * block, *slope = along + 3 * block,
                     *place = along + 4 * block;
        const double *bias = values, *delay = values + size, *armature = values + 2 * size;
        std::vector<double> q(values + 3 * size, values + 4 * size), qd(values + 4 * size, values + 5 * size);
        std::vector<double> inertias(size), loads(size);
        const double h = dt / substeps;
        for (int64_t k = 0; k < samples; ++k) {
            for (int64_t e = 0; e < size; ++e) out[e * samples + k] = q[e] + bias[e];
            const int64_t here = k * joints_, next = std::min(k + 1, samples - 1) * joints_;
            for (int s = 0; s < substeps; ++s) {
                const double share = static_cast<double>(s) / substeps;
                const auto between = [&](const double* row, int64_t j) {
                    return row[here + j] + (row[next + j] - row[here + j]) * share;
                };
                for (int64_t e = 0; e < size; ++e) {
                    const int64_t r = e / joints_, j = e % joints_;
                    // commands between two samples are interpolated, so that results are smooth in the delay
                    double at = k + share - delay[e] / dt;
                    // also where it is no number
                    if (!(at > 0.0)) at = 0.0;
                    if (at > samples - 1.0) at = samples - 1.0;
                    const int64_t row = std::min(static_cast<int64_t>(at), samples - 2);
                    const double *before = command + row * joints_ + j, *after = before + joints_;
                    inertias[e] = between(inertia, j) + armature[e];
                    loads[e] = between(load, j) + slope[here + j] * (q[e] - between(place, j));
                    arrays_[0].template row<float>(r)[j] = static_cast<float>(q[e]);
                    arrays_[1].template row<float>(r)[j] = static_cast<float>(qd[e]);
                    // a bias of the encoder moves the target
                    arrays_[2].template row<float>(r)[j] =
                        static_cast<float>(*before + (*after - *before) * (at - row) - bias[e]);
                }
                for (const Signal& one : signals_) {
                    const std::vector<double>& from = one.is_load ? loads : inertias;
                    for (int64_t r = 0; r < rows_; ++r)
                        for (size_t slot = 0; slot < one.columns.size(); ++slot)
                            one.array.template row<float>(r)[slot] =
                                static_cast<float>(from[r * joints_ + one.columns[slot]]);
                }
                step(static_cast<float>(h));
                for (int64_t e = 0; e < size; ++e) {
                    const double effort = arrays_[3].template row<const float>(e / joints_)[e % joints_];
                    qd[e] += h * (effort - loads[e]) / inertias[e];
                    q[e] += h * qd[e];
                }
            }
        }
    }

    py::object bound_;
    BoundPlan* plan_;
    Matrix arrays_[4];
    std::vector<Signal> signals_;
    int64_t rows_, joints_;
};

}  // namespace actuators
