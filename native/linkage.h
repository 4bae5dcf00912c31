// Linkages: shafts of motors that move up to eight joints together, see laws/linkage_shaft.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "memory.h"

namespace actuators {

constexpr int kMostLinked = 8;

struct Linkage {
    int count = 0;
    // slots of the joints, ascending if linear, and their positions in a block
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
};

// Sums over the joints of all linear linkages, as sums over elements of a block: a vector of elements takes the same
// steps as one of them. Each element has a weight per shift to a linked element of its robot, and NaN for all others.
struct Sums {
    // angles and slopes, the same for targets, feedforward, and efforts at the joints
    enum Kind { kMeasured, kWanted, kForward, kBack, kKinds };
    // largest vector
    static constexpr int64_t kTile = 16;

    // distances of linked elements, ascending
    std::vector<int64_t> shifts;
    // weights and offsets repeat after so many elements, a multiple of a tile; those of all shifts are together per
    // tile
    int64_t length = 0;
    Aligned<float> weights[kKinds], offsets[kKinds];
    // true if there are commands of shafts, which are not sums
    bool any_own = false;
    // per element 1 if its shaft pulls and never pushes
    Aligned<int32_t> pulls;

    Sums() = default;
    // `period`: elements of a robot, with `places` of the linkages among them
    Sums(const std::vector<Linkage>& linkages, int64_t period) : length(std::lcm(period, kTile)), pulls(length) {
        std::set<int64_t> distances{0};
        for (const Linkage& one : linkages)
            for (int n = 0; n < one.count * one.count && !one.is_table(); ++n)
                distances.insert(one.places[n % one.count] - one.places[n / one.count]);
        shifts.assign(distances.begin(), distances.end());
        for (const Kind kind : {kMeasured, kWanted, kForward, kBack}) {
            // nothing but itself
            weights[kind] = Aligned<float>(shifts.size() * length, std::numeric_limits<float>::quiet_NaN());
            offsets[kind] = Aligned<float>(length, -0.0f);
            for (int64_t i = 0; i < length; ++i) at(kind, i, 0) = 1.0f;
        }
        for (const Linkage& one : linkages)
            for (int64_t first = 0; first < length; first += period)
                for (int i = 0; i < one.count; ++i) add(one, i, first + one.places[i]);
    }

    float* weights_at(Kind kind, int64_t element) const {
        const int64_t tile = element / kTile;
        return weights[kind].data() + tile * kTile * static_cast<int64_t>(shifts.size()) + element % kTile;
    }

  private:
    float& at(Kind kind, int64_t element, int64_t shift) {
        const auto number = std::lower_bound(shifts.begin(), shifts.end(), shift) - shifts.begin();
        return weights_at(kind, element)[number * kTile];
    }

    void add(const Linkage& one, int i, int64_t element) {
        pulls[element] = one.pulls[i];
        any_own |= one.own[i];
        if (one.is_table()) return;
        offsets[kMeasured][element] = one.offset[i];
        if (!one.own[i]) offsets[kWanted][element] = one.offset[i];
        for (int j = 0; j < one.count; ++j) {
            const int64_t shift = one.places[j] - one.places[i];
            at(kMeasured, element, shift) = one.matrix[i][j];
            at(kBack, element, shift) = one.matrix[j][i];
            if (one.own[i]) continue;
            at(kWanted, element, shift) = one.matrix[i][j];
            at(kForward, element, shift) = one.inverse[j][i];
        }
    }
};

}  // namespace actuators
