// The work of a simulator after each physics step, in one call.
#pragma once
#include <functional>

#include "effective_inertias.h"
#include "roots.h"
#include "velocity_limits.h"

namespace actuators {

class InTurn {
  public:
    // each item of `first` is VelocityLimits, Roots or EffectiveInertias
    InTurn(std::vector<py::object> first, py::object last) : first_(std::move(first)), last_(std::move(last)) {
        for (const py::object& one : first_) {
            if (py::isinstance<VelocityLimits>(one)) {
                steps_.push_back([limits = one.cast<VelocityLimits*>()] { limits->run(); });
            } else if (py::isinstance<Roots>(one)) {
                steps_.push_back([roots = one.cast<Roots*>()] { roots->run(); });
            } else if (py::isinstance<EffectiveInertias>(one)) {
                steps_.push_back([inertias = one.cast<EffectiveInertias*>()] { inertias->run(); });
            } else {
                refuse("first", "VelocityLimits, Roots or EffectiveInertias each");
            }
        }
        if (!py::isinstance<Transfer>(last_)) refuse("last", "a Transfer");
        transfer_ = last_.cast<Transfer*>();
    }

    // Run all items; returns the result of the transfer.
    bool run() const {
        for (const auto& step : steps_) step();
        return transfer_->run();
    }

  private:
    std::vector<py::object> first_;
    py::object last_;
    std::vector<std::function<void()>> steps_;
    const Transfer* transfer_;
};

}  // namespace actuators
