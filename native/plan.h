// A plan: the data and the execution of a step, except external arrays.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "memory.h"
#include "problem.h"
#include "variants.h"

namespace actuators {

[[noreturn]] void refuse(const std::string& subject, const std::string& rule);

// State of a plan between steps, in external arrays.
struct State {
    // ring of recent commands: depth rows of (robots, delayed slots), `pitch` numbers apart
    float* rows[kCommands] = {};
    int64_t depth = 0, pitch = 0;
    int32_t* pushes = nullptr;     // number of rows that hold a command, per element
    int32_t* write_idx = nullptr;  // row written last
    // state arrays of the laws: controllers, limits, feedback
    std::vector<float*> laws;
    bool operator==(const State& other) const {
        return pushes == other.pushes && laws == other.laws && rows[0] == other.rows[0];
    }
};

// A law of a plan: its rows of parameters and its slots.
struct Member {
    std::string law;
    std::vector<int> rows;
    std::vector<int32_t> slots;
};

// What a plan knows of a law besides: index of the law in controllers, limits and feedback; rows of its rings; and
// whether it is a sensor at the motor.
struct Late {
    size_t law;
    int64_t depth;
    bool at_motor;
};

// A network of a plan and its slots.
struct NetworkMember {
    NetworkUse use;
    std::vector<int32_t> slots, places;
};

// Flat arrays accessed by index, and their names in errors; the outputs are efforts, and efforts before the limits.
constexpr int kEnds = kSignals + 2;
struct Frame {
    Source inputs[kSignals];
    Sink outputs[2];
    std::vector<std::string> names;
};

class Tape;

class Plan {
  public:
    // `neutral` has a value per row of parameters, for gaps and slots without the law.
    Plan(std::string label, int64_t robots, int64_t slots, std::vector<float> neutral,
         const std::vector<Member>& controllers, const std::vector<Member>& limits, std::vector<int32_t> delayed,
         int64_t depth, std::vector<NetworkMember> networks = {}, const std::vector<Member>& feedback = {},
         const std::vector<Late>& late = {});
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    // ---- parameters: per slot, or (robots, slots), read at every step
    void share(size_t row, const float* values);
    void own(size_t row, const float* values);
    void share_lag(const int32_t* values);
    void own_lag(int32_t* values);
    // values of some slots, (robots, these slots), that replace those of a per-robot row
    void own_piece(size_t row, const float* values, const std::vector<int32_t>& slots);
    void own_lag_piece(const int32_t* values, std::vector<int32_t> slots);
    // a signal that laws request, by its index: (robots, slots)
    void give_signal(size_t number, const float* values);
    // publish a state array as a signal: (robots, slots); while it is unknown, a row, or `neutral` without one, -1
    void add_published(size_t array, float* signal, float neutral, int row);
    // sums that steps compute over ascending slots; other totals are written externally
    void set_totals(std::vector<Total> totals);
    // linkages of joints, which the stage of that law runs
    void set_linkages(std::vector<Linkage> linkages);
    // a (count, 3) curve of some slots: index of the law in controllers, limits and feedback, and index of the curve in
    // the law
    void add_curve(size_t law, int number, const float* rows, int64_t count, std::vector<int32_t> slots);

    // ---- arrays
    void bind_columns(const Source (&inputs)[kSignals], const Sink& efforts, std::vector<int32_t> columns);
    // columns of the same layout at other addresses; null keeps an array
    void move_columns(float* const (&inputs)[kSignals], float* efforts);
    void bind_indices(const Frame& frame);
    void use(const State& now, const State& after);
    // unbind; steps are refused until other arrays are bound
    void release_arrays();
    void release_states();
    void hand_over(const Handover& between);
    // write what controllers get, see `Problem::measured`, (robots, slots) each; NaN after a reset
    void measure(const std::vector<float*>& arrays);
    void observe(float* computed, uint8_t* limited_by, float* motor, size_t motor_stages);
    // record whole steps on this tape until it is removed
    void record(const std::shared_ptr<Tape>& tape);
    void stop_recording(const std::shared_ptr<Tape>& tape);

    // ---- stepping
    void run(Phase phase, float dt);
    // after a step: whether the next ones take its parameters, so that nobody may change them meanwhile
    void hold_parameters(bool on);
    // a step in parts, for plans that are stepped together; `check` throws before anything is written
    void check(Phase phase);
    void begin(Phase phase, float dt);
    int64_t blocks() const { return blocks_; }
    void run_blocks(int64_t first, int64_t last) { variant_.step_blocks(p_, first, last, scratch_.data()); }
    void finish();
    // true if its outputs overlap inputs of the other plan
    bool feeds(const Plan& other) const;

    // ---- between steps

    // publish now what the start of a step publishes
    void publish() const;
    void reset();
    void reset(const std::vector<int64_t>& robots);
    // the state was changed externally
    void unsettle();
    std::vector<Fault> faults() const;
    bool has_faults() const { return !faults_.empty(); }
    int64_t steps() const;
    void set_faults(const std::vector<Fault>& faults, int64_t steps);

    const char* variant() const { return variant_.name; }
    const char* layout();
    size_t memory() const;
    int64_t robots() const { return p_.robots; }
    int64_t slots() const { return p_.slots; }
    int64_t depth() const { return depth_; }
    int64_t delayed() const { return static_cast<int64_t>(delayed_slots_.size()); }
    // Size of a state array: number of pieces, and numbers per piece, robot by robot.
    struct Kept {
        int64_t pieces, size;
    };
    std::vector<Kept> state_arrays() const;
    // slots of the law of each state array
    std::vector<const std::vector<int32_t>*> state_slots() const;
    // Value of a state array after a reset, zero by default, or `kept` if a reset leaves it unchanged, with a `keeper`
    // only where the state array of that index is not zero.
    struct Start {
        float value = 0;
        bool kept = false;
        int keeper = -1;
        bool is_reset() const { return !kept || keeper >= 0; }
    };
    void start_at(std::vector<Start> starts);
    size_t rows() const { return rows_.size(); }
    size_t limits() const { return limits_.size(); }

    // held while a step runs or its data changes: steps and setters may run in different threads
    std::mutex& busy() const { return busy_; }
    bool is_large() const;

  private:
    struct LagPiece {
        const int32_t* values;
        std::vector<int32_t> slots;
    };
    struct CurveValues {
        size_t law;
        int number, count;
        std::vector<int32_t> slots, places;
        Aligned<float> rows;
        std::unique_ptr<Grid> grid;
    };
    struct MemberUse {
        int law;
        LawFacts facts;
        std::vector<int> rows;
        std::vector<int32_t> slots, places;
        Prepare prepare;
        // see `Late`
        int64_t depth = kSpareRows;
        bool at_motor = false;
    };
    // Shared parameters, prepared once per time step.
    struct Timed {
        Prepare prepare;
        const float* raw[kMost];
        float* prepared[kMost];
        int64_t size;
        // true if its time step is that of the controller
        bool in_periods;
    };

    MemberUse member(const Member& given, LawList list) const;
    void prepare();
    void choose_layout();
    int64_t block_size() const;
    void find_picks();
    void find_free();
    void find_asking();
    void find_kept();
    void find_transmissions();
    void find_felt();
    void find_ends();
    int end_array_of(int signal, bool follows) const;
    void places_of(const std::vector<int32_t>& slots, std::vector<int32_t>& places) const;
    Row row_of(size_t number);
    Use use_of(MemberUse& member, size_t number, bool in_periods = false);
    void prepare_for_dt();
    void find_shared();
    void find_resting();
    void disturb_all();
    bool has_own_rates() const;
    const MemberUse* find_member(size_t number) const;
    MemberUse* find_member(size_t number);
    void prepare_lag();
    void gather_lag();
    bool uniform_lag() const;
    void validate_indices();
    void point_at_state();
    void copy_state() const;
    void publish_starts(int64_t first, int64_t last) const;
    void forget_measured(int64_t first, int64_t last) const;
    void restart(size_t array, int64_t first, int64_t count);
    bool settle();
    bool records() const;
    float signal_of(int s, int64_t robot, int32_t slot) const;
    void run_all_blocks();
    void latch(const Fault& fault);

    std::string label_;
    const Variant& variant_ = choose_variant();
    Problem p_;
    int64_t depth_, blocks_ = 0;
    size_t num_state_arrays_ = 0;  // number of state arrays
    std::vector<Start> starts_;
    std::vector<RowValues> rows_;
    std::vector<MemberUse> controllers_, limits_, feedback_;
    std::vector<NetworkMember> networks_;
    std::vector<CurveValues> curves_;
    std::vector<int32_t> lag_, delayed_slots_, columns_;
    int32_t* own_lag_ = nullptr;
    std::vector<LagPiece> lag_pieces_;
    std::vector<std::string> names_;
    float* observed_ = nullptr;
    std::vector<std::shared_ptr<Tape>> tapes_;
    // index of each slot among the delayed slots, -1 if not delayed; for tapes
    std::vector<int32_t> delayed_place_;
    bool bound_ = false, changed_ = true;
    State now_, after_;
    bool in_place_ = true, in_use_ = false;
    // true if every row of the ring holds a command; unknown for external states
    bool settled_ = false;
    // faults since the reset, at most one per element
    std::vector<Fault> faults_, found_;
    std::vector<uint64_t> latched_;
    std::mutex guard_;
    mutable std::mutex busy_;
    const bool helped_;
    // set by prepare
    std::vector<int32_t> slot_of_, delayed_places_, free_places_;
    std::vector<Pick> picks_;
    std::vector<Aligned<float>> patterns_;
    std::vector<Row> patterns_of_;
    std::vector<Timed> timed_;
    std::optional<float> timed_dt_;
    // scratch array with the gathered pieces of each row, else -1
    std::vector<int> gathered_in_;
    // see `Use::rests`
    std::vector<uint8_t> rests_;
    Aligned<int32_t> driven_, shared_lag_, visible_, sees_end_;
    Aligned<float> scratch_, computed_, dt_row_, periods_;
};

}  // namespace actuators
