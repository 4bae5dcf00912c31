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

    // Simulate all variants along logs, an equal number of them along each and the rest along the last, and write the
    // positions that their encoders would measure into `out`, (variants, samples of the longest log). Each of `along`
    // has command, inertia, load, its slope over the position, the position where it was taken, and the voltage of the
    // supply, (6, samples); `values` has encoder bias, delay [s], armature, first position and velocity, (5, variants).
    // What `watched` arrays, a number per variant, hold after the first physics step of each sample is written into
    // `seen`, (arrays, variants, samples).
    void run(const std::vector<py::object>& along, const py::object& values, double dt, int substeps,
             const py::object& out, const std::vector<py::object>& watched, const py::object& seen) {
        std::vector<Log> logs;
        const auto count = static_cast<int64_t>(along.size());
        if (count < 1 || count > variants_) refuse("along", "at least one log, and one per variant at most");
        py::ssize_t longest = 0;
        for (const py::object& one : along) {
            const py::array shaped = typed<double>("along", one);
            if (shaped.ndim() != 2 || shaped.shape(1) < 2)
                refuse("along has shape " + text(shaped.attr("shape")), "(6, samples), two samples or more");
            const int64_t first = static_cast<int64_t>(logs.size()) * (variants_ / count);
            const auto rows = checked<double>("along", one, {kAlong, shaped.shape(1)});
            logs.push_back({rows.data(), shaped.shape(1), first, first + variants_ / count});
            longest = std::max(longest, shaped.shape(1));
        }
        logs.back().end = variants_;
        const auto size = static_cast<py::ssize_t>(variants_);
        const auto given = checked<double>("values", values, {kValues, size});
        double* measured = written<double>("out", out, {size, longest});
        if (!(dt > 0) || substeps < 1) refuse("dt, substeps", "a time > 0 and a number >= 1");
        std::vector<const float*> sources;
        for (const py::object& one : watched) sources.push_back(checked<float>("watched", one, {size}).data());
        Watched watch{sources, nullptr};
        if (!sources.empty())
            watch.seen = written<double>("seen", seen, {static_cast<py::ssize_t>(sources.size()), size, longest});
        const double* v = given.data();
        plan_->run_many([&](const auto& step) { simulate(logs, v, longest, dt, substeps, measured, watch, step); });
    }

  private:
    static constexpr int kAlong = 6, kValues = 5, kSources = 3;
    enum { kInertia, kLoad, kVoltage };
    enum { kInertias = 1, kLoads, kSlope, kPlace, kVoltages };  // after the command

    // a log and its variants, from the first to before the end
    struct Log {
        const double* rows;
        int64_t samples, first, end;

        double at(int what, int64_t sample) const { return rows[what * samples + sample]; }
    };

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
    void simulate(const std::vector<Log>& logs, const double* values, int64_t samples, double dt, int substeps,
                  double* measured, const Watched& watched, const Step& step) {
        const int64_t size = variants_;
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
            // held, for infinity means none
            for (const Log& log : logs)
                std::fill(&voltages[log.first], voltages.data() + log.end,
                          log.at(kVoltages, std::min(k, log.samples - 1)));
            for (const Matrix& one : signals_[kVoltage]) publish(voltages, one);
            for (int s = 0; s < substeps; ++s) {
                for (const Log& log : logs)
                    place(log, k, static_cast<double>(s) / substeps, q, lag, armature, bias, inertias, loads, targets);
                for (int64_t e = 0; e < size; ++e) {
                    positions[e] = static_cast<float>(q[e]);
                    velocities[e] = static_cast<float>(qd[e]);
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

    // Inertias, loads and targets of the variants of a log between its sample `k` and the next one; after its end,
    // which is before that of others, those of its last sample.
    static void place(const Log& log, int64_t k, double share, const std::vector<double>& q,
                      const std::vector<double>& lag, const double* armature, const double* bias,
                      std::vector<double>& inertias, std::vector<double>& loads, float* targets) {
        const double last = static_cast<double>(log.samples) - 1.0, now = static_cast<double>(k) + share;
        const int64_t here = std::min(k, log.samples - 1), next = std::min(k + 1, log.samples - 1);
        const auto between = [&](int what) {
            return log.at(what, here) + (log.at(what, next) - log.at(what, here)) * share;
        };
        const double inertia = between(kInertias), load = between(kLoads), where = between(kPlace),
                     slope = log.at(kSlope, here);
        const double* command = log.rows;
        for (int64_t e = log.first; e < log.end; ++e) {
            inertias[e] = inertia + armature[e];
            loads[e] = load + slope * (q[e] - where);
            // commands between two samples are interpolated, so that results are smooth in the delay
            double at = now - lag[e];
            // also where it is no number
            if (!(at > 0.0)) at = 0.0;
            if (at > last) at = last;
            const int64_t row = std::min(static_cast<int64_t>(at), log.samples - 2);
            // a bias of the encoder moves the target
            targets[e] = static_cast<float>(command[row] + (command[row + 1] - command[row]) * (at - row) - bias[e]);
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
