// What a step works on: pointers and sizes, owned by the plan that binds them. No allocation happens here.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "grid.h"
#include "network.h"
#include "published.h"

namespace actuators {

// Most parameters, and most remembered numbers, that a law may have; the step refuses to compile with more.
constexpr int kMost = 16;

// Most curves that a law may have, likewise.
constexpr int kMostCurves = 4;

// Numbers of a row of a curve, each repeated so that a vector of any width is one load.
constexpr int kRepeated = 16;

enum Signal { kPosition, kVelocity, kPositionTarget, kVelocityTarget, kFeedforward, kSignals };
constexpr int kCommands = 3;  // the last three are delayed
constexpr int kEffortFault = 1 << kSignals;

// Most signals that laws may ask for beyond these, of all laws together.
constexpr int kMostAsked = 16;
constexpr int kAskedFault = 2 * kEffortFault;

// Arrays of scratch memory where there are transmissions: all signals of motors as controllers see them, then position
// and velocity as they are.
constexpr int kMotorArrays = kSignals + 2;

// The lists of laws that the core has, each with numbers of its own.
enum class LawList { kControllers, kStages, kFeedback };

// What a curve runs over, in the order of `OVER` in components/curve.py; the speed is the magnitude of the velocity.
enum Over { kOverPosition, kOverVelocity, kOverSpeed };

// ---- parameters

// Elements are (robot, slot) in row-major order. Work goes in blocks of whole robots, small enough for the first-level
// cache. A parameter is either shared by all robots, then repeated to fill one block, or has a value per robot.
struct Row {
    const float* values = nullptr;
    // all bits where elements have values of their own, none where a block's worth is repeated
    int64_t own = 0;
    const float* at(int64_t element) const { return values + (element & own); }
};

// Neighbouring slots of a piece: where they begin in the row and in the piece, and how many they are.
struct Run {
    int32_t slot, place, count;
};

// The values of one actuator's joints in a row, (robots, joints), as its user holds them.
struct Piece {
    const float* values = nullptr;
    int64_t count = 0;
    std::vector<Run> runs;
};

// A row some of whose values lie in pieces; the others, if there are any, lie in `rest`, (robots, slots).
struct Gathered {
    int array = 0;
    const float* rest = nullptr;
    const std::vector<Piece>* pieces = nullptr;
};

// The rows of a curve, and the elements that have them.
struct Curve {
    int count = 0;
    // per row: point, value, slope to the next row, each `kRepeated` times; null where there is a grid
    const float* rows = nullptr;
    // of many rows; null for a few
    const Grid* grid = nullptr;
    // places of the elements of one block that use it, and how many per robot; null when all do
    const int32_t* places = nullptr;
    int64_t slots = 0;
};

// A curve of a law: what it runs over, see `Over`, and its rows.
struct CurveUse {
    int over = kOverPosition;
    std::vector<Curve> rows;
};

// A law, and which slots have it with which numbers. Slots without it have neutral ones, unless it remembers something
// or is no limit: then it runs by places.
struct Use {
    int law = 0, states = 0, parameters = 0, prepared = 0;
    bool limits = false;
    // what the law takes: a row, or an array of scratch memory whose number is not -1, of which there are none unless
    // `in_scratch`
    Row rows[kMost];
    bool in_scratch = false;
    int scratch[kMost] = {};
    // parameters that it is prepared from in each block, because robots differ in them: rows, or arrays of scratch
    // memory likewise
    bool derives = false;
    Row raw[kMost];
    int raw_scratch[kMost] = {};
    void (*prepare)(const float* const* parameters, float* const* prepared, int64_t size, float dt) = nullptr;
    // signals that it asks for, (robots, slots)
    const float* asked[kMostAsked] = {};
    // its curves, and the first array of scratch memory with their values, else -1
    int curve = -1;
    std::vector<CurveUse> curves;
    // whether all slots have it; places of the elements of one block that do, and how many per robot
    bool every = true;
    const int32_t* places = nullptr;
    int64_t slots = 0;
    // what it remembers, one array per number: (robots, slots that have it); `before` is what it was before the step,
    // null where it is overwritten in place
    float* state[kMost] = {};
    const float* before[kMost] = {};
};

// ---- networks

// What a network may be given; errors are target minus measurement.
enum Column { kOfPosition, kOfTarget, kOfError, kOfVelocity, kOfTargetVelocity, kOfVelocityError, kColumns };

// One input of a network: (column - offset) * scale, some steps back in one of the histories.
struct Feature {
    Column column;
    int64_t back, history;
    float offset, scale;
};

// A network, and which slots have it.
struct NetworkUse {
    const Network* network = nullptr;
    std::vector<Feature> features;
    float scale = 1, offset = 0;
    // what it remembers besides its own state: values of columns of the last steps, the newest first
    std::vector<Column> history;
    int64_t steps = 0;
    // whether values of the first step since the reset stand for those before it, instead of zeros; see `is_unset`
    bool first_fills = false;
    // places of the elements of one block that have it, how many per robot, and of all robots
    const int32_t* places = nullptr;
    int64_t slots = 0, rows = 0;
    // arrays of numbers side by side, (steps, rows) or (layers, rows, hidden): so many pieces, each of so many numbers
    // per row; `before` as in `Use`
    int arrays = 0;
    int64_t pieces = 0, each = 0;
    float* state[kNetworkStates] = {};
    const float* before[kNetworkStates] = {};
};

// ---- signals in, efforts out

// Numbers read by column or by index. Null data are zeros.
struct Source {
    const float* data = nullptr;
    int64_t pitch = 0;  // numbers from robot to robot, of columns
    int64_t stride = 1, size = 0;
    const uint32_t* index = nullptr;  // of each robot; null for columns
    int64_t index_stride = 1;
    // where robot 0 stands if indices ascend one by one, so that nothing has to be gathered; else -1
    int64_t consecutive = -1;
};

// Efforts are set in columns and added at indices.
struct Sink {
    float* data = nullptr;
    int64_t pitch = 0;
    int64_t stride = 1, size = 0;
    const uint32_t* index = nullptr;
    int64_t index_stride = 1;
    int64_t consecutive = -1;
};

// How elements lie in the arrays they are read from.
enum class Layout {
    kDirect,  // as they are: every column is driven, or there is one robot whose columns are neighbours
    kGaps,    // read all columns, write the driven ones
    kGather,  // copy the driven columns to scratch and the efforts back
    kIndexed  // one slot, robots stand where an index says
};

// Eight columns of a row, picked from two windows of eight neighbours each: where those begin, which lane of them goes
// where, and -1 where the second one gives it.
struct Pick {
    int64_t begin[2];
    int32_t lane[2][8], second[8];
};

// ---- delay

// Commands of the last `depth` steps, as `Delay.State` holds them: a step reads, then writes the row after `newest`.
struct Ring {
    // depth rows of (robots, delayed slots), `pitch` numbers apart, per command
    float* rows[kCommands] = {};
    int32_t* pushes = nullptr;
    int32_t* write_idx = nullptr;
    int64_t depth = 1, pitch = 0, newest = 0;
    // steps per element, like a Row; `uniform` >= 0 when all delayed slots share one number
    const int32_t *shared_lag = nullptr, *own_lag = nullptr;
    int64_t uniform = -1;
    // whether some lags may be zero, or not in the ring
    bool some_now = true;
};

// ---- faults, and what stands between two halves of a step

struct Fault {
    int64_t robot;
    int32_t slot, code;
    int64_t step;
};

// A step in one go, or in two with somebody else's law or limit in between.
enum class Phase {
    kWhole,
    kCommand,  // guard, delay, law: the result is handed over
    kLimit,    // limits of what was handed back, guard, efforts out
};

// What stands between the two phases, (robots, slots) each.
struct Handover {
    // signals with delayed commands, of the motor before a transmission; what is not finite leaves the value before
    float* signals[kSignals] = {};
    // fault code of the inputs
    int32_t* bad = nullptr;
    // efforts that the limits start from, and those to tell as the ones before all limits; NaN for a joint with a fault
    float* efforts = nullptr;
    float* computed = nullptr;
};

// ---- all of it

struct Problem;
struct Block;

// Law and limits over a block; returns whether any effort is not finite.
using Sweep = bool (*)(const Problem&, const Block&);
// A law over the elements of a block that have it; of feedback it writes positions, and velocities `Block::pitch`
// behind; of a transmission, signals of the motor, each that far behind the one before.
using Places = void (*)(const Problem&, const Block&, const Use&, float* efforts);
// Prepare the parameters of a law, `size` elements of each, for a step of `dt` seconds.
using Prepare = void (*)(const float* const* parameters, float* const* prepared, int64_t size, float dt);

// Limits, and other stages after the controller, that go in one sweep, the first of them by number; or one by places.
struct Limits {
    int first = 0, count = 0;
    Sweep sweep = nullptr;
    Places places = nullptr;
};

// How an instruction set goes about a problem.
struct Route {
    // the law that all elements get at first, and those that some get by their places
    Sweep law = nullptr;
    int law_of_all = -1;
    std::vector<Places> laws;
    // what the controllers see
    std::vector<Places> feedback;
    // of each transmission: signals of the motor as the controller sees them, and position and velocity as they are
    std::vector<Places> commanded_motor, true_motor;
    std::vector<Limits> limits;
    // whether all limits go in one sweep
    bool one_sweep = false;
    // law and limits in one sweep; and whether a block is nothing else
    Sweep whole = nullptr;
    bool bare = false;
};

struct Problem {
    int64_t robots = 0, slots = 0;
    Source input[kSignals];
    Sink efforts, computed_too;
    const int32_t* columns = nullptr;
    Layout layout = Layout::kDirect;
    // the columns in eights, none where they are too far apart
    const Pick* picks = nullptr;
    int64_t pick_count = 0;
    // elements per robot and robots per block, in the layout chosen
    int64_t period = 0, robots_per_block = 1;
    // slot of each element of one period, -1 in a gap; which elements of a block are driven
    const int32_t* slot_of = nullptr;
    const int32_t* driven = nullptr;

    std::vector<Use> controllers, limits, feedback;
    // how many of the limits are transmissions, and the first of those: what comes before them acts on motors, the
    // others on joints; and where `kMotorArrays` are in scratch memory
    int transmissions = 0, first_transmission = 0, motor_arrays = 0;
    std::vector<NetworkUse> networks;
    // signals that laws ask for, null for others, and which slots have such a law, a bit per signal
    const float* asked[kMostAsked] = {};
    std::vector<uint16_t> asking;
    // what laws publish, and its sums, where they are added up here
    std::vector<Published> published;
    std::vector<Total> totals;
    // slots without a controller or network, whose effort is 0 before the limits: how many per robot, and the places of
    // their elements in one block
    int64_t free_slots = 0;
    const int32_t* free_places = nullptr;
    Ring ring;
    int64_t delayed_slots = 0;
    const int32_t* delayed_places = nullptr;
    Route route;
    int derived = 0;  // arrays of scratch memory for gathered and prepared parameters and values of curves
    std::vector<Gathered> gathered;
    // numbers per robot that laws and networks remember, if a step has to put them back after a fault of a limit
    int64_t kept = 0;

    // on request: effort before the limits, and the last limit that changed it (from 1; 0 for none)
    float* computed = nullptr;
    uint8_t* limited_by = nullptr;
    // and the effort behind the motor and its transmission, so many of the stages: what comes after them acts on the
    // joint
    float* motor = nullptr;
    int motor_stages = 0;

    Phase phase = Phase::kWhole;
    Handover handover;

    float dt = 0;
    int64_t step = 0;
    // faults of the step, in the order found
    std::vector<Fault>* faults = nullptr;
    std::mutex* guard = nullptr;
};

// A block of elements. Nothing is set at first, as a step of few robots is short; see block_of.
struct Block {
    int64_t first_robot, robots;
    // number of its first element among all, and of elements
    int64_t first, size;
    // read from: contiguous, `size` each; commands are the delayed ones after the delay
    const float* input[kSignals];
    // efforts that limits start from, and where efforts go
    const float* given;
    float* efforts;
    const int32_t* driven;
    // arrays of scratch memory, `pitch` numbers apart, see Use::scratch
    float* derived;
    int64_t pitch;
    // the first limit of a sweep
    int limit;
    // where results by places are found before they go where they belong
    float* found;
    // columns that networks work in
    float* columns;
    // where the state before the step is kept, null where nothing has to be put back
    float* kept;
};

}  // namespace actuators
