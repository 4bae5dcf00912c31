// The step, compiled once per instruction set in the namespace ACTUATORS_VARIANT; `step_block` lists its phases.
//
// NaN handling: an input that is not finite makes the effort of the law NaN, a law or limit with a result that is not
// finite returns NaN, and neither writes its state. A sweep only detects that there is a NaN; the block is then
// scanned, these efforts are set to zero and their faults are recorded. A law that acts late goes on where the effort
// alone is not finite: a value that is too large would never leave its ring.
#include <algorithm>
#include <cstring>

#include "curves.h"
#include "delay.h"
#include "end_of_step.h"
#include "linked.h"
#include "processor.h"
#include "signals.h"
#include "sweep.h"
#include "variants.h"

namespace ACTUATORS_VARIANT {

// in network.cpp
void network_by_places(const Block& b, const NetworkUse& use, float* efforts);
void evaluate(const Network& network, const NetworkRows& rows, float* columns);
// in gradients.cpp
std::vector<FunctionFacts> functions();
void law_forward(LawFunction function, int law, const LawInBlock& block, int64_t size);
void law_backward(LawFunction function, int law, const LawInBlock& block, int64_t size);
// in network_gradients.cpp
void network_forward(const NetworkInBlock& block);
void network_backward(const NetworkInBlock& block);

// Scratch memory of a thread: arrays of one block.
struct Scratch {
    enum Array {
        kGathered,                        // signals
        kDelayed = kGathered + kSignals,  // commands
        kBefore = kDelayed + kCommands,   // commands of the previous step
        kRows = kBefore + kCommands,      // positions in the ring, twice as wide
        kEfforts = kRows + 2,             // efforts that are written back at the end
        kHere,                            // efforts between law and limits
        kThere,
        kFound,  // results before the scatter
        kOver,   // inputs and values of a curve
        kValues,
        kDue,  // whether controllers run, and their time steps
        kPeriods,
        kLag,     // by how many steps results act late
        kSensed,  // positions, velocities and commands as seen by controllers
        kArrays = kSensed + kSignals
    };
    Scratch(const Problem& p, float* memory) : pitch((p.robots_per_block * p.period + 15) / 16 * 16), start(memory) {}
    float* at(int array) const { return start + array * pitch; }
    int64_t* ring_rows() const { return reinterpret_cast<int64_t*>(at(kRows)); }
    // after the arrays
    float* kept(const Problem& p) const { return at(kArrays + p.derived); }
    float* columns(const Problem& p) const { return kept(p) + (p.kept * p.robots_per_block + 15) / 16 * 16; }

    int64_t pitch;
    float* start;
};

// ---- a block

Block block_at(const Problem& p, int64_t first_robot, int64_t robots) {
    Block b;
    b.number = 0;
    b.first_robot = first_robot;
    b.robots = robots;
    b.first = b.first_robot * p.period;
    b.size = b.robots * p.period;
    b.given = nullptr;
    b.driven = nullptr;
    b.limit = 0;
    b.kept = nullptr;
    b.dt = p.dt_row;
    b.due = nullptr;
    b.commands = true;
    if (p.layout == Layout::kGaps) {
        // the last row ends with its last driven column
        if (b.first_robot + b.robots == p.robots) b.size -= p.period - (p.columns[p.slots - 1] - p.columns[0] + 1);
        b.driven = p.driven;
    }
    return b;
}

Block block_of(const Problem& p, int64_t number) {
    const int64_t first = number * p.robots_per_block;
    Block b = block_at(p, first, std::min(p.robots_per_block, p.robots - first));
    b.number = number;
    return b;
}

// Copy a run of a piece for all robots of a block; COUNT is its length, 0 if known only at run time.
template <int COUNT>
void copy_run(const Problem& p, const Block& b, const Run& run, int64_t pitch, const float* RESTRICT from,
              float* RESTRICT out) {
    const size_t bytes = (COUNT ? COUNT : run.count) * sizeof(float);
    out += run.slot;
    for (int64_t robot = 0; robot < b.robots; ++robot) std::memcpy(out + robot * p.slots, from + robot * pitch, bytes);
}

// Gather a row from its pieces for this block.
void gather(const Problem& p, const Block& b, const Gathered& row) {
    float* RESTRICT out = b.derived + row.array * b.pitch;
    static constexpr decltype(&copy_run<0>) copies[] = {copy_run<0>, copy_run<1>, copy_run<2>, copy_run<3>,
                                                        copy_run<4>};
    if (row.rest) std::copy_n(row.rest + b.first, b.size, out);
    for (const Piece& piece : *row.pieces) {
        // prefetch the next block: short runs defeat the hardware prefetcher
        const float* next = piece.values + (b.first_robot + b.robots) * piece.count;
        for (int64_t k = 0; k < b.robots * piece.count; k += 16) PREFETCH(next + k);
        for (const Run& run : piece.runs) {
            const float* from = piece.values + b.first_robot * piece.count + run.place;
            copies[run.count < 5 ? run.count : 0](p, b, run, piece.count, from, out);
        }
    }
}

// Curve values of a law, at the signals that it reads.
NOINLINE void look_up(const Use& use, const Block& b, const Scratch& scratch) {
    float* out = b.derived + use.curve * b.pitch;
    for (const CurveUse& curve : use.curves) {
        look_up(curve, b, out, scratch.at(Scratch::kOver), scratch.at(Scratch::kValues));
        out += b.pitch;
    }
}

// Prepare per-robot parameters for this block.
void derive(const Problem& p, const Block& b, const Use& use) {
    if (!use.derives) return;
    const float* raw[kMost];
    float* prepared[kMost];
    const auto array = [&](int number) { return b.derived + number * b.pitch; };
    for (int k = 0; k < use.parameters; ++k)
        raw[k] = use.raw_scratch[k] < 0 ? use.raw[k].at(b.first) : array(use.raw_scratch[k]);
    for (int k = 0; k < use.prepared; ++k) prepared[k] = use.scratch[k] < 0 ? nullptr : array(use.scratch[k]);
    use.prepare(raw, prepared, b.size, b.dt);
}

// Time steps of controllers: those of their rates, whose first prepared number is the number of physics steps.
const float* find_periods(const Problem& p, const Block& b, const Scratch& scratch) {
    if (p.rate < 0) return p.dt_row;
    const Use& use = p.limits[p.rate];
    const float* RESTRICT const steps = taken(use, 0, b);
    float* RESTRICT const periods = scratch.at(Scratch::kPeriods);
    for (int64_t i = 0; i < b.size; ++i) periods[i] = steps[i] * p.dt;
    return periods;
}

void derive_all(const Problem& p, Block& b, const Scratch& scratch) {
    if (!p.derives || p.holds) return;
    for (const Gathered& row : p.gathered) gather(p, b, row);
    const auto both = [&](const Use& use) {
        derive(p, b, use);
        if (use.curve >= 0) look_up(use, b, scratch);
    };
    // behind sensors or before a transmission, curves are evaluated later
    for (const Use& use : p.limits) both(use);
    b.dt = find_periods(p, b, scratch);
    for (const Use& use : p.controllers) p.route.direct ? both(use) : derive(p, b, use);
    for (const Use& use : p.feedback) both(use);
    b.dt = p.dt_row;
}

// ---- published signals

// Publish the states of the previous step, and the sums per robot.
NOINLINE void publish(const Problem& p, const Block& b) {
    const int64_t last = b.first_robot + b.robots;
    for (const Published& one : p.published) {
        if (one.law && rested(*one.law, b.number, one.number)) continue;
        if (static_cast<int64_t>(one.slots.size()) != p.slots) {
            one.publish(b.first_robot, last, p.slots);
            continue;
        }
        // a law on all slots
        const float* RESTRICT const from = one.state + b.first_robot * p.slots;
        float* RESTRICT const to = one.signal + b.first_robot * p.slots;
        const float neutral = one.neutral;
        int unknown = 0;
        for (int64_t k = 0; k < (last - b.first_robot) * p.slots; ++k) {
            to[k] = from[k] == from[k] ? from[k] : neutral;
            unknown |= from[k] != from[k];
        }
        if (unknown) one.publish_unset(b.first_robot, last, p.slots);
    }
    for (const Total& one : p.totals) one.add_up(b.first_robot, last, p.slots);
}

// ---- law and limits in separate sweeps

// Curve values of controllers, at the joint or motor signals that they read.
void look_up_for_controllers(const Problem& p, const Block& b, const Scratch& scratch) {
    for (const Use& use : p.controllers)
        if (use.curve >= 0) look_up(use, b, scratch);
}

// Copy what controllers measure, signals [first, last); a value that is not finite leaves the previous one.
NOINLINE SHORT_VECTORS void publish_measured(const Problem& p, const Block& b, int first, int last) {
    for (int s = first; s < last; ++s) {
        const float* RESTRICT const from = b.input[s];
        if (!p.measured[s]) continue;
        float* RESTRICT const to = p.measured[s] + b.first_robot * p.slots;
        if (p.layout != Layout::kGaps && !b.due) {
            for (int64_t i = 0; i < b.size; ++i) to[i] = finite(from[i]) ? from[i] : to[i];
            continue;
        }
        for (int64_t i = 0; i < b.size; ++i) {
            const int32_t slot = p.slot_of[i % p.period];
            const bool known = slot >= 0 && finite(from[i]) && (!b.due || b.due[i] > 0.5f);
            if (known) to[i / p.period * p.slots + slot] = from[i];
        }
    }
}

// Replace signals for controllers by those of the laws before them, at the joint or at the motor; NaN on a fault.
NOINLINE void sense(const Problem& p, Block& b, const Scratch& scratch, bool at_motor) {
    float* const sensed = scratch.at(Scratch::kSensed);
    const Replaced& replaced = p.route.replaced[at_motor];
    // laws of some elements leave the signals of the others
    for (int s = 0; s < kSignals; ++s)
        if (replaced.any[s] && !replaced.every[s]) std::copy_n(b.input[s], b.size, sensed + s * b.pitch);
    for (size_t k = 0; k < p.feedback.size(); ++k)
        if (p.feedback[k].at_motor == at_motor) p.route.feedback[k](p, b, p.feedback[k], sensed);
    for (int s = 0; s < kSignals; ++s)
        if (replaced.any[s]) b.input[s] = sensed + s * b.pitch;
}

void act_on(Block& b, const float* positions, const float* velocities) {
    b.input[kPosition] = positions;
    b.input[kVelocity] = velocities;
}

// What motors feel otherwise than their joints.
NOINLINE void feel(const Problem& p, const Block& b) {
    float* const felt = b.derived + p.felt_arrays * b.pitch;
    for (int s = 0; s < kFeltSignals; ++s) {
        float* const to = felt + s * b.pitch;
        if (p.asked[s])
            std::copy_n(p.asked[s] + b.first, b.size, to);
        else
            std::fill_n(to, b.size, 0.0f);
    }
    for (int k = 0; k < p.transmissions; ++k)
        if (p.route.felt[k]) p.route.felt[k](p, b, p.limits[p.first_transmission + k], felt);
}

// True if one transmission writes the motor signals of all elements.
bool is_of_all(const Problem& p) {
    return p.transmissions == 1 && p.limits[p.first_transmission].every && p.layout != Layout::kGaps;
}

// Replace joint signals for controllers by motor signals. They are equal without a transmission.
NOINLINE void command_motors(const Problem& p, Block& b) {
    float* const motors = b.derived + p.motor_arrays * b.pitch;
    for (int s = 0; s < kSignals && !is_of_all(p); ++s) std::copy_n(b.input[s], b.size, motors + s * b.pitch);
    for (int k = 0; k < p.transmissions; ++k)
        p.route.commanded_motor[k](p, b, p.limits[p.first_transmission + k], motors);
    for (int s = 0; s < kSignals; ++s) b.input[s] = motors + s * b.pitch;
}

// Signals that controllers get, of joints or, before a transmission, of motors.
void signals_of_controllers(const Problem& p, Block& b, const Scratch& scratch) {
    if (p.route.replaced[false].exists) sense(p, b, scratch, false);
    if (p.measured[kPositionTarget]) publish_measured(p, b, kPositionTarget, kMeasured);
    if (p.transmissions) command_motors(p, b);
    if (p.route.replaced[true].exists) sense(p, b, scratch, true);
    if (p.measured[kPosition]) publish_measured(p, b, kPosition, kPositionTarget);
    if (!p.route.direct) look_up_for_controllers(p, b, scratch);
}

// Use true motor signals for the stages before the transmissions; efforts become NaN on a fault.
NOINLINE void act_on_motors(const Problem& p, Block& b, float* efforts, const Scratch& scratch) {
    float* const positions = b.derived + (p.motor_arrays + kSignals) * b.pitch;
    float* const velocities = positions + b.pitch;
    if (!is_of_all(p)) {
        std::copy_n(b.input[kPosition], b.size, positions);
        std::copy_n(b.input[kVelocity], b.size, velocities);
    }
    for (int k = 0; k < p.transmissions; ++k)
        p.route.true_motor[k](p, b, p.limits[p.first_transmission + k], positions);
    act_on(b, positions, velocities);
    // required even if no limit reads these signals
    for (int64_t i = 0; i < b.size; ++i)
        efforts[i] = nan_unless(finite(positions[i]) & finite(velocities[i]), efforts[i]);
    // these stages evaluate their curves at the motor signals
    for (int k = 0; k < p.first_transmission; ++k)
        if (p.limits[k].curve >= 0) look_up(p.limits[k], b, scratch);
}

// Efforts of joints without a controller: 0 if all signals are good, else NaN.
NOINLINE void leave_free(const Problem& p, const Block& b, float* efforts) {
    for (int64_t k = 0; k < b.robots * p.free_slots; ++k) {
        const int32_t i = p.free_places[k];
        bool good = true;
        for (const float* const signal : b.input) good = good & finite(signal[i]);
        efforts[i] = good ? 0.0f : kNaN;
    }
}

// True if the first limits run together with the law.
bool is_limited(const Problem& p) {
    return p.phase == Phase::kWhole && p.route.limited;
}

// Efforts before the limits, or after the first, see `is_limited`; returns true if those of the law of all elements are
// not all finite. The block is modified temporarily and restored.
bool command(const Problem& p, Block& b, float* efforts) {
    float* const out = b.efforts;
    const int32_t* const driven = b.driven;
    const Sweep law = is_limited(p) ? p.route.limited : p.route.law;
    bool bad = false;
    b.efforts = efforts;
    b.driven = nullptr;
    if (law)
        bad = law(p, b);
    else
        std::fill_n(efforts, b.size, 0.0f);
    for (size_t k = 0, use = 0; k < p.route.laws.size(); ++use)
        if (static_cast<int>(use) != p.route.law_of_all) p.route.laws[k++](p, b, p.controllers[use], efforts);
    for (const NetworkUse& use : p.networks) network_by_places(b, use, efforts);
    if (p.free_slots) leave_free(p, b, efforts);
    b.efforts = out;
    b.driven = driven;
    return bad;
}

// Positions and velocities of the shafts of linked joints, and of the joints; the same without a linkage.
struct Truth {
    const float *shafts[2], *joints[2];
};

// Fault code of the requested signals of an element.
NOINLINE int32_t asked_fault_of(const Problem& p, const Block& b, int64_t i) {
    const uint32_t asking = p.asking[i % p.period];
    for (int s = 0; s < kMostAsked && asking >> s; ++s) {
        if (!(asking >> s & 1)) continue;
        if (!signal_is_good(s, p.asked[s][b.first + i])) return kAskedFault;
    }
    return 0;
}

// Use joint signals from the linkage on. A fault of a requested signal is one of all joints of the linkage.
void leave_linkage(const Problem& p, Block& b, float* efforts, const Truth& truth, const Scratch& scratch) {
    act_on(b, truth.joints[0], truth.joints[1]);
    for (int64_t i = 0; i < b.size && !p.asking.empty(); ++i)
        efforts[i] = nan_unless(asked_fault_of(p, b, i) == 0, efforts[i]);
    link_out(p, b, efforts);
    for (size_t k = p.linkage_stage; k < p.limits.size(); ++k)
        if (p.limits[k].curve >= 0) look_up(p.limits[k], b, scratch);
}

// Replace efforts of elements with an effort delay by those that act.
NOINLINE void delay_efforts(const Problem& p, const Block& b, const Use& use, float* efforts) {
    float* values[kMostLate] = {efforts};
    const int32_t* const places = use.places;
    act_late(b, use, p.robots * use.slots, [places](int64_t n) -> int64_t { return places[n]; }, values);
}

// Held efforts are those before the limits.
NOINLINE void note_held(const Problem& p, const Block& b, const Use& use, const float* efforts) {
    for (int64_t n = 0; n < b.robots * use.slots; ++n) p.computed[b.first + use.places[n]] = efforts[use.places[n]];
}

// Apply all limits to the efforts `here`, into the efforts of the block; returns true if any is not finite. With
// transmissions, the block starts with motor signals.
bool limit(const Problem& p, Block& b, float* here, float* there, const Truth& truth, const Scratch& scratch) {
    float* const out = b.efforts;
    const int32_t* const driven = b.driven;
    // record which limit changed each element; limits run one by one then, see `choose_limits`
    const auto note = [&](const Limits& limits, const float* RESTRICT before, const float* RESTRICT after) {
        uint8_t* RESTRICT by = p.limited_by + b.first;
        const uint8_t number = static_cast<uint8_t>(limits.first + 1);
        for (int64_t i = 0; i < b.size; ++i) by[i] = before[i] != after[i] ? number : by[i];
    };
    for (size_t k = is_limited(p) ? 1 : 0; k < p.route.limits.size(); ++k) {
        const Limits& limits = p.route.limits[k];
        if (p.motor && limits.first == p.motor_stages) std::copy_n(here, b.size, p.motor + b.first);
        if (p.transmissions && limits.first == p.first_transmission) act_on(b, truth.shafts[0], truth.shafts[1]);
        if (limits.first == p.linkage_stage) {
            // the law of a shaft is that of all of them
            leave_linkage(p, b, here, truth, scratch);
            continue;
        }
        const bool noted = p.limited_by && p.limits[limits.first].limits;
        const Use& use = p.limits[limits.first];
        if (limits.places) {
            if (noted) std::copy_n(here, b.size, there);
            limits.places(p, b, use, here);
            if (use.late) delay_efforts(p, b, use, here);
            if (limits.first == p.rate && p.computed) note_held(p, b, use, here);
            if (noted) note(limits, there, here);
            continue;
        }
        b.limit = limits.first;
        b.given = here;
        if (k + 1 == p.route.limits.size()) {
            const bool bad = limits.sweep(p, b);
            if (use.late) delay_efforts(p, b, use, out);
            if (limits.first == p.rate && p.computed) note_held(p, b, use, out);
            if (noted) note(limits, here, out);
            return bad;
        }
        b.efforts = there;
        b.driven = nullptr;
        limits.sweep(p, b);
        if (use.late) delay_efforts(p, b, use, there);
        if (limits.first == p.rate && p.computed) note_held(p, b, use, there);
        b.efforts = out;
        b.driven = driven;
        if (noted) note(limits, here, there);
        std::swap(here, there);
    }
    b.given = here;
    return (b.driven ? sweep<Given, true> : sweep<Given, false>)(p, b);
}

// ---- previous state, for faults of limits

// Part of a state array: `pieces` of `count` numbers, `pitch` apart; `each` is the size per element.
struct Kept {
    float* state;
    const float* before;
    int64_t pieces, pitch, count, each;
    const int32_t* places;
    // true for what comes before the controller, and the controller; for a stage that follows all limits
    bool is_commanding, follows;
    // true for what acts late, which goes on where the effort alone is not finite
    bool goes_on;
};

// Call with each state array of a block. If the state is updated in place, its previous value is in the memory of the
// block.
template <class Each>
void for_kept(const Problem& p, const Block& b, const Each& each) {
    bool is_commanding = true, follows = false, goes_on = false;
    const auto arrays = [&](const auto& use, int number, int64_t pieces, int64_t size) {
        const int64_t first = b.first_robot * use.slots * size, count = b.robots * use.slots * size;
        const float* kept = b.kept + use.kept_at * b.robots;
        for (int s = 0; s < number; ++s, kept += pieces * count) {
            if (rested(use, b.number, s)) continue;
            const float* const before = use.before[s];
            Kept k{use.state[s] + first,
                   before ? before + first : kept,
                   pieces,
                   p.robots * use.slots * size,
                   count,
                   size,
                   use.places,
                   is_commanding,
                   follows,
                   goes_on};
            each(k, !before);
        }
    };
    const auto laws = [&](const std::vector<Use>& uses) {
        for (const Use& use : uses) {
            follows = &uses == &p.limits && &use - uses.data() >= p.first_following;
            goes_on = use.late > 0;
            if (use.restores) arrays(use, use.kept(), 1, 1);
        }
        follows = goes_on = false;
    };
    laws(p.controllers);
    for (const NetworkUse& use : p.networks) arrays(use, use.arrays, use.pieces, use.each);
    is_commanding = false;
    laws(p.limits);
    is_commanding = true;
    laws(p.feedback);
}

// Save the state of a block before laws write it.
void keep_state(const Problem& p, const Block& b) {
    for (const Saved& one : p.saved) {
        const float* const from = one.state + b.first_robot * one.size;
        float* const to = b.kept + one.at * b.robots;
        for (int64_t piece = 0; piece < one.pieces; ++piece)
            std::copy_n(from + piece * one.pitch, b.robots * one.size, to + piece * b.robots * one.size);
    }
}

// Restore the state of elements that `is_bad`, of all laws or of those up to the controller; it is also given whether
// the law goes on where the effort alone is not finite.
template <class IsBad>
void put_back(const Problem& p, const Block& b, const IsBad& is_bad, bool all = true) {
    for (const Use& use : p.limits) disturb(use, b.number);
    for_kept(p, b, [&](const Kept& k, bool in_place) {
        if (!all && !k.is_commanding) return;
        // in place, the state before the first phase is overwritten, and controllers that do not run save none
        if (in_place && (p.phase == Phase::kLimit || (k.is_commanding && !b.commands))) return;
        const int64_t pitch = in_place ? k.count : k.pitch;
        for (int64_t n = 0; n < k.count / k.each; ++n) {
            if (!is_bad(k.places[n], k.goes_on)) continue;
            for (int64_t piece = 0; piece < k.pieces; ++piece)
                std::copy_n(k.before + piece * pitch + n * k.each, k.each, k.state + piece * k.pitch + n * k.each);
        }
    });
}

// Restore the states of the stages that follow all limits, which are to be evaluated again.
void put_back_following(const Problem& p, const Block& b) {
    for_kept(p, b, [&](const Kept& k, bool in_place) {
        const int64_t pitch = in_place ? k.count : k.pitch;
        for (int64_t piece = 0; k.follows && piece < k.pieces; ++piece)
            std::copy_n(k.before + piece * pitch, k.count, k.state + piece * k.pitch);
    });
}

// ---- faults

int32_t fault_of(const float* const* signals, int64_t i) {
    int32_t code = 0;
    for (int s = 0; s < kSignals; ++s) code |= finite(signals[s][i]) ? 0 : 1 << s;
    return code;
}

// Record the faults of a block and set the efforts of faulty elements to zero.
NOINLINE void find_faults(const Problem& p, const Block& b, const float* const* signals) {
    const auto code_of = [&](int64_t i) {
        const int32_t code = fault_of(signals, i) | (p.asking.empty() ? 0 : asked_fault_of(p, b, i));
        return code || finite(b.efforts[i]) ? code : kEffortFault;
    };
    // signals of a linked motor are also those of other joints
    const auto is_linked = [&](int64_t i) {
        return std::any_of(p.linkages.begin(), p.linkages.end(), [i](const Linkage& one) {
            return std::find(one.places.begin(), one.places.end(), static_cast<int32_t>(i)) != one.places.end();
        });
    };
    const auto is_kept = [&](int64_t i, bool goes_on) {
        const int32_t code = code_of(i);
        return (goes_on ? (code & ~kEffortFault) | (is_linked(i) ? fault_of(b.input, i) : 0) : code) != 0;
    };
    if (b.kept) put_back(p, b, is_kept);
    const std::lock_guard<std::mutex> lock(*p.guard);
    for (int64_t i = 0; i < b.size; ++i) {
        const int64_t place = i % p.period;
        const int32_t slot = p.slot_of ? p.slot_of[place] : static_cast<int32_t>(place);
        if (slot < 0) continue;
        const int32_t code = code_of(i);
        if (!code) continue;
        b.efforts[i] = 0.0f;
        if (p.computed) p.computed[b.first + i] = 0.0f;
        if (p.limited_by) p.limited_by[b.first + i] = 0;
        if (p.motor) p.motor[b.first + i] = 0.0f;
        p.faults->push_back({b.first_robot + i / p.period, slot, code, p.step});
        // also reported to the owner of the handover
        if (p.phase == Phase::kLimit) p.handover.bad[b.first + i] = code;
    }
}

// ---- efforts at the end of the step, of all elements of a plan: of shafts until they leave the linkage, if there is
// one

// Note the end of the step under given efforts, of all elements or of those of a stage.
template <class At>
void note_end_of(const Problem& p, const Block& b, const Truth& truth, const float* efforts, int64_t count,
                 const At at) {
    const float *const q = truth.shafts[0], *const free = end_array(p, b, kFreeVelocity),
                       *const gain = end_array(p, b, kGain);
    float *RESTRICT const end_q = end_array(p, b, kEndPosition), *RESTRICT const end_qd = end_array(p, b, kEndVelocity);
    const float dt = p.dt;
    INDEPENDENT
    for (int64_t n = 0; n < count; ++n) {
        const int64_t i = at(n);
        end_qd[i] = free[i] + gain[i] * efforts[i];
        end_q[i] = q[i] + dt * end_qd[i];
    }
}
void note_end(const Problem& p, const Block& b, const Truth& truth, const float* efforts) {
    note_end_of(p, b, truth, efforts, b.size, [](int64_t n) { return n; });
}

// What joints do without their motors; `none` are efforts of zero.
NOINLINE void find_ends(const Problem& p, const Block& b, const Truth& truth, float* none) {
    float *const gain = end_array(p, b, kGain), dt = p.dt;
    // gaps between columns stay as they are
    std::copy_n(b.input[kVelocity], b.size, end_array(p, b, kFreeVelocity));
    std::fill_n(gain, b.size, 0.0f);
    p.route.end(p, b, p.limits[p.ends], nullptr);
    std::fill_n(none, b.size, 0.0f);
    note_end(p, b, truth, none);
    // what the stages get of the joint; those of motors get no inertia, for their velocity is that of the end
    const float *const free = end_array(p, b, kFreeVelocity), *const qd = truth.shafts[1],
                       *const whole = p.asked[kLoadIsWhole] + b.first;
    float *RESTRICT const of_joint = end_array(p, b, kInertiaOfJoint),
                          *RESTRICT const told = end_array(p, b, kLoadOfJoint),
                          *RESTRICT const is_whole = end_array(p, b, kIsWhole);
    std::fill_n(end_array(p, b, kInertiaOfMotor), b.size, 0.0f);
    INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
        of_joint[i] = dt / gain[i];
        told[i] = (qd[i] - free[i]) / gain[i];
        is_whole[i] = whole_or_estimated(whole[i]);
    }
}

// Give controllers position and velocity of the end of the step, or what sensors measured.
void see_end(const Problem& p, Block& b, const float* const* measured) {
    for (int s = 0; s < 2; ++s) {
        const float *const seen = measured[s], *const end = end_array(p, b, kEndPosition + s);
        float* RESTRICT const to = end_array(p, b, kSeenPosition + s);
        INDEPENDENT
        for (int64_t i = 0; i < b.size; ++i) to[i] = chosen(p.sees_end[i] != 0, end[i], seen[i]);
    }
    act_on(b, end_array(p, b, kSeenPosition), end_array(p, b, kSeenVelocity));
}

// Efforts before a stage, and their slopes: those of the controller and the stages before, as a line.
struct Line {
    const float *efforts, *slopes, *gain;
    float at(int64_t i, float effort) const { return efforts[i] + slopes[i] * (gain[i] * (effort - efforts[i])); }
};

// Improve the solutions `tried` of a law. A solution that has settled stays, whatever rounds others still need, and so
// does the first one of an element that is not `curved`. Returns true if any has to be tried again.
bool improve(const Problem& p, const Block& b, const float* RESTRICT tried, const int32_t* RESTRICT curved,
             float* RESTRICT efforts) {
    const float* RESTRICT const gain = end_array(p, b, kGain);
    float *RESTRICT const slopes = end_array(p, b, kSlope), *RESTRICT const low = end_array(p, b, kLow),
                          *RESTRICT const high = end_array(p, b, kHigh), *RESTRICT const open = end_array(p, b, kOpen),
                          *RESTRICT const kept = end_array(p, b, kSettledSlope);
    int32_t again = 0;
    INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
        const bool moves = open[i] != 0.0f;
        const float slope = chosen(moves, bounded_slope(slopes[i]), kept[i]);
        const Tried next = improved(tried[i], efforts[i], slope, gain[i], low[i], high[i]);
        efforts[i] = chosen(moves, next.effort, tried[i]);
        slopes[i] = kept[i] = slope;
        low[i] = next.low, high[i] = next.high;
        const bool stays_open = moves & !next.settled & (curved[i] != 0);
        open[i] = chosen(stays_open, 1.0f, 0.0f);
        again |= static_cast<int32_t>(stays_open);
    }
    return again;
}

// Brackets without ends, of elements that are all open.
void open_brackets(const Problem& p, const Block& b) {
    std::fill_n(end_array(p, b, kLow), b.size, -kInfinity);
    std::fill_n(end_array(p, b, kHigh), b.size, kInfinity);
    std::fill_n(end_array(p, b, kOpen), b.size, 1.0f);
}

// Efforts of controllers, and their slopes, at given signals. One that a sensor informs does not feel the end of the
// step.
void evaluate_controllers(const Problem& p, const Block& b, float* efforts, const Scratch& scratch) {
    float* const slopes = end_array(p, b, kSlope);
    look_up_for_controllers(p, b, scratch);
    std::fill_n(efforts, b.size, 0.0f);
    std::fill_n(slopes, b.size, 0.0f);
    for (size_t k = 0; k < p.controllers.size(); ++k) p.route.laws_at_end[k](p, b, p.controllers[k], efforts);
    if (p.free_slots) leave_free(p, b, efforts);
    for (int64_t i = 0; i < b.size; ++i) slopes[i] = bounded_slope(chosen(p.sees_end[i] != 0, slopes[i], 0.0f));
}

// Efforts of controllers at the end of the step.
NOINLINE void command_at_end(const Problem& p, Block& b, const Truth& truth, float* efforts, float* tried,
                             const Scratch& scratch) {
    find_ends(p, b, truth, efforts);
    signals_of_controllers(p, b, scratch);
    const float* const measured[] = {b.input[kPosition], b.input[kVelocity]};
    open_brackets(p, b);
    for (int round = 0; round < kMostRounds; ++round) {
        std::copy_n(efforts, b.size, tried);
        see_end(p, b, measured);
        evaluate_controllers(p, b, efforts, scratch);
        const bool again = improve(p, b, tried, p.route.curved.data(), efforts);
        note_end(p, b, truth, efforts);
        if (!again) break;
    }
    // as measured, for `write_states_at_end`
    act_on(b, measured[0], measured[1]);
}

// Curve values of a stage, and their slopes, at the signals of a block.
void look_up_at_end(const Problem& p, const Block& b, const Use& use, const Scratch& scratch) {
    if (use.curve < 0) return;
    look_up(use, b, scratch);
    for (size_t n = 0; n < use.curves.size(); ++n)
        look_up<true>(use.curves[n], b, end_array(p, b, kCurveSlopes + static_cast<int>(n)), scratch.at(Scratch::kOver),
                      scratch.at(Scratch::kValues));
}

// One stage at the end of the step, without its states. It is evaluated where those before it leave the joint, and
// again where it leaves the joint itself, as long as that changes its effort.
void stage_at_end(const Problem& p, const Block& b, int number, const Truth& truth, float* efforts, float* tried,
                  const Scratch& scratch) {
    const Use& use = p.limits[number];
    float *const before = end_array(p, b, kBefore), *const slope_before = end_array(p, b, kSlopeBefore),
                 *const slopes = end_array(p, b, kSlope);
    std::copy_n(efforts, b.size, before);
    std::copy_n(slopes, b.size, slope_before);
    if (p.route.solved_at_end[number]) {
        p.route.solved_at_end[number](p, b, use, efforts);
        note_end(p, b, truth, efforts);
    } else {
        open_brackets(p, b);
        const Line line{before, slope_before, end_array(p, b, kGain)};
        for (int round = 0; round < kMostRounds; ++round) {
            std::copy_n(efforts, b.size, tried);
            if (round) {
                for (int64_t i = 0; i < b.size; ++i) efforts[i] = line.at(i, tried[i]);
                std::copy_n(slope_before, b.size, slopes);
            }
            look_up_at_end(p, b, use, scratch);
            p.route.stages_at_end[number](p, b, use, efforts);
            const bool again = improve(p, b, tried, p.route.moves[number].data(), efforts);
            note_end(p, b, truth, efforts);
            if (!again) break;
        }
    }
    if (p.limited_by && use.limits)
        for (int64_t i = 0; i < b.size; ++i)
            if (before[i] != efforts[i]) p.limited_by[b.first + i] = static_cast<uint8_t>(number + 1);
}

// Tell friction how the effort of the motor falls with the final velocity.
void lift(const Problem& p, const Block& b) {
    const float *const slopes = end_array(p, b, kSlope), *const end_qd = end_array(p, b, kEndVelocity);
    float *RESTRICT const damping = end_array(p, b, kDamping), *RESTRICT const lifts = end_array(p, b, kLift);
    INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
        damping[i] = -slopes[i];
        lifts[i] = damping[i] * end_qd[i];
    }
}

// True for a stage that steps the joint itself, with the slope of the motor: friction.
bool steps_joint(const Problem& p, int number) {
    return number >= p.first_following && number != p.ends && !p.route.stages_at_end[number];
}

// Note efforts, slopes and final velocities of the motors, whose efforts friction changes; of all elements, or of those
// with friction.
void note_motor(const Problem& p, const Block& b, const float* efforts, bool rub) {
    if (!p.motor) return;
    const float *const end_qd = end_array(p, b, kEndVelocity), *const slopes = end_array(p, b, kSlope);
    float *const motor_qd = end_array(p, b, kMotorVelocity), *const motor_slopes = end_array(p, b, kMotorSlope);
    for (int64_t i = 0; i < b.size; ++i) {
        if (rub && !p.route.rubs[i]) continue;
        p.motor[b.first + i] = efforts[i], motor_qd[i] = end_qd[i], motor_slopes[i] = slopes[i];
    }
}

// Efforts of motors, and their slopes, at a given end of the step; those of friction and what follows it are left out.
template <bool NOTES = true>
NOINLINE void evaluate_motors(const Problem& p, Block b, Block commanded, float* efforts, const Scratch& scratch) {
    const float* const measured[] = {commanded.input[kPosition], commanded.input[kVelocity]};
    float* const slopes = end_array(p, b, kSlope);
    see_end(p, commanded, measured);
    evaluate_controllers(p, commanded, efforts, scratch);
    act_on(b, end_array(p, b, kEndPosition), end_array(p, b, kEndVelocity));
    int k = 0;
    for (; k < p.ends && !steps_joint(p, k); ++k) {
        if (NOTES && k == p.first_following) note_motor(p, b, efforts, true);
        if (!p.route.stages_at_end[k]) continue;
        look_up_at_end(p, b, p.limits[k], scratch);
        p.route.stages_at_end[k](p, b, p.limits[k], efforts);
        for (int64_t i = 0; i < b.size; ++i) slopes[i] = bounded_slope(slopes[i]);
    }
    if (NOTES && k <= p.first_following) note_motor(p, b, efforts, true);
}

// Write the states of controllers and motors at the end of the step, which limits and friction have changed. Efforts
// become NaN where one is not finite; `there` are scratch.
NOINLINE void write_states_at_end(const Problem& p, Block b, Block commanded, float* efforts, float* there,
                                  const Scratch& scratch) {
    if (!p.route.has_states_at_end) return;
    const float* const measured[] = {commanded.input[kPosition], commanded.input[kVelocity]};
    see_end(p, commanded, measured);
    evaluate_controllers(p, commanded, there, scratch);
    for (size_t k = 0; k < p.controllers.size(); ++k)
        if (p.route.law_states_at_end[k]) p.route.law_states_at_end[k](p, commanded, p.controllers[k], there);
    act_on(b, end_array(p, b, kEndPosition), end_array(p, b, kEndVelocity));
    for (int k = 0; k < p.ends && !steps_joint(p, k); ++k) {
        if (p.limits[k].curve >= 0) look_up(p.limits[k], b, scratch);
        p.route.stages[k](p, b, p.limits[k], there);
    }
    for (int64_t i = 0; i < b.size; ++i) efforts[i] = nan_unless(finite(there[i]), efforts[i]);
}

// How efforts fall between the end of the step, where those of motors are in `kLow`, and its start.
NOINLINE void find_chords(const Problem& p, const Block& b, const Truth& truth, const Block& commanded,
                          const Scratch& scratch) {
    float *const slopes = end_array(p, b, kSlope), *const slope_there = end_array(p, b, kSlopeBefore),
                 *const end_q = end_array(p, b, kEndPosition), *const end_qd = end_array(p, b, kEndVelocity),
                 *const there = end_array(p, b, kLineVelocity), *const at_end = end_array(p, b, kLow),
                 *const held = end_array(p, b, kHigh), *const damping = end_array(p, b, kDamping),
                 *const lifts = end_array(p, b, kLift);
    const float *const q = truth.shafts[0], *const qd = truth.shafts[1];
    std::copy_n(slopes, b.size, slope_there);
    std::copy_n(end_qd, b.size, there);
    for (int64_t i = 0; i < b.size; ++i) end_qd[i] = qd[i], end_q[i] = q[i] + p.dt * qd[i];
    evaluate_motors<false>(p, b, commanded, held, scratch);
    for (int64_t i = 0; !p.linkages.empty() && i < b.size; ++i)
        if (p.sums.pulls[i % p.sums.length]) held[i] = chosen(held[i] < 0.0f, 0.0f, held[i]);
    for (int64_t i = 0; i < b.size; ++i) {
        damping[i] = -chord(at_end[i], held[i], slope_there[i], there[i], qd[i], p.dt);
        lifts[i] = damping[i] * there[i];
        slopes[i] = slope_there[i], end_qd[i] = there[i], end_q[i] = q[i] + p.dt * there[i];
    }
}

// Friction of the joints, of motors whose efforts fall with the final velocity. It changes that velocity, and with it
// the piece of the line on which a limit leaves a motor: then the motors are evaluated there, and friction again. The
// last time they keep their efforts, so that no limit is exceeded. The efforts of the motors at the end of the step are
// left in `kLow`. Elements without friction stay as they are.
NOINLINE void step_joints(const Problem& p, Block& b, int first, float* efforts, const Truth& truth,
                          const Block& commanded, const Scratch& scratch) {
    float *const slopes = end_array(p, b, kSlope), *const end_qd = end_array(p, b, kEndVelocity),
                 *const line_qd = end_array(p, b, kLineVelocity), *const line = end_array(p, b, kBefore),
                 *const line_slopes = end_array(p, b, kSlopeBefore), *const found = end_array(p, b, kLow),
                 *const open = end_array(p, b, kOpen);
    float* const motor_slopes = end_array(p, b, kMotorSlope);
    const auto keep_others = [&]() {
        for (int64_t i = 0; i < b.size; ++i)
            if (!p.route.rubs[i]) found[i] = efforts[i], slopes[i] = line_slopes[i];
    };
    for (int round = 0;; ++round) {
        if (round) put_back_following(p, b);
        std::copy_n(efforts, b.size, line);
        std::copy_n(slopes, b.size, line_slopes);
        std::copy_n(end_qd, b.size, line_qd);
        act_on(b, truth.shafts[0], truth.shafts[1]);
        for (int k = first; k < p.ends; ++k) {
            lift(p, b);
            if (p.limits[k].curve >= 0) look_up(p.limits[k], b, scratch);
            p.route.stages[k](p, b, p.limits[k], efforts);
            // elsewhere a line may begin at another velocity than that of its effort
            over_elements(p, p.limits[k],
                          [&](const auto at) { note_end_of(p, b, truth, efforts, b.robots * p.limits[k].slots, at); });
        }
        if (round + 1 == kMostLines) {
            evaluate_motors<false>(p, b, commanded, found, scratch);
            for (int64_t i = 0; i < b.size; ++i) slopes[i] = chosen(open[i] != 0.0f, 0.0f, slopes[i]);
            keep_others();
            return;
        }
        evaluate_motors(p, b, commanded, found, scratch);
        keep_others();
        int32_t apart = 0;
        for (int64_t i = 0; i < b.size; ++i) {
            const float change = line_slopes[i] * (end_qd[i] - line_qd[i]);
            const bool differs = p.route.rubs[i] && nearness_to_line(line[i], change, found[i]) < 0.0f;
            open[i] = chosen(differs, 1.0f, 0.0f);
            apart |= static_cast<int32_t>(differs);
        }
        if (!apart) return;
        const bool last_is_next = round + 2 == kMostLines;
        for (int64_t i = 0; i < b.size; ++i) {
            if (open[i] != 0.0f) {
                efforts[i] = found[i];
                if (last_is_next) slopes[i] = motor_slopes[i] = 0.0f;
            } else {
                // the others are solved: again the same
                efforts[i] = line[i], slopes[i] = line_slopes[i], end_qd[i] = line_qd[i];
            }
        }
    }
}

// Cables that would push are slack: their shafts end the step as if without a motor.
NOINLINE void slacken_at_end(const Problem& p, const Block& b, float* efforts, const Truth& truth) {
    slacken(p, b, efforts, efforts);
    float *const end_q = end_array(p, b, kEndPosition), *const end_qd = end_array(p, b, kEndVelocity);
    const float* const free = end_array(p, b, kFreeVelocity);
    for (int64_t i = 0; i < b.size; ++i) {
        if (!p.sums.pulls[i % p.sums.length] || efforts[i] != 0.0f) continue;
        end_array(p, b, kSlope)[i] = 0.0f;
        end_qd[i] = free[i], end_q[i] = truth.shafts[0][i] + p.dt * free[i];
    }
}

// All stages after the controllers, at the end of the step. Returns true if an effort is not finite.
NOINLINE bool limit_at_end(const Problem& p, Block& b, float* efforts, float* there, const Truth& truth,
                           const float* const* measured, const Scratch& scratch) {
    Block commanded = b;
    act_on(commanded, measured[0], measured[1]);
    act_on(b, end_array(p, b, kEndPosition), end_array(p, b, kEndVelocity));
    int k = 0;
    for (; k < p.ends && !steps_joint(p, k); ++k) {
        if (k == p.first_following) note_motor(p, b, efforts, false);
        if (p.route.stages_at_end[k]) stage_at_end(p, b, k, truth, efforts, there, scratch);
    }
    if (k <= p.first_following) note_motor(p, b, efforts, false);
    if (k < p.ends)
        step_joints(p, b, k, efforts, truth, commanded, scratch);
    else if (!p.linkages.empty())
        slacken_at_end(p, b, efforts, truth);
    if (k == p.ends) std::copy_n(efforts, b.size, end_array(p, b, kLow));
    const Use& mode = p.limits[p.ends];
    if (hands_over(mode, Arrays<ImplicitEffort>(mode, b), b.size))
        find_chords(p, b, truth, commanded, scratch);
    else
        lift(p, b);
    const float *const end_qd = end_array(p, b, kEndVelocity), *const motor_qd = end_array(p, b, kMotorVelocity),
                       *const motor_slope = end_array(p, b, kMotorSlope);
    for (int64_t i = 0; p.motor && i < b.size; ++i) p.motor[b.first + i] += motor_slope[i] * (end_qd[i] - motor_qd[i]);
    write_states_at_end(p, b, commanded, efforts, there, scratch);
    act_on(b, truth.shafts[0], truth.shafts[1]);
    p.route.stages[p.ends](p, b, p.limits[p.ends], efforts);
    if (!p.linkages.empty()) {
        leave_linkage(p, b, efforts, truth, scratch);
        // nothing acts behind it
        if (p.motor) std::copy_n(efforts, b.size, p.motor + b.first);
    }
    b.given = efforts;
    return (b.driven ? sweep<Given, true> : sweep<Given, false>)(p, b);
}

// ---- rates of controllers

// Find the elements whose controllers run in this step. Returns false if there are none.
NOINLINE bool find_due(const Problem& p, Block& b, const Scratch& scratch) {
    float* const due = scratch.at(Scratch::kDue);
    std::fill_n(due, b.size, 1.0f);
    p.route.due(p, b, p.limits[p.rate], due);
    int32_t any = 0, all = 1;
    for (int64_t i = 0; i < b.size; ++i) {
        const int32_t runs = static_cast<int32_t>(due[i] > 0.5f);
        any |= runs, all &= runs;
    }
    b.due = all ? nullptr : due;
    return any;
}

// Elements whose controllers do not run keep the state of these, if others ran; the rate replaces their efforts, unless
// a signal is bad.
NOINLINE void rest(const Problem& p, const Block& b, const float* const* signals, float* RESTRICT efforts, bool ran) {
    const float* RESTRICT const due = b.due;
    if (ran && b.kept) put_back(p, b, [due](int64_t i, bool) { return due[i] < 0.5f; }, false);
    const float *const q = signals[kPosition], *const qd = signals[kVelocity],
                       *const q_target = signals[kPositionTarget], *const qd_target = signals[kVelocityTarget],
                       *const feedforward = signals[kFeedforward];
    INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
        // zero, or NaN if a signal is not finite
        const float idle = (q[i] - q[i]) + (qd[i] - qd[i]) + (q_target[i] - q_target[i]) +
                           (qd_target[i] - qd_target[i]) + (feedforward[i] - feedforward[i]);
        efforts[i] = chosen(due[i] > 0.5f, efforts[i], idle);
    }
    for (int64_t i = 0; !p.asking.empty() && i < b.size; ++i)
        if (due[i] < 0.5f && asked_fault_of(p, b, i)) efforts[i] = kNaN;
}

// Efforts that `command` gives, and efforts that rates will hold.
bool command_due(const Problem& p, Block& b, const float* const* signals, float* efforts, const Scratch& scratch) {
    if (p.rate < 0) {
        signals_of_controllers(p, b, scratch);
        return command(p, b, efforts);
    }
    const bool any = b.commands = find_due(p, b, scratch);
    bool bad = false;
    b.dt = find_periods(p, b, scratch);
    if (any) {
        signals_of_controllers(p, b, scratch);
        bad = command(p, b, efforts);
    }
    b.dt = p.dt_row;
    if (b.due) rest(p, b, signals, efforts, any);
    return bad;
}

// ---- halves of a step

// Store the state between the phases; the efforts are already stored.
NOINLINE void hand_over(const Problem& p, const Block& b, const float* const* signals) {
    const Handover& to = p.handover;
    for (int s = 0; s < kSignals; ++s) {
        const float* RESTRICT from = b.input[s];
        float* RESTRICT kept = to.signals[s] + b.first;
        for (int64_t i = 0; i < b.size; ++i) kept[i] = finite(from[i]) ? from[i] : kept[i];
    }
    for (int64_t i = 0; i < b.size; ++i) {
        int32_t code = fault_of(signals, i) | (p.asking.empty() ? 0 : asked_fault_of(p, b, i));
        // fault of a sensor
        if (!code && fault_of(b.input, i) & (1 << kPosition | 1 << kVelocity)) code = kEffortFault;
        to.bad[b.first + i] = code;
        if (code) to.efforts[b.first + i] = kNaN;
        to.computed[b.first + i] = to.efforts[b.first + i];
    }
}

// ---- the step

// PLAIN: a whole step of a plain route, which does not pay for what it does not have.
template <bool PLAIN>
void step_block(const Problem& p, int64_t number, const Scratch& scratch) {
    const Phase phase = PLAIN ? Phase::kWhole : p.phase;
    const auto has = [](bool other) { return !PLAIN && other; };
    Block b = block_of(p, number);
    if (has(!p.published.empty()) && phase != Phase::kLimit) publish(p, b);
    b.found = scratch.at(Scratch::kFound);
    b.lag = scratch.at(Scratch::kLag);
    b.derived = scratch.at(Scratch::kArrays);
    b.columns = scratch.columns(p);
    b.pitch = scratch.pitch;
    // a fused sweep writes states only after the limits
    const bool fused = phase == Phase::kWhole && p.route.whole;
    if (p.kept && !fused) b.kept = scratch.kept(p);

    // signals in
    const float* signals[kSignals];
    signals_in(p, b, scratch.at(Scratch::kGathered), scratch.at(Scratch::kEfforts));
    std::copy(b.input, b.input + kSignals, signals);

    // linkage
    if (has(!p.linkages.empty())) link_in(p, b);

    // delay
    bool bad = false;
    if (p.delayed_slots && phase != Phase::kLimit) {
        float *delayed[kCommands], *before[kCommands];
        for (int c = 0; c < kCommands; ++c) {
            delayed[c] = scratch.at(Scratch::kDelayed + c);
            before[c] = scratch.at(Scratch::kBefore + c);
        }
        bad = delay(p, b, delayed, before, scratch.ring_rows());
    }

    // law and limits
    derive_all(p, b, scratch);
    if (b.kept && phase != Phase::kLimit) keep_state(p, b);
    float *here = scratch.at(Scratch::kHere), *const there = scratch.at(Scratch::kThere);
    const Truth truth{{b.input[kPosition], b.input[kVelocity]}, {signals[kPosition], signals[kVelocity]}};
    if (has(p.felt_arrays)) feel(p, b);
    const auto commanded = [&](float* efforts) {
        return PLAIN ? command(p, b, efforts) : command_due(p, b, signals, efforts, scratch);
    };
    if (phase == Phase::kCommand) {
        commanded(p.handover.efforts + b.first);
        return hand_over(p, b, signals);
    }
    if (fused) {
        bad |= p.route.whole(p, b);
    } else if (is_limited(p) && p.route.is_all_limited) {
        // only what comes before the controller keeps law and limits from being all there is
        bad |= commanded(b.efforts);
    } else {
        float* const computed_out = p.computed + b.first;
        if (phase == Phase::kLimit) {
            std::copy_n(p.handover.efforts + b.first, b.size, here);
            if (p.computed) std::copy_n(p.handover.computed + b.first, b.size, computed_out);
        } else {
            // write directly to the observed efforts, if no limit works in place
            const bool directly = p.computed && p.route.one_sweep;
            if (has(p.ends >= 0))
                command_at_end(p, b, truth, here, there, scratch);
            else
                commanded(directly ? computed_out : here);
            if (p.computed && !directly) std::copy_n(here, b.size, computed_out);
            if (directly) here = computed_out;
        }
        const float* const measured[] = {b.input[kPosition], b.input[kVelocity]};
        // the remaining stages act on the true signals
        act_on(b, truth.shafts[0], truth.shafts[1]);
        if (has(p.transmissions)) act_on_motors(p, b, here, scratch);
        if (p.limited_by) std::fill_n(p.limited_by + b.first, b.size, uint8_t{0});
        bad |= has(p.ends >= 0) ? limit_at_end(p, b, here, there, truth, measured, scratch)
                                : limit(p, b, here, there, truth, scratch);
    }

    if (has(p.motor) && p.ends < 0 && p.motor_stages == static_cast<int>(p.limits.size()))
        std::copy_n(b.efforts, b.size, p.motor + b.first);

    // guard
    if (bad) find_faults(p, b, signals);

    // efforts out
    efforts_out(p, b);
}

void commands_of_shafts(const Problem& p, int64_t robot, float* memory, const float** commands) {
    const Scratch scratch(p, memory);
    Block b = block_at(p, robot, 1);
    b.derived = scratch.at(Scratch::kArrays);
    b.pitch = scratch.pitch;
    signals_in(p, b, scratch.at(Scratch::kGathered), scratch.at(Scratch::kEfforts));
    link_in(p, b);
    std::copy_n(b.input + kPositionTarget, kCommands, commands);
}

void step_blocks(const Problem& p, int64_t first, int64_t last, float* memory) {
    if (p.route.bare && p.phase == Phase::kWhole) {
        // the block is a single sweep in place
        for (int64_t number = first; number < last; ++number) {
            Block b = block_of(p, number);
            point_at_arrays(p, b);
            if (p.route.whole(p, b)) find_faults(p, b, b.input);
        }
        return;
    }
    const Scratch scratch(p, memory);
    // shared lags give the same positions in the ring for all blocks
    const bool in_rows = p.delayed_slots == p.slots && p.ring.uniform >= 0 && p.layout != Layout::kGaps;
    if (p.delayed_slots && !p.ring.own_lag && !in_rows)
        (p.ring.some_now ? find_rows<true> : find_rows<false>)(p.ring, p.ring.shared_lag, p.delayed_places,
                                                               p.robots_per_block * p.delayed_slots,
                                                               scratch.ring_rows());
    const auto step = p.route.plain && p.phase == Phase::kWhole ? step_block<true> : step_block<false>;
    for (int64_t number = first; number < last; ++number) step(p, number, scratch);
}

// ---- choice of kernels

// Split the limits into sweeps, each as long as possible.
template <bool MASKED>
void choose_limits(Problem& p) {
    int at = 0;
    const int count = static_cast<int>(p.limits.size());
    // neutral parameters make a limit a no-op; other laws may change the sign of a zero, and signals requested by some
    // joints may be bad elsewhere. Curves are infinite there, which only a limit of a single curve without parameters
    // tolerates
    const auto by_places = [&](int k) {
        const Use& use = p.limits[k];
        const bool infinite = use.curves.size() > 1 || (use.curves.size() == 1 && use.parameters);
        // gaps between columns have no state
        return use.kept() > 0 ? MASKED || !use.every : (!use.limits || use.asked[0] || infinite) && !use.every;
    };
    const auto is_cut = [&](int k) {
        return (p.motor && k == p.motor_stages) || (p.transmissions && k == p.first_transmission) ||
               k == p.linkage_stage;
    };
    while (at < count) {
        Limits next{at, 1, nullptr, nullptr};
        if (by_places(at)) {
            next.places = find_limit_places(EffortStages{}, p.limits[at].law);
        } else {
            int run = 1;
            const bool is_alone = p.limited_by || at == p.linkage_stage;
            while (!is_alone && at + run < count && !by_places(at + run) && !is_cut(at + run)) ++run;
            for (; run > 0 && !next.sweep; --run) {
                next.count = run;
                next.sweep = find_limits<false>(EffortStages{}, &p.limits[at], run);
            }
        }
        p.route.limits.push_back(next);
        at += next.count;
    }
    // the last sweep writes efforts to their destination
    if (MASKED && at && !p.route.limits.back().places) {
        Limits& last = p.route.limits.back();
        last.sweep = find_limits<true>(EffortStages{}, &p.limits[last.first], last.count);
    }
}

// Let the first limits run together with the law of all elements, if nothing comes between them.
template <bool MASKED>
void choose_limited(Problem& p) {
    const bool between = !p.networks.empty() || p.free_slots || p.transmissions || !p.linkages.empty() || p.rate >= 0;
    if (between || !p.route.laws.empty() || p.computed || p.limited_by || p.motor || p.route.limits.empty()) return;
    const Limits& first = p.route.limits[0];
    // limits act on the true signals
    for (int k = 0; k < first.count; ++k)
        if (!p.feedback.empty() && moves_with_joint(EffortStages{}, p.limits[k].law)) return;
    if (first.places) return;
    p.route.limited =
        find_whole<false>(Controllers{}, p.controllers[p.route.law_of_all].law, p.limits.data(), first.count);
    p.route.is_all_limited = !MASKED && p.route.limits.size() == 1;
}

void choose(Problem& p) {
    p.route = Route{};
    const bool masked = p.layout == Layout::kGaps;
    // a stateful law runs over all elements only if all slots have it and there are no gaps
    for (size_t k = 0; k < p.controllers.size(); ++k) {
        const Use& use = p.controllers[k];
        const bool over_all = !use.states || (use.every && !masked);
        if (over_all && (p.route.law_of_all < 0 || use.slots > p.controllers[p.route.law_of_all].slots))
            p.route.law_of_all = static_cast<int>(k);
    }
    for (size_t k = 0; k < p.controllers.size(); ++k)
        if (static_cast<int>(k) != p.route.law_of_all)
            p.route.laws.push_back(find_law_places(Controllers{}, p.controllers[k].law, p.rate < 0));
    for (const Use& use : p.feedback) {
        p.route.feedback.push_back(find_feedback(Feedbacks{}, use.law));
        Replaced& replaced = p.route.replaced[use.at_motor];
        replaced.exists = true;
        const int first = use.senses ? kPosition : kPositionTarget, last = use.senses ? kPositionTarget : kSignals;
        for (int s = first; s < last; ++s) {
            replaced.any[s] = true;
            // what acts late is written in place
            replaced.every[s] |= use.senses && use.every && !masked;
        }
    }
    p.route.direct = p.feedback.empty() && !p.transmissions;
    const bool measures = std::any_of(p.measured, p.measured + kMeasured, [](const float* one) { return one; });
    p.route.plain = p.route.direct && p.linkages.empty() && p.published.empty() && !p.felt_arrays && p.ends < 0 &&
                    p.rate < 0 && !p.motor && !measures;
    for (int k = 0; k < p.transmissions; ++k) {
        const int law = p.limits[p.first_transmission + k].law;
        p.route.commanded_motor.push_back(find_motor<true>(EffortStages{}, law));
        p.route.true_motor.push_back(find_motor<false>(EffortStages{}, law));
        p.route.felt.push_back(find_felt(EffortStages{}, law));
    }
    if (p.rate >= 0) p.route.due = find_due(EffortStages{}, p.limits[p.rate].law);
    masked ? choose_limits<true>(p) : choose_limits<false>(p);
    if (p.ends >= 0) {
        p.route.end = find_end(EffortStages{}, p.limits[p.ends].law);
        const std::vector<int32_t> none(p.robots_per_block * p.period);
        const auto marked = [&](const Use& use, bool is_so, std::vector<int32_t>& marks) {
            for (int64_t n = 0; is_so && n < p.robots_per_block * use.slots; ++n) marks[use.places[n]] = 1;
        };
        p.route.curved = p.route.rubs = none;
        for (const Use& use : p.controllers) {
            marked(use, !is_linear(Controllers{}, use.law), p.route.curved);
            p.route.has_states_at_end |= use.states > 0;
            p.route.laws_at_end.push_back(find_law_at_end(Controllers{}, use.law));
            p.route.law_states_at_end.push_back(find_law_states_at_end(Controllers{}, use.law));
        }
        for (const Use& use : p.limits) {
            p.route.stages_at_end.push_back(find_stage_at_end(EffortStages{}, use.law));
            const bool is_solved = use.law == number_in<ClampingDCMotor>(EffortStages{});
            p.route.solved_at_end.push_back(is_solved ? all_solved_at_end : nullptr);
            p.route.stages.push_back(find_stage_of_elements(EffortStages{}, use.law));
            p.route.moves.push_back(none);
            marked(use, moves_with_joint(EffortStages{}, use.law), p.route.moves.back());
            const int number = static_cast<int>(&use - p.limits.data());
            p.route.has_states_at_end |= use.states > 0 && number < p.ends && !steps_joint(p, number);
            marked(use, steps_joint(p, number), p.route.rubs);
        }
        const bool others = !p.networks.empty() || p.free_slots || !p.feedback.empty() || !p.linkages.empty();
        if (!others && !masked && !p.computed && !p.limited_by && !p.motor)
            p.route.whole = find_end_sweep(EffortStages{}, p);
        return;
    }
    // a linkage works in place
    const bool in_place = !p.linkages.empty() || (p.route.limits.size() == 1 && p.route.limits[0].places);
    p.route.one_sweep = p.route.limits.size() <= 1 && !in_place;
    if (p.route.law_of_all < 0) return;
    const int law = p.controllers[p.route.law_of_all].law;
    p.route.law = find_whole<false>(Controllers{}, law, nullptr, 0);
    masked ? choose_limited<true>(p) : choose_limited<false>(p);
    const bool others =
        !p.networks.empty() || p.free_slots || !p.feedback.empty() || p.transmissions || !p.linkages.empty();
    if (others || !p.route.laws.empty() || p.computed || p.limited_by || p.motor || !p.route.one_sweep) return;
    const int count = static_cast<int>(p.limits.size());
    p.route.whole = masked ? find_whole<true>(Controllers{}, law, p.limits.data(), count)
                           : find_whole<false>(Controllers{}, law, p.limits.data(), count);
    p.route.bare =
        p.route.whole && p.layout == Layout::kDirect && !p.delayed_slots && !p.derived && p.published.empty();
}

template <class... Laws>
std::vector<LawFacts> facts(List<Laws...>) {
    return {{Laws::kName,
             Laws::kParameters,
             Laws::kPrepared,
             Laws::kStates,
             Laws::kCurves,
             Laws::kOver,
             Laws::kAsked,
             Laws::kAsks,
             Laws::kGives,
             Laws::kLate,
             Laws::kLimits,
             Laws::kConverts,
             Laws::kCouples,
             Laws::kTicks,
             Laws::kFollows,
             Laws::kEnds,
             keeps_state<Laws>,
             Laws::kPrepares,
             Laws::kTimed,
             Laws::kPasses,
             {Laws::kHasCostly ? Laws::kCostly : nullptr, Laws::kHasCommon ? Laws::kCommon : nullptr,
              Laws::kHasUsual ? Laws::kUsual : nullptr},
             Laws::kResting}...};
}

// Call with the given list.
template <class Call>
auto with_list(LawList list, const Call& call) {
    if (list == LawList::kFeedback) return call(Feedbacks{});
    return list == LawList::kControllers ? call(Controllers{}) : call(EffortStages{});
}

std::vector<LawFacts> laws(LawList list) {
    return with_list(list, [](auto all) { return facts(all); });
}

Prepare prepare(LawList list, int law) {
    return with_list(list, [&](auto all) { return find_prepare(all, law); });
}

// ---- memory bandwidth, for the benchmarks

template <int COUNT>
void add_up(const float* const* inputs, float* RESTRICT out, int64_t size) {
    const float* RESTRICT in[COUNT];
    for (int k = 0; k < COUNT; ++k) in[k] = inputs[k];
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) {
        float sum = in[0][i];
        for (int k = 1; k < COUNT; ++k) sum += in[k][i];
        out[i] = sum;
    }
}

void stream(const float* const* inputs, int count, float* output, int64_t size) {
    if (count == 5) return add_up<5>(inputs, output, size);
    if (count == 8) return add_up<8>(inputs, output, size);
    return add_up<1>(inputs, output, size);
}

}  // namespace ACTUATORS_VARIANT

namespace actuators {
const Variant ACTUATORS_SYMBOL{ACTUATORS_NAME,
                               has_instruction_set,
                               ACTUATORS_VARIANT::laws,
                               ACTUATORS_VARIANT::Scratch::kArrays,
                               ACTUATORS_VARIANT::choose,
                               ACTUATORS_VARIANT::prepare,
                               ACTUATORS_VARIANT::step_blocks,
                               ACTUATORS_VARIANT::commands_of_shafts,
                               ACTUATORS_VARIANT::stream,
                               ACTUATORS_VARIANT::evaluate,
                               ACTUATORS_VARIANT::law_forward,
                               ACTUATORS_VARIANT::law_backward,
                               ACTUATORS_VARIANT::functions,
                               ACTUATORS_VARIANT::network_forward,
                               ACTUATORS_VARIANT::network_backward};
}
