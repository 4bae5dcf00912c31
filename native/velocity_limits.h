// Velocity limits of joints after a physics step, see simulators/mujoco/velocity_limits.py.
#pragma once
#include <cmath>
#include <tuple>

#include "transfer.h"

namespace actuators {

class VelocityLimits {
  public:
    // a dependent joint: its columns in positions and velocities, the index of the limited joint it follows, and the
    // velocity ratio
    using Coupling = std::tuple<int32_t, int32_t, int32_t, double>;

    VelocityLimits(const py::object& limits, std::vector<int32_t> position_columns,
                   std::vector<int32_t> velocity_columns, std::vector<Coupling> couplings, const py::object& positions,
                   const py::object& velocities, double dt)
        : limits_(limits, false),
          positions_(positions, true),
          velocities_(velocities, true),
          position_columns_(std::move(position_columns)),
          velocity_columns_(std::move(velocity_columns)),
          couplings_(std::move(couplings)),
          changes_(velocity_columns_.size()),
          dt_(dt) {
        for (const Matrix* one : {&limits_, &positions_, &velocities_})
            if (!one->wide || !one->whole() || one->rows != limits_.rows)
                refuse("limits, positions, velocities", "float64 arrays of as many rows, contiguous within a row");
        const int64_t count = static_cast<int64_t>(velocity_columns_.size());
        if (limits_.columns != count || static_cast<int64_t>(position_columns_.size()) != count)
            refuse("columns", "as many as the limits");
        positions_.require(position_columns_);
        velocities_.require(velocity_columns_);
        for (const auto& [position, velocity, leader, ratio] : couplings_) {
            positions_.require({position});
            velocities_.require({velocity});
            limits_.require({leader});
        }
    }

    void run() {
        for (int64_t row = 0; row < limits_.rows; ++row) {
            const double* limits = limits_.row<const double>(row);
            double *positions = positions_.row<double>(row), *velocities = velocities_.row<double>(row);
            bool changed = false;
            for (size_t k = 0; k < changes_.size(); ++k) {
                double& velocity = velocities[velocity_columns_[k]];
                const double speed = std::fabs(velocity);
                changes_[k] = 0.0;
                // infinite velocities are left for the caller to report
                if (!(speed > limits[k]) || std::isinf(speed)) continue;
                const double limited = std::copysign(limits[k], velocity);
                changes_[k] = limited - velocity;
                positions[position_columns_[k]] += changes_[k] * dt_;
                velocity = limited;
                changed = true;
            }
            if (!changed) continue;
            for (const auto& [position, velocity, leader, ratio] : couplings_) {
                const double lost = ratio * changes_[leader];
                velocities[velocity] += lost;
                positions[position] += lost * dt_;
            }
        }
    }

  private:
    Matrix limits_, positions_, velocities_;
    std::vector<int32_t> position_columns_, velocity_columns_;
    std::vector<Coupling> couplings_;
    std::vector<double> changes_;
    double dt_;
};

}  // namespace actuators
