// Poses and velocities of floating root links after a physics step, see simulators/mujoco/dynamics.py.
#pragma once
#include <array>

#include "transfer.h"

namespace actuators {

class Roots {
  public:
    // per robot: index in the environment, start of its free joint in positions and in velocities, and center of mass
    // of its root link per environment
    using Item = std::tuple<int64_t, int32_t, int32_t, py::object>;

    Roots(const py::object& positions, const py::object& velocities, const std::vector<Item>& items,
          const std::array<double, 3>& down, int64_t robots, const py::object& poses, const py::object& rates,
          const py::object& seen)
        : positions_(positions, false),
          velocities_(velocities, false),
          down_(down),
          robots_(robots),
          poses_(written<float>("poses", poses, {positions_.rows * robots, 7})),
          rates_(written<float>("velocities", rates, {positions_.rows * robots, 6})),
          seen_(written<float>("gravity", seen, {positions_.rows * robots, 3})),
          kept_{poses, rates, seen} {
        if (!positions_.wide || !positions_.whole() || !velocities_.wide || !velocities_.whole() ||
            velocities_.rows != positions_.rows)
            refuse("positions, velocities", "float64 arrays of as many rows, contiguous within a row");
        for (const auto& [row, position, velocity, centres] : items) {
            if (row < 0 || row >= robots_) refuse("row = " + std::to_string(row), "below " + std::to_string(robots_));
            positions_.require({position, position + 6});
            velocities_.require({velocity, velocity + 5});
            Matrix centre(centres, false);
            if (!centre.wide || !centre.whole() || centre.rows != positions_.rows || centre.columns != 3)
                refuse("centres", "float64, (environments, 3), contiguous within a row");
            items_.push_back({row, position, velocity, std::move(centre)});
        }
    }

    // Update all environments.
    void run() {
        for (const Root& root : items_)
            for (int64_t env = 0; env < positions_.rows; ++env) follow(root, env);
    }

    // Update the given environments.
    void update(const std::vector<int64_t>& envs) {
        for (const int64_t env : envs)
            if (env < 0 || env >= positions_.rows)
                refuse("env = " + std::to_string(env), "below " + std::to_string(positions_.rows));
        for (const Root& root : items_)
            for (const int64_t env : envs) follow(root, env);
    }

  private:
    struct Root {
        int64_t row;
        int32_t position, velocity;
        Matrix centres;
    };

    void follow(const Root& root, int64_t env) {
        const double* pose = positions_.row<const double>(env) + root.position;
        const double* rate = velocities_.row<const double>(env) + root.velocity;
        const double* centre = root.centres.row<const double>(env);
        const int64_t row = env * robots_ + root.row;
        for (int k = 0; k < 7; ++k) poses_[row * 7 + k] = static_cast<float>(pose[k]);
        const double w = pose[3], x = pose[4], y = pose[5], z = pose[6];
        const double turn[3][3] = {{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                   {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                                   {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
        double spin[3], arm[3];
        for (int i = 0; i < 3; ++i) {
            spin[i] = turn[i][0] * rate[3] + turn[i][1] * rate[4] + turn[i][2] * rate[5];
            arm[i] = turn[i][0] * centre[0] + turn[i][1] * centre[1] + turn[i][2] * centre[2];
            seen_[row * 3 + i] =
                static_cast<float>(turn[0][i] * down_[0] + turn[1][i] * down_[1] + turn[2][i] * down_[2]);
        }
        // MuJoCo provides the linear velocity of the origin, and the angular velocity in the body frame
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            rates_[row * 6 + i] = static_cast<float>(rate[i] + spin[j] * arm[k] - spin[k] * arm[j]);
            rates_[row * 6 + 3 + i] = static_cast<float>(spin[i]);
        }
    }

    Matrix positions_, velocities_;
    std::array<double, 3> down_;
    int64_t robots_;
    float *poses_, *rates_, *seen_;
    std::vector<py::object> kept_;
    std::vector<Root> items_;
};

}  // namespace actuators
