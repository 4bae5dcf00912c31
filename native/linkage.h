// Linkages: shafts of motors that move up to eight joints together, see laws/linkage_shaft.py.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "signal.h"

namespace actuators {

constexpr int kMostLinked = 8;

// All signals of the joints of a linkage, or of its motors.
using Linked = float[kSignals][kMostLinked];

// Angles of the shafts, and their change with each joint.
struct Shafts {
    float angle[kMostLinked], slope[kMostLinked][kMostLinked];
};

struct Linkage {
    int count = 0;
    // slots of the joints, and their positions in a block
    std::vector<int32_t> slots, places;
    // linear: slopes, their inverse, and angles at 0
    float matrix[kMostLinked][kMostLinked] = {}, inverse[kMostLinked][kMostLinked] = {}, offset[kMostLinked] = {};
    // inertia of the rotor of each shaft, true if its commands are its own, and if it pulls and never pushes
    float inertia[kMostLinked] = {};
    bool own[kMostLinked] = {}, pulls[kMostLinked] = {};
    // table over one or two joints: first position, distance of two positions and its inverse, and number of positions;
    // per node the angle of each shaft followed by its slopes
    float lower[2] = {}, spacing[2] = {}, per_spacing[2] = {};
    int rows[2] = {};
    std::vector<float> nodes;

    bool is_table() const { return !nodes.empty(); }

    Shafts at(const float* q) const {
        Shafts found;
        for (int i = 0; !is_table() && i < count; ++i) {
            found.angle[i] = matrix[i][0] * q[0];
            for (int j = 1; j < count; ++j) found.angle[i] += matrix[i][j] * q[j];
            found.angle[i] += offset[i];
            for (int j = 0; j < count; ++j) found.slope[i][j] = matrix[i][j];
        }
        if (is_table()) look_up(q, found);
        return found;
    }

    // Interpolate between the nodes around a position; beyond the table the slopes at its end hold.
    void look_up(const float* q, Shafts& found) const {
        int cell[2] = {};
        float part[2] = {}, beyond[2] = {};
        for (int j = 0; j < count; ++j) {
            const float last = static_cast<float>(rows[j] - 1);
            const float at = (q[j] - lower[j]) * per_spacing[j];
            // false for NaN, which then is in the results
            const float inside = at >= 0.0f ? (at <= last ? at : last) : 0.0f;
            cell[j] = static_cast<int>(inside);
            if (cell[j] > rows[j] - 2) cell[j] = rows[j] - 2;
            part[j] = inside - static_cast<float>(cell[j]);
            beyond[j] = (at - inside) * spacing[j];
        }
        const int width = count * (1 + count), next = count == 2 ? width : 0;
        const int columns = count == 2 ? rows[1] : 1;
        const float* low = nodes.data() + (static_cast<int64_t>(cell[0]) * columns + cell[1]) * width;
        const float* high = low + static_cast<int64_t>(columns) * width;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k <= count; ++k) {
                const int n = i * (1 + count) + k;
                const float first = low[n] + (low[n + next] - low[n]) * part[1];
                const float second = high[n] + (high[n + next] - high[n]) * part[1];
                const float value = first + (second - first) * part[0];
                (k ? found.slope[i][k - 1] : found.angle[i]) = value;
            }
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < count; ++j) found.angle[i] += found.slope[i][j] * beyond[j];
    }

    // Signals of the motors; commands that are the motor's own stay as they are.
    void to_motors(const Linked& joint, Linked& motor) const {
        const Shafts now = at(joint[kPosition]), wanted = at(joint[kPositionTarget]);
        float feedforward[kMostLinked];
        at_shafts(now, joint[kFeedforward], feedforward);
        for (int i = 0; i < count; ++i) {
            motor[kPosition][i] = now.angle[i];
            motor[kVelocity][i] = turned(now, i, joint[kVelocity]);
            motor[kPositionTarget][i] = own[i] ? joint[kPositionTarget][i] : wanted.angle[i];
            motor[kVelocityTarget][i] = own[i] ? joint[kVelocityTarget][i] : turned(wanted, i, joint[kVelocityTarget]);
            motor[kFeedforward][i] = own[i] ? joint[kFeedforward][i] : feedforward[i];
        }
    }

    // Efforts of the shafts that have given efforts at the joints.
    void at_shafts(const Shafts& now, const float* joint, float* shaft) const {
        if (!is_table()) {
            for (int i = 0; i < count; ++i) {
                shaft[i] = inverse[0][i] * joint[0];
                for (int j = 1; j < count; ++j) shaft[i] += inverse[j][i] * joint[j];
            }
        } else if (count == 1) {
            shaft[0] = joint[0] / now.slope[0][0];
        } else {
            const float determinant = now.slope[0][0] * now.slope[1][1] - now.slope[0][1] * now.slope[1][0];
            shaft[0] = (now.slope[1][1] * joint[0] - now.slope[1][0] * joint[1]) / determinant;
            shaft[1] = (now.slope[0][0] * joint[1] - now.slope[0][1] * joint[0]) / determinant;
        }
    }

    // Efforts at the joints of given efforts of the shafts, without what accelerates the rotors as the slopes change.
    void at_joints(const float* q, const float* v, float dt, float* effort) const {
        const Shafts now = at(q);
        for (int i = 0; i < count; ++i)
            if (pulls[i] && effort[i] < 0.0f) effort[i] = 0.0f;
        if (is_table()) {
            float ahead[kMostLinked];
            for (int j = 0; j < count; ++j) ahead[j] = q[j] + dt * v[j];
            const Shafts then = at(ahead);
            for (int i = 0; i < count; ++i) {
                float change = (then.slope[i][0] - now.slope[i][0]) * v[0];
                for (int j = 1; j < count; ++j) change += (then.slope[i][j] - now.slope[i][j]) * v[j];
                effort[i] -= inertia[i] * (change / dt);
            }
        }
        float found[kMostLinked];
        for (int j = 0; j < count; ++j) {
            found[j] = now.slope[0][j] * effort[0];
            for (int i = 1; i < count; ++i) found[j] += now.slope[i][j] * effort[i];
        }
        for (int j = 0; j < count; ++j) effort[j] = found[j];
    }

    float turned(const Shafts& now, int i, const float* v) const {
        float sum = now.slope[i][0] * v[0];
        for (int j = 1; j < count; ++j) sum += now.slope[i][j] * v[j];
        return sum;
    }
};

}  // namespace actuators
