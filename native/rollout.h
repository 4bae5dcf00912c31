// A joint that its motor moves along a log, in several variants, see tools/identification/rollout.py.
#pragma once
#include <cmath>

#include "bound_plan.h"
#include "transfer.h"

namespace actuators {

class Rollout {
  public:
    // signals of the plan, and what each is: inertia, load or voltage of the supply
    using Signals = std::vector<std::pair<py::object, int>>;

    // Positions, velocities, targets and efforts are the arrays that the plan is bound to, a row per variant.
    Rollout(py::object plan, const py::object& positions, const py::object& velocities, const py::object& targets,
            const py::object& efforts, const Signals& signals)
        : bound_(std::move(plan)),
          plan_(bound_.cast<BoundPlan*>()),
          arrays_{Matrix(positions, true), Matrix(velocities, true), Matrix(targets, true), Matrix(efforts, false)},
          variants_(arrays_[0].rows) {
        for (const Matrix& one : arrays_) require_column("arrays", one);
        for (const auto& [array, what] : signals) {
            Matrix matrix(array, true);
            require_column("signals", matrix);
            if (what < 0 || what >= kSources) refuse("what a signal is", "0, 1 or 2");
            signals_[what].push_back(std::move(matrix));
        }
    }

    // Simulate all variants along a log and write the positions that their encoders would measure into `out`,
    // (variants, samples). `along` has command, inertia, load, its slope over the position, the position where it was
    // taken, and the voltage of the supply, (6, samples); `values` has encoder bias, delay [s], armature, first
    // position and velocity, (5, variants). What `watched` arrays, a number per variant, hold after the first physics
    // step of each sample is written into `seen`, (arrays, variants, samples).
    void run(const py::object& along, const py::object& values, double dt, int substeps, const py::object& out,
             const std::vector<py::object>& watched, const py::object& seen) {
        const py::array shaped = typed<double>("along", along);
        if (shaped.ndim() != 2 || shaped.shape(1) < 2)
            refuse("along has shape " + text(shaped.attr("shape")), "(5, samples), two samples or more");
        const auto log = checked<double>("along", along, {kAlong, shaped.shape(1)});
        const auto given = checked<double>("values", values, {kValues, static_cast<py::ssize_t>(variants_)});
        const int64_t samples = log.shape(1);
        double* measured = written<double>("out", out, {static_cast<py::ssize_t>(variants_), log.shape(1)});
        if (!(dt > 0) || substeps < 1) refuse("dt, substeps", "a time > 0 and a number >= 1");
        const auto size = static_cast<py::ssize_t>(variants_);
        std::vector<const float*> sources;
        for (const py::object& one : watched) sources.push_back(checked<float>("watched", one, {size}).data());
        Watched watch{sources, nullptr};
        if (!sources.empty())
            watch.seen = written<double>("seen", seen, {static_cast<py::ssize_t>(sources.size()), size, log.shape(1)});
        const double *a = log.data(), *v = given.data();
        plan_->run_many([&](const auto& step) { simulate(a, v, samples, dt, substeps, measured, watch, step); });
    }

  private:
    static constexpr int kAlong = 6, kValues = 5, kSources = 3;
    enum { kInertia, kLoad, kVoltage };

    // arrays that are read, and where their values go, (arrays, variants, samples)
    struct Watched {
        std::vector<const float*> sources;
        double* seen;

        void note(int64_t sample, int64_t variants, int64_t samples) const {
            for (size_t k = 0; k < sources.size(); ++k)
                for (int64_t e = 0; e < variants; ++e)
                    seen[(static_cast<int64_t>(k) * variants + e) * samples + sample] = sources[k][e];
        }
    };

    void require_column(const char* what, const Matrix& one) const {
        if (one.wide || !one.whole() || one.rows != variants_ || one.columns != 1 || one.row_pitch != sizeof(float))
            refuse(what, "float32, a row per variant and one column, contiguous");
    }

    template <class Step>
    void simulate(const double* along, const double* values, int64_t samples, double dt, int substeps, double* measured,
                  const Watched& watched, const Step& step) {
        const int64_t size = variants_;
        const double *command = along, *inertia = along + samples, *load = along + 2 * samples,
                     *slope = along + 3 * samples, *place = along + 4 * samples, *voltage = along + 5 * samples;
        const double *bias = values, *armature = values + 2 * size;
        std::vector<double> q(values + 3 * size, values + 4 * size), qd(values + 4 * size, values + 5 * size);
        std::vector<double> inertias(size), loads(size), voltages(size), lag(size);
        // in samples
        for (int64_t e = 0; e < size; ++e) lag[e] = values[size + e] / dt;
        float *positions = arrays_[0].row<float>(0), *velocities = arrays_[1].row<float>(0),
              *targets = arrays_[2].row<float>(0);
        const float* efforts = arrays_[3].row<const float>(0);
        const double h = dt / substeps;
        for (int64_t k = 0; k < samples; ++k) {
            for (int64_t e = 0; e < size; ++e) measured[e * samples + k] = q[e] + bias[e];
            const int64_t next = std::min(k + 1, samples - 1);
            // held, for infinity means none
            std::fill(voltages.begin(), voltages.end(), voltage[k]);
            for (const Matrix& one : signals_[kVoltage]) publish(voltages, one);
            for (int s = 0; s < substeps; ++s) {
                const double share = static_cast<double>(s) / substeps;
                const auto between = [&](const double* row) { return row[k] + (row[next] - row[k]) * share; };
                const double inertia_here = between(inertia), load_here = between(load), place_here = between(place);
                for (int64_t e = 0; e < size; ++e) {
                    inertias[e] = inertia_here + armature[e];
                    loads[e] = load_here + slope[k] * (q[e] - place_here);
                    positions[e] = static_cast<float>(q[e]);
                    velocities[e] = static_cast<float>(qd[e]);
                }
                for (int64_t e = 0; e < size; ++e) {
                    // commands between two samples are interpolated, so that results are smooth in the delay
                    double at = k + share - lag[e];
                    // also where it is no number
                    if (!(at > 0.0)) at = 0.0;
                    if (at > samples - 1.0) at = samples - 1.0;
                    const int64_t row = std::min(static_cast<int64_t>(at), samples - 2);
                    // a bias of the encoder moves the target
                    targets[e] =
                        static_cast<float>(command[row] + (command[row + 1] - command[row]) * (at - row) - bias[e]);
                }
                for (const Matrix& one : signals_[kInertia]) publish(inertias, one);
                for (const Matrix& one : signals_[kLoad]) publish(loads, one);
                step(static_cast<float>(h));
                if (s == 0) watched.note(k, size, samples);
                for (int64_t e = 0; e < size; ++e) {
                    qd[e] += h * (efforts[e] - loads[e]) / inertias[e];
                    q[e] += h * qd[e];
                }
            }
        }
    }

    static void publish(const std::vector<double>& values, const Matrix& signal) {
        float* const to = signal.row<float>(0);
        for (size_t e = 0; e < values.size(); ++e) to[e] = static_cast<float>(values[e]);
    }

    py::object bound_;
    BoundPlan* plan_;
    Matrix arrays_[4];
    int64_t variants_;
    std::vector<Matrix> signals_[kSources];
};

}  // namespace actuators
