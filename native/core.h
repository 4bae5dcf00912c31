// What a step works on: pointers and sizes, owned by the module that binds them. No allocation happens here.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

namespace actuators {

// Elements are (robot, slot) in row-major order. Work goes in blocks of whole robots, small enough for the first-level
// cache. A parameter is either shared by all robots, then repeated to fill one block, or has a value per robot.
struct Row {
    const float* shared = nullptr;
    const float* own = nullptr;
    const float* at(int64_t element) const { return own ? own + element : shared; }
};

enum Signal { kPosition, kVelocity, kPositionTarget, kVelocityTarget, kFeedforward, kSignals };
constexpr int kEffortFault = 1 << kSignals;

// Numbers of a row of a table, each repeated so that a vector of any width is one load.
constexpr int kRepeated = 16;

struct Table {
    int count = 0;
    // per row: position, effort, slope to the next row, each `kRepeated` times
    const float* rows = nullptr;
    // places of the elements of one block that use it, and how many per robot; null when all do
    const int32_t* places = nullptr;
    int64_t slots = 0;
};

// One sweep of limits in the order speed curve, table, plain limit; what a slot lacks is neutral there.
struct Limits {
    bool dc_motor = false, table = false, max_effort = false;
    Row stall, no_load_velocity, peak, largest;
    // speed factors of the motors, repeated to fill a block; null when a motor has parameters of its own
    const float* speed_factors = nullptr;
    std::vector<Table> tables;
};

struct Ring {
    // depth rows of (robots, delayed slots), `pitch` numbers apart, per target signal
    float* rows[3] = {nullptr, nullptr, nullptr};
    int64_t depth = 1, head = 0, row_size = 0, pitch = 0;
    // steps per element, like a Row; `uniform` >= 0 when all delayed slots share one number
    const int32_t *shared_lag = nullptr, *own_lag = nullptr;
    int64_t uniform = -1;
    // all slots have a delay of `depth` steps: a row is read and then overwritten
    bool swaps = false;
};

struct Fault {
    int64_t robot;
    int32_t slot, code;
    int64_t step;
};

// How elements lie in the articulation's arrays.
enum class Layout {
    kDirect,  // as they are: every column is driven, or there is one robot whose columns are neighbours
    kGaps,    // read all columns, write the driven ones
    kGather,  // copy the driven columns to scratch and the efforts back
};

// A step in one go, or in two with somebody else's law or limit in between.
enum class Phase {
    kWhole,
    kCommand,  // guard, delay, law: the result is handed over
    kLimit,    // limits of what was handed back, guard, store
};

// What stands between the two phases, (robots, slots) each.
struct Handover {
    // signals with delayed targets; one that is not finite leaves the value before
    float* signals[kSignals] = {};
    // fault code of the inputs, and the effort before the limits; NaN for a joint with a fault
    int32_t* bad = nullptr;
    float* efforts = nullptr;
};

// Eight columns of a row, picked from two windows of eight neighbours each: where those begin, which lane of them goes
// where, and -1 where the second one gives it.
struct Pick {
    int64_t begin[2];
    int32_t lane[2][8], second[8];
};

struct Problem {
    int64_t robots = 0, slots = 0;
    // signals and efforts of the articulation
    const float* input[kSignals] = {};
    int64_t pitch[kSignals] = {};
    float* efforts = nullptr;
    int64_t efforts_pitch = 0;
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

    Row kp, kd, bias, ki, integral_max;
    // slots with an integral and with a delay: how many, and their places in a block
    int64_t integral_slots = 0, delayed_slots = 0;
    const int32_t *integral_places = nullptr, *delayed_places = nullptr;
    float* integral = nullptr;
    Ring ring;
    std::vector<Limits> limits;

    // on request: effort before the limits, and the last stage that changed it (from 1; 0 for none)
    float* computed = nullptr;
    uint8_t* limited_by = nullptr;

    Phase phase = Phase::kWhole;
    Handover handover;

    float dt = 0;
    int64_t step = 0;
    // faults of the step, in the order found; elements whose delay has seen no good command yet
    std::vector<Fault>* faults = nullptr;
    std::vector<int64_t>* waiting = nullptr;
    std::mutex* guard = nullptr;
};

// Memory of one thread: eighteen arrays of a block.
constexpr int kScratchArrays = 18;

// The speed factors of some motors, see laws.h.
using SpeedFactors = void (*)(const float* stall, const float* no_load_velocity, const float* peak, float* out,
                              int64_t size);
// Steps the blocks [first, last).
using StepBlocks = void (*)(const Problem&, int64_t first, int64_t last, float* scratch);
// Bytes moved at the machine's own speed: reads `count` arrays and writes one, for the benchmarks.
using Stream = void (*)(const float* const* inputs, int count, float* output, int64_t size);

struct Variant {
    const char* name;
    bool (*available)();
    StepBlocks step_blocks;
    SpeedFactors speed_factors;
    Stream stream;
};

extern const Variant kBaseline;
#ifdef ACTUATORS_X86
extern const Variant kAvx2, kAvx512;
#endif

}  // namespace actuators
