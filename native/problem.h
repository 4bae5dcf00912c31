// Data of a step: pointers and sizes, owned by the plan that binds them. Nothing is allocated here.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "grid.h"
#include "linkage.h"
#include "network.h"
#include "published.h"
#include "signal.h"

namespace actuators {

// Largest number of parameters, and of states, of a law; checked at compile time.
constexpr int kMost = 28;

// Largest number of curves of a law.
constexpr int kMostCurves = 4;

// Copies of each number of a curve row, so that a vector of any width is one load.
constexpr int kRepeated = 16;

// Signals that controllers get and a step shows, see `Problem::measured`.
constexpr int kMeasured = 4;

constexpr int kCommands = 3;  // the last three are delayed

// Largest number of results of a law that act late; checked at compile time.
constexpr int kMostLate = 3;
// Rows of a ring beyond the largest delay, see laws/contract/late.py.
constexpr int kSpareRows = 2;
constexpr int kEffortFault = 1 << kSignals;

// Largest number of requested signals of all laws together, in addition to the signals above.
constexpr int kMostAsked = 28;
constexpr int kAskedFault = 2 * kEffortFault;
// Those that a motor feels otherwise than its joint, and their number; checked against the generated laws.
constexpr int kInertia = 0, kLoad = 1, kLoadIsWhole = 2, kCoupledInertia = 3, kFeltSignals = 4;
// Those that efforts at the end of the step replace for friction, and the last two of them, which the engine writes.
constexpr int kMotorDamping = 4, kMotorLift = 5;

constexpr bool is_of_engine(int signal) {
    return signal == kMotorDamping || signal == kMotorLift;
}

// Scratch arrays of efforts at the end of the step, see end_of_step.h.
enum EndArray {
    kFreeVelocity,  // after the step without the motor, and its gain per effort
    kGain,
    kEndPosition,  // at the end of the step, under the effort of the stages so far
    kEndVelocity,
    kSlope,         // of the effort by the final velocity
    kSeenPosition,  // of the end of the step, as controllers measure them
    kSeenVelocity,
    kBefore,  // efforts and slopes before a stage
    kSlopeBefore,
    kLow,  // bracket of the effort
    kHigh,
    kOpen,  // 1 for efforts that may be solved better, else 0; and the slope where they were left
    kSettledSlope,
    kLineVelocity,   // final velocity at which friction takes the motor as a line
    kMotorVelocity,  // final velocity of the motor without the friction behind it, and its slope there
    kMotorSlope,
    kInertiaOfMotor,  // for stages of the motor: 0, as their velocity is that of the end
    kInertiaOfJoint,  // for stages of the joint, with the load that the free velocity tells, which is whole
    kLoadOfJoint,
    kIsWhole,
    kDamping,  // the signals `kMotorDamping` and `kMotorLift`
    kLift,
    kCurveSlopes,
    kEndArrays = kCurveSlopes + 4
};

// Scratch arrays of transmissions: all motor signals as seen by controllers, then the true motor position and velocity.
constexpr int kMotorArrays = kSignals + 2;
// scratch arrays for linkages: joints, then signals of the shafts
constexpr int kLinkedAtOnce = 4, kLinkArrays = kLinkedAtOnce + kSignals;

// Lists of laws, each with its own numbering.
enum class LawList { kControllers, kStages, kFeedback };

// Input of a curve, in the order of `OVER` in laws/contract/curve.py; speed is the magnitude of velocity.
enum Over { kOverPosition, kOverVelocity, kOverSpeed };

// ---- parameters

// Elements are (robot, slot) in row-major order. A block contains whole robots and fits the L1 cache. A parameter is
// shared by all robots and repeated to fill a block, or has a value per robot.
struct Row {
    const float* values = nullptr;
    // bit mask: all bits set for per-element values, zero for repeated ones
    int64_t own = 0;
    const float* at(int64_t element) const { return values + (element & own); }
};

// A row gathered from pieces; `rest`, (robots, slots), holds the remaining values, if any.
struct Gathered {
    int array = 0;
    const float* rest = nullptr;
    const std::vector<Piece>* pieces = nullptr;
};

// Rows of a curve, and the elements that use it.
struct Curve {
    int count = 0;
    // point, value and slope to the next row, each `kRepeated` times; null with a grid
    const float* rows = nullptr;
    // grid of a long curve; null for a short one
    const Grid* grid = nullptr;
    // positions of its elements in a block, and their number per robot; null if all elements use it
    const int32_t* places = nullptr;
    int64_t slots = 0;
};

// A curve of a law: its input, see `Over`, and its rows.
struct CurveUse {
    int over = kOverPosition;
    std::vector<Curve> rows;
};

// A law, its slots and its parameters. Slots without the law have neutral parameters, unless the law is stateful or not
// a limit: then it uses gather and scatter.
struct Use {
    int law = 0, states = 0, parameters = 0, prepared = 0;
    bool limits = false;
    // prepared parameters: a row, or a scratch array if its index is not -1; `in_scratch` is true if any is in scratch
    Row rows[kMost];
    bool in_scratch = false;
    int scratch[kMost] = {};
    // the number that all elements have of a prepared parameter that robots share; NaN if they differ
    float shared[kMost];
    // forms of the loop, see `Form`, whose constants all shared parameters have, a bit each; whether all are shared
    uint32_t shared_forms = 0;
    bool all_shared = false;
    // by block: twice the form in which states rest, and 1 if they rested in the step before, too. A step in the
    // general form brings them to rest; null for a law without such states. And which do by form, a bit each
    uint8_t* rests = nullptr;
    uint32_t resting[4] = {};
    // true for a prepared parameter that robots share
    bool is_shared(int k) const { return !rows[k].own && scratch[k] < 0; }
    // raw parameters for preparation in each block, if robots differ: rows or scratch arrays
    bool derives = false;
    Row raw[kMost];
    int raw_scratch[kMost] = {};
    void (*prepare)(const float* const* parameters, float* const* prepared, int64_t size, const float* dt) = nullptr;
    // requested signals, (robots, slots)
    const float* asked[kMostAsked] = {};
    // scratch array of a signal as the motor feels it, else 0; true for one that stays zero
    int felt[kMostAsked] = {};
    bool is_still[kMostAsked] = {};
    // curves, and the first scratch array of their values, else -1
    int curve = -1;
    std::vector<CurveUse> curves;
    // true if all slots have the law; positions of its elements in a block, and their number per robot
    bool every = true;
    const int32_t* places = nullptr;
    int64_t slots = 0;
    // state arrays (robots, slots with the law); `before` is the previous state, null if the state is updated in place
    float* state[kMost + 1] = {};
    const float* before[kMost + 1] = {};
    // true if a fault of a later stage has to restore the state; the last stage writes it only without a fault
    bool restores = true;
    // true if the loop of the law saves the state before the step
    bool keeps = false;
    // position of its saved states in those of a robot
    int64_t kept_at = 0;
    // results that act late, see late.h: their number, and rings of `depth` rows of (robots, slots with the law); the
    // newest row is the last of `state`
    int late = 0;
    int64_t depth = 0;
    float* ring[kMostLate] = {};
    // true for a sensor, and for one at the motor
    bool senses = false, at_motor = false;
    // number of arrays in `state`
    int kept() const { return states + (late > 0); }
    // first of them that is saved before the step
    int saved_from() const { return !restores ? kept() : keeps ? states : 0; }
};

// True for a state of a block that rested, which no step touches.
inline bool rested(const Use& use, int64_t block, int state) {
    return use.rests && (use.rests[block] & 1) && (use.resting[use.rests[block] >> 1] >> state & 1);
}

// States of a block that may have come to rest only now are not where they rest.
inline void disturb(const Use& use, int64_t block) {
    if (use.rests && !(use.rests[block] & 1)) use.rests[block] = 0;
}

// ---- networks

// Inputs of networks; errors are target minus measurement.
enum Column { kOfPosition, kOfTarget, kOfError, kOfVelocity, kOfTargetVelocity, kOfVelocityError, kColumns };

// A network input: (column - offset) * scale, `back` steps ago in a history.
struct Feature {
    Column column;
    int64_t back, history;
    float offset, scale;
};

// A network and its slots.
struct NetworkUse {
    const Network* network = nullptr;
    std::vector<Feature> features;
    float scale = 1, offset = 0;
    // columns of recent steps in addition to the recurrent state, newest first
    std::vector<Column> history;
    int64_t steps = 0;
    // true if values of the first step after a reset replace the zeros before it; see `is_unset`
    bool first_fills = false;
    // positions of its elements in a block, their number per robot, and over all robots
    const int32_t* places = nullptr;
    int64_t slots = 0, rows = 0;
    // state arrays (steps, rows) or (layers, rows, hidden): number of pieces, and numbers per row in each piece;
    // `before` as in `Use`
    int arrays = 0;
    int64_t pieces = 0, each = 0, kept_at = 0;
    float* state[kNetworkStates] = {};
    const float* before[kNetworkStates] = {};
};

inline bool rested(const NetworkUse&, int64_t, int) {
    return false;
}

// ---- signals in, efforts out

// A signal, read by column or by index. Null data is zero.
struct Source {
    const float* data = nullptr;
    int64_t pitch = 0;  // distance between robots in floats, for columns
    int64_t stride = 1, size = 0;
    const uint32_t* index = nullptr;  // index per robot; null for columns
    int64_t index_stride = 1;
    // index of robot 0 if indices are consecutive, which needs no gather; else -1
    int64_t consecutive = -1;
};

// Efforts are written to columns, or added at indices.
struct Sink {
    float* data = nullptr;
    int64_t pitch = 0;
    int64_t stride = 1, size = 0;
    const uint32_t* index = nullptr;
    int64_t index_stride = 1;
    int64_t consecutive = -1;
};

// Layout of elements in the bound arrays.
enum class Layout {
    kDirect,  // in place: all columns are driven, or one robot has adjacent columns
    kGaps,    // read all columns, write the driven ones
    kGather,  // copy driven columns to scratch memory, and efforts back
    kIndexed  // one slot, robots accessed by index
};

// A state array that is updated in place, and that a fault has to restore: numbers per piece of a robot, their position
// in the saved states of a robot, and the distance of pieces.
struct Saved {
    const float* state = nullptr;
    int64_t size = 0, at = 0, pieces = 1, pitch = 0;
};

// Eight columns of a row, selected from two windows of eight adjacent columns: start of each window, lane of each
// column, and -1 for columns from the second window.
struct Pick {
    int64_t begin[2];
    int32_t lane[2][8], second[8];
};

// ---- delay

// Commands of the last `depth` steps, in the layout of `Delay.State`: a step reads, then writes the row after `newest`.
struct Ring {
    // depth rows of (robots, delayed slots), `pitch` numbers apart, per command
    float* rows[kCommands] = {};
    int32_t* pushes = nullptr;
    int32_t* write_idx = nullptr;
    int64_t depth = 1, pitch = 0, newest = 0;
    // lag in steps per element, shared or per robot; `uniform` >= 0 is the common lag of all delayed slots
    const int32_t *shared_lag = nullptr, *own_lag = nullptr;
    int64_t uniform = -1;
    // true if lags may be zero or out of range
    bool some_now = true;
};

// ---- faults, and the state between two halves of a step

struct Fault {
    int64_t robot;
    int32_t slot, code;
    int64_t step;
};

// A whole step, or its halves with an external law or limit in between.
enum class Phase {
    kWhole,
    kCommand,  // guard, delay, law; efforts are handed over
    kLimit,    // limits of the returned efforts, guard, efforts out
};

// State between the two phases, (robots, slots) each.
struct Handover {
    // signals with delayed commands, before any transmission to the motor; values that are not finite keep the previous
    // ones
    float* signals[kSignals] = {};
    // fault code of the inputs
    int32_t* bad = nullptr;
    // input efforts of the limits, and efforts reported before all limits; NaN for a joint with a fault
    float* efforts = nullptr;
    float* computed = nullptr;
};

// ---- the problem

struct Problem;
struct Block;

// Law and limits over a block; returns true if any effort is not finite.
using Sweep = bool (*)(const Problem&, const Block&);
// A law on its elements of a block, by gather and scatter. Feedback writes positions and, `Block::pitch` later,
// velocities, and a delay the commands after them; a transmission writes all motor signals, each `Block::pitch` after
// the previous.
using Places = void (*)(const Problem&, const Block&, const Use&, float* efforts);
// Prepare `size` elements of the parameters of a law, each for its time step in seconds.
using Prepare = void (*)(const float* const* parameters, float* const* prepared, int64_t size, const float* dt);

// Stages after the controller that run in one sweep, starting at index `first`; or a single one by gather and scatter.
struct Limits {
    int first = 0, count = 0;
    Sweep sweep = nullptr;
    Places places = nullptr;
};

// Signals that the laws before controllers replace, at the joint or at the motor: of any element, and of all.
struct Replaced {
    bool exists = false;
    bool any[kSignals] = {}, every[kSignals] = {};
};

// The kernels chosen for a problem.
struct Route {
    // law of all elements, and laws of some elements by gather and scatter
    Sweep law = nullptr;
    int law_of_all = -1;
    std::vector<Places> laws;
    // laws that replace measured signals for controllers, and which, at the joint and at the motor
    std::vector<Places> feedback;
    Replaced replaced[2];
    // true if controllers get the signals of joints
    bool direct = true;
    // true if nothing but a delay, controllers and limits runs
    bool plain = false;
    // per transmission: motor signals for the controller, and the true motor position and velocity
    std::vector<Places> commanded_motor, true_motor, felt;
    // which controllers of a rate run in a step
    Places due = nullptr;
    // efforts at the end of the step: what joints do without their motors, each controller, its states, null without
    // any, and each stage at the end, null for one that is not, solved, null for one that is tried, and at given
    // signals
    Places end = nullptr;
    std::vector<Places> laws_at_end, law_states_at_end, stages_at_end, solved_at_end, stages;
    // per element of a block: whether its controller is no line over position and velocity, whether it has friction
    // that steps the joint, and whether each stage depends on position or velocity
    std::vector<int32_t> curved, rubs;
    std::vector<std::vector<int32_t>> moves;
    // true if a controller or a stage at the end has states
    bool has_states_at_end = false;
    std::vector<Limits> limits;
    // true if all limits run in one sweep
    bool one_sweep = false;
    // law and the first limits in one sweep, if a whole step may run so, and whether no limits are left then
    Sweep limited = nullptr;
    bool is_all_limited = false;
    // law and limits in one sweep; `bare` if a block consists of nothing else
    Sweep whole = nullptr;
    bool bare = false;
};

struct Problem {
    int64_t robots = 0, slots = 0;
    Source input[kSignals];
    Sink efforts, computed_too;
    const int32_t* columns = nullptr;
    Layout layout = Layout::kDirect;
    // columns in groups of eight; none if they are too far apart
    const Pick* picks = nullptr;
    int64_t pick_count = 0;
    // elements per robot, including gaps, and robots per block
    int64_t period = 0, robots_per_block = 1;
    // slot of each element of a robot, -1 in a gap; mask of the driven elements of a block
    const int32_t* slot_of = nullptr;
    const int32_t* driven = nullptr;

    std::vector<Use> controllers, limits, feedback;
    // number of transmissions and index of the first: stages before it act on motors, later ones on joints; and the
    // first of `kMotorArrays` scratch arrays
    int transmissions = 0, first_transmission = 0, motor_arrays = 0;
    // first of `kFeltSignals` scratch arrays with these signals as motors feel them; 0 if no law asks for them
    int felt_arrays = 0;
    // per element of a block, false where a sensor of the joint hides the state of its transmission from controllers
    const int32_t* visible = nullptr;
    // stage from which on signals are those of the joints, -1 without linkages, and the first of `kLinkArrays` scratch
    // arrays
    std::vector<Linkage> linkages;
    Sums sums;
    int linkage_stage = -1, link_arrays = 0;
    // stage of the effort mode, -1 without one, and the first of `kEndArrays` scratch arrays
    int ends = -1, end_arrays = 0;
    // first stage that follows all limits
    int first_following = 0;
    // per element of a block, false where a sensor measures for the controller
    const int32_t* sees_end = nullptr;
    std::vector<NetworkUse> networks;
    // requested signals, null if unused, and a bit mask of requested signals per slot
    const float* asked[kMostAsked] = {};
    std::vector<uint32_t> asking;
    // published states, and totals computed by the step
    std::vector<Published> published;
    std::vector<Total> totals;
    // slots without a controller or network, whose effort before limits is zero: number per robot, and positions in a
    // block
    int64_t free_slots = 0;
    const int32_t* free_places = nullptr;
    Ring ring;
    int64_t delayed_slots = 0;
    const int32_t* delayed_places = nullptr;
    Route route;
    int derived = 0;  // scratch arrays for gathered and prepared parameters and curve values
    // true if blocks gather or prepare parameters, or look up curves
    bool derives = false;
    // true while what the step before gathered and prepared is still in scratch
    bool holds = false;
    std::vector<Gathered> gathered;
    // state size per robot, if a fault of a limit has to restore the state, and the arrays to be saved for that
    int64_t kept = 0;
    std::vector<Saved> saved;

    // optional outputs: position and velocity that controllers get, of the joint or, with a sensor there, of the motor;
    // and position and velocity targets that act
    float* measured[kMeasured] = {};
    // effort before the limits, and index of the last limit that changed it (from 1; 0 for none)
    float* computed = nullptr;
    uint8_t* limited_by = nullptr;
    // effort after the first `motor_stages` stages: the motor and its transmission; later stages act on the joint
    float* motor = nullptr;
    int motor_stages = 0;

    Phase phase = Phase::kWhole;
    Handover handover;

    // physics step, and a row of it for the elements of a block
    float dt = 0;
    const float* dt_row = nullptr;
    // index of the rate among the stages, -1 for none
    int rate = -1;
    int64_t step = 0;
    // faults of the step, in order of detection
    std::vector<Fault>* faults = nullptr;
    std::mutex* guard = nullptr;
};

// A block of elements. Members are uninitialized, since steps of few robots are short; see block_of.
struct Block {
    int64_t number, first_robot, robots;
    // index of the first element, and number of elements
    int64_t first, size;
    // inputs: contiguous, `size` each; commands are replaced by the delayed ones
    const float* input[kSignals];
    // input efforts of the limits, and output efforts
    const float* given;
    float* efforts;
    const int32_t* driven;
    // scratch arrays, `pitch` numbers apart, see Use::scratch
    float* derived;
    int64_t pitch;
    // index of the first limit of a sweep
    int limit;
    // time step of the laws: of physics, or of a controller with a rate
    const float* dt;
    // 1 for elements whose controllers run in this step, else 0; null if all do
    const float* due;
    // false if no controller of the block runs in this step
    bool commands;
    // scratch memory for results before the scatter, and for the steps by which results act late
    float *found, *lag;
    // columns of networks
    float* columns;
    // previous state, null if nothing has to be restored
    float* kept;
};

}  // namespace actuators
