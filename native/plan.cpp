#include "plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "helper.h"
#include "tape.h"

namespace actuators {

namespace {

// elements of a block: fits the L1 cache; large problems with a delay, curves or states are bound by memory, where
// longer blocks are faster
constexpr int64_t kBlock = 384, kLongBlock = 3072, kMany = 32768;
// smallest number of elements for which releasing the GIL pays off
constexpr int64_t kWorthReleasing = 8192;
// smallest number of elements for which the helper pays off, and the number of chunks
constexpr int64_t kWorthHelping = 65536, kChunks = 16;

int64_t bounded_lag(int64_t lag, int64_t depth) {
    return std::clamp<int64_t>(lag, 0, depth);
}

// Indexed slots: ascending, without duplicates.
void require_slots(const std::vector<int32_t>& slots, int64_t count, const std::string& subject) {
    for (size_t k = 0; k < slots.size(); ++k) {
        if (slots[k] < 0 || slots[k] >= count) refuse(subject + ": " + std::to_string(slots[k]), "one of the slots");
        if (k && slots[k] <= slots[k - 1]) refuse(subject, "in ascending order, each once");
    }
}

// Slots in any order, without duplicates.
void require_slots_once(std::vector<int32_t> slots, int64_t count, const std::string& subject) {
    std::sort(slots.begin(), slots.end());
    require_slots(slots, count, subject);
}

}  // namespace

void refuse(const std::string& subject, const std::string& rule) {
    throw std::invalid_argument(subject + ": must be " + rule + ".");
}

// ---- construction

Plan::Plan(std::string label, int64_t robots, int64_t slots, std::vector<float> neutral,
           const std::vector<Member>& controllers, const std::vector<Member>& limits, std::vector<int32_t> delayed,
           int64_t depth, std::vector<NetworkMember> networks, const std::vector<Member>& feedback,
           const std::vector<Late>& late)
    : label_(std::move(label)),
      depth_(depth),
      networks_(std::move(networks)),
      delayed_slots_(std::move(delayed)),
      helped_(std::getenv("ACTUATORS_HELPER") && std::string(std::getenv("ACTUATORS_HELPER")) == "1") {
    if (robots < 1 || slots < 1)
        refuse("robots x slots = " + std::to_string(robots) + " x " + std::to_string(slots), "at least 1 x 1");
    if (robots > (int64_t{1} << 31) / slots) refuse("robots x slots", "at most 2^31");
    if (depth < 1 || depth > (int64_t{1} << 16)) refuse("depth = " + std::to_string(depth), ">= 1 and <= 65536");
    p_.robots = robots;
    p_.slots = slots;
    require_slots(delayed_slots_, slots, "delayed slots");
    p_.delayed_slots = static_cast<int64_t>(delayed_slots_.size());
    for (const float value : neutral) rows_.push_back({std::vector<float>(slots, value), nullptr, value, {}});
    for (const Member& one : controllers) controllers_.push_back(member(one, LawList::kControllers));
    for (const Member& one : limits) limits_.push_back(member(one, LawList::kStages));
    for (const Member& one : feedback) feedback_.push_back(member(one, LawList::kFeedback));
    for (const Late& one : late) {
        MemberUse* const member = find_member(one.law);
        if (!member || one.depth < kSpareRows || one.depth > (int64_t{1} << 16))
            refuse("rows of a law", "2 to 65536, of a law of the plan");
        member->depth = one.depth, member->at_motor = one.at_motor;
    }
    find_transmissions();
    for (NetworkMember& one : networks_) {
        require_slots(one.slots, slots, "slots of a network");
        one.use.slots = static_cast<int64_t>(one.slots.size());
        one.use.rows = robots * one.use.slots;
    }
    num_state_arrays_ = state_arrays().size();
    starts_.resize(num_state_arrays_);
    lag_.assign(slots, 0);
    latched_.assign((robots * slots + 63) / 64, 0);
    p_.guard = &guard_;
    p_.faults = &found_;
}

Plan::~Plan() {
    for (const auto& tape : tapes_) tape->plan = nullptr;
}

Plan::MemberUse Plan::member(const Member& given, LawList list) const {
    const std::vector<LawFacts> known = variant_.laws(list);
    for (size_t law = 0; law < known.size(); ++law) {
        if (given.law != known[law].name) continue;
        if (static_cast<int>(given.rows.size()) != known[law].parameters)
            refuse("rows of " + given.law, std::to_string(known[law].parameters));
        for (const int row : given.rows)
            if (row < 0 || row >= static_cast<int>(rows_.size()))
                refuse("row = " + std::to_string(row), "below " + std::to_string(rows_.size()));
        require_slots(given.slots, p_.slots, "slots of " + given.law);
        const int number = static_cast<int>(law);
        return {number, known[law], given.rows, given.slots, {}, variant_.prepare(list, number)};
    }
    static const char* const kinds[] = {"controllers", "stages after a controller", "feedback laws"};
    refuse("law = " + given.law, std::string("one of the core's ") + kinds[static_cast<int>(list)]);
}

std::vector<Plan::Kept> Plan::state_arrays() const {
    std::vector<Kept> all;
    const auto add = [&](const std::vector<MemberUse>& members) {
        for (const MemberUse& one : members) {
            const int64_t size = p_.robots * static_cast<int64_t>(one.slots.size());
            all.insert(all.end(), one.facts.states + (one.facts.late > 0), {1, size});
            all.insert(all.end(), one.facts.late, {one.depth, size});
        }
    };
    add(controllers_);
    for (const NetworkMember& one : networks_)
        all.insert(all.end(), one.use.arrays, {one.use.pieces, one.use.rows * one.use.each});
    add(limits_);
    add(feedback_);
    return all;
}

std::vector<const std::vector<int32_t>*> Plan::state_slots() const {
    std::vector<const std::vector<int32_t>*> all;
    const auto add = [&](const std::vector<MemberUse>& members) {
        for (const MemberUse& one : members) {
            all.insert(all.end(), one.facts.states, &one.slots);
            // what the plan itself keeps is not published
            all.insert(all.end(), one.facts.late ? 1 + one.facts.late : 0, nullptr);
        }
    };
    add(controllers_);
    for (const NetworkMember& one : networks_) all.insert(all.end(), one.use.arrays, nullptr);
    add(limits_);
    add(feedback_);
    return all;
}

void Plan::share(size_t row, const float* values) {
    rows_[row].values.assign(values, values + p_.slots);
    rows_[row].own = nullptr;
    changed_ = true;
}

void Plan::own(size_t row, const float* values) {
    rows_[row].own = values;
    changed_ = true;
}

void Plan::share_lag(const int32_t* values) {
    lag_.assign(values, values + p_.slots);
    own_lag_ = nullptr;
    changed_ = true;
}

void Plan::own_lag(int32_t* values) {
    own_lag_ = values;
    changed_ = true;
}

void Plan::own_piece(size_t row, const float* values, const std::vector<int32_t>& slots) {
    require_slots_once(slots, p_.slots, "slots of a piece");
    if (!rows_[row].own) refuse("row " + std::to_string(row), "one that every robot has its own values of");
    Piece piece{values, static_cast<int64_t>(slots.size()), {}};
    for (size_t k = 0; k < slots.size(); ++k) {
        if (k && slots[k] == slots[k - 1] + 1)
            ++piece.runs.back().count;
        else
            piece.runs.push_back({slots[k], static_cast<int32_t>(k), 1});
    }
    rows_[row].pieces.push_back(std::move(piece));
    changed_ = true;
}

void Plan::own_lag_piece(const int32_t* values, std::vector<int32_t> slots) {
    require_slots_once(slots, p_.slots, "slots of a piece");
    if (!own_lag_) refuse("lag", "one that every robot has its own values of");
    lag_pieces_.push_back({values, std::move(slots)});
    changed_ = true;
}

void Plan::give_signal(size_t number, const float* values) {
    if (number >= kMostAsked) refuse("signal = " + std::to_string(number), "below " + std::to_string(kMostAsked));
    p_.asked[number] = values;
    changed_ = true;
}

void Plan::add_published(size_t array, float* signal, float neutral, int row) {
    const auto all = state_slots();
    if (array >= all.size() || !all[array])
        refuse("array = " + std::to_string(array), "one that a law has_state, and no network");
    if (row >= static_cast<int>(rows_.size())) refuse("row = " + std::to_string(row), "one of the parameters");
    p_.published.push_back({array, *all[array], signal, neutral, row < 0 ? nullptr : &rows_[row], nullptr});
    changed_ = true;
}

void Plan::set_totals(std::vector<Total> totals) {
    for (const Total& one : totals) require_slots(one.slots, p_.slots, "slots of a total");
    p_.totals = std::move(totals);
    changed_ = true;
}

// A law by its index in controllers, limits and feedback; null if out of range.
Plan::MemberUse* Plan::find_member(size_t number) {
    for (auto* const members : {&controllers_, &limits_, &feedback_}) {
        if (number < members->size()) return &(*members)[number];
        number -= members->size();
    }
    return nullptr;
}

const Plan::MemberUse* Plan::find_member(size_t number) const {
    return const_cast<Plan*>(this)->find_member(number);
}

void Plan::add_curve(size_t law, int number, const float* rows, int64_t count, std::vector<int32_t> slots) {
    const MemberUse* const member = find_member(law);
    if (!member || number < 0 || number >= member->facts.curves) refuse("law of a curve", "one that has this curve");
    if (count < 1) refuse("curve", "of at least one row");
    for (int64_t row = 1; row < count; ++row)
        if (!(rows[3 * row] >= rows[3 * row - 3])) refuse("curve", "of points that do not decrease");
    require_slots(slots, p_.slots, "slots of a curve");
    CurveValues curve{law, number, static_cast<int>(count), std::move(slots), {}, {}, nullptr};
    if (count < kFewRows) {
        curve.rows = Aligned<float>(3 * kRepeated * count);
        for (int64_t k = 0; k < 3 * count; ++k) std::fill_n(curve.rows.data() + k * kRepeated, kRepeated, rows[k]);
    } else {
        curve.grid = std::make_unique<Grid>(rows, count);
    }
    curves_.push_back(std::move(curve));
    changed_ = true;
}

// ---- arrays

void Plan::bind_columns(const Source (&inputs)[kSignals], const Sink& efforts, std::vector<int32_t> columns) {
    std::copy(std::begin(inputs), std::end(inputs), p_.input);
    p_.efforts = efforts;
    p_.computed_too = Sink{};
    p_.layout = Layout::kDirect;
    columns_ = std::move(columns);
    bound_ = changed_ = true;
}

void Plan::move_columns(float* const (&inputs)[kSignals], float* efforts) {
    // prepared data does not depend on the addresses
    for (int s = 0; s < kSignals; ++s)
        if (inputs[s]) p_.input[s].data = inputs[s];
    if (efforts) p_.efforts.data = efforts;
}

void Plan::bind_indices(const Frame& frame) {
    std::copy(std::begin(frame.inputs), std::end(frame.inputs), p_.input);
    p_.efforts = frame.outputs[0];
    changed_ |= p_.layout != Layout::kIndexed || !p_.computed_too.data != !frame.outputs[1].data;
    p_.computed_too = frame.outputs[1];
    if (names_ != frame.names) names_ = frame.names;
    p_.layout = Layout::kIndexed;
    columns_.assign(1, 0);
    bound_ = true;
}

void Plan::use(const State& now, const State& after) {
    // what rested in the arrays of the last step still does
    if (!(in_use_ && now == after_)) disturb_all();
    now_ = now;
    after_ = after;
    in_place_ = now == after;
    in_use_ = true;
    point_at_state();
    find_kept();
    if (p_.layout != Layout::kIndexed) settled_ = false;
}

void Plan::release_arrays() {
    bound_ = false;
    changed_ = true;
}

void Plan::release_states() {
    now_ = after_ = State{};
    for (Published& one : p_.published) one.state = nullptr;
    in_use_ = false;
}

void Plan::point_at_state() {
    if (!in_use_) return;
    size_t at = 0;
    const auto point = [&](auto& use, int count) {
        for (int k = 0; k < count; ++k, ++at) {
            use.state[k] = after_.laws[at];
            use.before[k] = now_.laws[at] == after_.laws[at] ? nullptr : now_.laws[at];
        }
    };
    const auto point_all = [&](std::vector<Use>& uses) {
        for (Use& use : uses) {
            point(use, use.kept());
            for (int r = 0; r < use.late; ++r) use.ring[r] = after_.laws[at++];
        }
    };
    point_all(p_.controllers);
    for (NetworkUse& use : p_.networks) point(use, use.arrays);
    point_all(p_.limits);
    point_all(p_.feedback);
    for (Published& one : p_.published) one.state = now_.laws[one.array];
    for (int c = 0; c < kCommands; ++c) p_.ring.rows[c] = after_.rows[c];
    p_.ring.pitch = after_.pitch;
    p_.ring.pushes = after_.pushes;
}

void Plan::hand_over(const Handover& between) {
    p_.handover = between;
    changed_ = true;
}

void Plan::measure(const std::vector<float*>& arrays) {
    if (arrays.size() > kMeasured) refuse("measured arrays", "at most four");
    std::copy(arrays.begin(), arrays.end(), p_.measured);
    changed_ = true;
}

void Plan::observe(float* computed, uint8_t* limited_by, float* motor, size_t motor_stages) {
    if (motor_stages > limits_.size())
        refuse("motor_stages = " + std::to_string(motor_stages), "at most " + std::to_string(limits_.size()));
    observed_ = computed;
    p_.limited_by = limited_by;
    p_.motor = motor;
    p_.motor_stages = static_cast<int>(motor_stages);
    changed_ = true;
}

void Plan::record(const std::shared_ptr<Tape>& tape) {
    if (!tape->fits(p_.robots, p_.slots)) refuse("tape", "made for this plan");
    if (tape->plan) refuse("tape", "one on which nothing is noted yet");
    delayed_place_.assign(p_.slots, -1);
    for (size_t k = 0; k < delayed_slots_.size(); ++k) delayed_place_[delayed_slots_[k]] = static_cast<int32_t>(k);
    tapes_.push_back(tape);
    tape->plan = this;
    changed_ = true;
}

void Plan::stop_recording(const std::shared_ptr<Tape>& tape) {
    if (tape->plan != this) return;
    tape->plan = nullptr;
    tapes_.erase(std::remove(tapes_.begin(), tapes_.end(), tape), tapes_.end());
}

// ---- layout and derived data

void Plan::choose_layout() {
    if (p_.layout == Layout::kIndexed) return;
    const int32_t first = *std::min_element(columns_.begin(), columns_.end()),
                  last = *std::max_element(columns_.begin(), columns_.end());
    const bool ascending = std::is_sorted(columns_.begin(), columns_.end());
    const bool neighbours = ascending && last - first + 1 == p_.slots;
    bool even = true, own = own_lag_ || p_.computed || p_.limited_by || p_.motor || p_.handover.bad;
    for (const Source& source : p_.input) even &= source.pitch == p_.efforts.pitch;
    for (const RowValues& row : rows_) own |= row.own != nullptr;
    for (const float* const signal : p_.asked) own |= signal != nullptr;
    // the gaps layout would delay unused columns too; gathered rows can be delayed as a whole
    const bool delays_all = p_.delayed_slots == p_.slots && uniform_lag();
    if (neighbours && (p_.robots == 1 || (even && p_.efforts.pitch == p_.slots))) {
        p_.layout = Layout::kDirect;
    } else if (even && !own && !delays_all && ascending && 4 * p_.slots >= p_.efforts.pitch && p_.robots > 1) {
        p_.layout = Layout::kGaps;
    } else {
        p_.layout = Layout::kGather;
    }
}

int64_t Plan::block_size() const {
    const auto remember = [](const std::vector<MemberUse>& members) {
        return std::any_of(members.begin(), members.end(), [](const MemberUse& one) { return one.facts.states > 0; });
    };
    // a network remembers so much that longer blocks leave the cache
    const bool remembers = networks_.empty() && (remember(controllers_) || remember(limits_) || remember(feedback_));
    const bool streams = !delayed_slots_.empty() || !curves_.empty() || remembers;
    return streams && p_.robots * p_.slots >= kMany ? kLongBlock : kBlock;
}

void Plan::prepare() {
    if (!bound_) throw std::runtime_error("not bound to arrays. Call bind() first.");
    // computed efforts may be an output without an observer
    const bool computed_out = p_.computed_too.data;
    if (computed_out && !observed_ && !computed_.size()) computed_ = Aligned<float>(p_.robots * p_.slots);
    p_.computed = observed_ ? observed_ : computed_out ? computed_.data() : nullptr;
    choose_layout();
    p_.period = p_.layout == Layout::kGaps ? p_.efforts.pitch : p_.slots;
    p_.robots_per_block = std::min(p_.robots, std::max<int64_t>(1, block_size() / p_.period));
    p_.columns = columns_.data();
    find_picks();

    const int32_t first = *std::min_element(columns_.begin(), columns_.end());
    slot_of_.assign(p_.period, -1);
    for (int64_t slot = 0; slot < p_.slots; ++slot)
        slot_of_[p_.layout == Layout::kGaps ? columns_[slot] - first : slot] = static_cast<int32_t>(slot);
    p_.slot_of = slot_of_.data();
    places_of(delayed_slots_, delayed_places_);
    p_.delayed_places = delayed_places_.data();

    driven_ = Aligned<int32_t>(p_.robots_per_block * p_.period);
    for (size_t i = 0; i < driven_.size(); ++i) driven_[i] = slot_of_[i % p_.period] >= 0;
    p_.driven = driven_.data();

    // parameters
    patterns_.clear();
    patterns_of_.clear();
    timed_.clear();
    timed_dt_.reset();
    gathered_in_.clear();
    p_.gathered.clear();
    p_.derived = 0;
    for (size_t row = 0; row < rows_.size(); ++row) patterns_of_.push_back(row_of(row));
    p_.controllers.clear();
    p_.limits.clear();
    p_.feedback.clear();
    size_t number = 0;
    dt_row_ = Aligned<float>(p_.robots_per_block * p_.period);
    periods_ = Aligned<float>(dt_row_.size());
    std::fill_n(dt_row_.data(), dt_row_.size(), 0.0f);
    p_.dt_row = dt_row_.data();
    for (MemberUse& one : controllers_) p_.controllers.push_back(use_of(one, number++, true));
    p_.networks.clear();
    int64_t columns = 0;
    for (NetworkMember& one : networks_) {
        places_of(one.slots, one.places);
        one.use.places = one.places.data();
        columns = std::max(columns, one.use.network->columns);
        p_.networks.push_back(one.use);
    }
    find_free();
    find_asking();
    for (MemberUse& one : limits_) p_.limits.push_back(use_of(one, number++));
    for (MemberUse& one : feedback_) p_.feedback.push_back(use_of(one, number++, true));
    // what is gathered, prepared or looked up is all that has scratch arrays so far
    p_.derives = p_.derived > 0;
    visible_ = Aligned<int32_t>(p_.robots_per_block * p_.period);
    std::fill_n(visible_.data(), visible_.size(), 1);
    for (const Use& use : p_.feedback)
        for (int64_t n = 0; use.senses && !use.at_motor && n < p_.robots_per_block * use.slots; ++n)
            visible_.data()[use.places[n]] = 0;
    p_.visible = visible_.data();
    p_.motor_arrays = p_.derived;
    if (p_.transmissions) p_.derived += kMotorArrays;
    find_felt();
    find_ends();
    p_.link_arrays = p_.derived;
    for (Linkage& one : p_.linkages) places_of(one.slots, one.places);
    if (!p_.linkages.empty()) {
        p_.derived += kLinkArrays;
        p_.sums = Sums(p_.linkages, p_.period);
    }
    // behind an effort mode of shafts is their linkage
    if (!limits_.empty()) p_.limits.back().restores = p_.ends >= 0 && !p_.linkages.empty();
    point_at_state();
    find_kept();
    prepare_lag();
    variant_.choose(p_);
    if (p_.layout != Layout::kIndexed)
        for (const auto& tape : tapes_) tape->place(columns_);
    blocks_ = (p_.robots + p_.robots_per_block - 1) / p_.robots_per_block;
    find_resting();
    const size_t arrays = variant_.scratch_arrays + p_.derived;
    const size_t each = arrays * ((p_.robots_per_block * p_.period + 15) / 16 * 16) + columns * kBatch +
                        (p_.kept * p_.robots_per_block + 15) / 16 * 16;
    scratch_ = Aligned<float>((helped_ ? 2 : 1) * each);
    changed_ = false;
}

// Give each law its place among the states that a fault of a later stage restores. Rings have a spare row instead.
void Plan::find_kept() {
    p_.kept = 0;
    p_.saved.clear();
    if (limits_.empty() && feedback_.empty() && !p_.handover.bad) return;
    const auto place = [&](auto& use, int64_t arrays, int64_t pieces, int64_t each, int64_t first = 0) {
        const int64_t size = each * use.slots;
        use.kept_at = p_.kept;
        for (int64_t s = 0; s < arrays; ++s, p_.kept += pieces * size)
            if (s >= first && !use.before[s])
                p_.saved.push_back({use.state[s], size, p_.kept, pieces, p_.robots * size});
    };
    const auto place_all = [&](std::vector<Use>& uses) {
        for (Use& use : uses)
            if (use.restores || use.keeps) place(use, use.kept(), 1, 1, use.saved_from());
    };
    place_all(p_.controllers);
    for (NetworkUse& use : p_.networks) place(use, use.arrays, use.pieces, use.each);
    place_all(p_.limits);
    place_all(p_.feedback);
}

void Plan::places_of(const std::vector<int32_t>& slots, std::vector<int32_t>& places) const {
    places.clear();
    for (int64_t robot = 0; robot < p_.robots_per_block; ++robot)
        for (const int32_t slot : slots) {
            const int64_t place = p_.layout == Layout::kGaps ? columns_[slot] - columns_[0] : slot;
            places.push_back(static_cast<int32_t>(robot * p_.period + place));
        }
}

// Find the slots whose laws request signals.
void Plan::find_asking() {
    std::vector<uint32_t> asking(p_.slots);
    bool any = false;
    const auto look = [&](const std::vector<MemberUse>& members) {
        for (const MemberUse& one : members)
            for (int k = 0; k < one.facts.asked; ++k) {
                if (is_of_engine(one.facts.asks[k])) continue;
                any = true;
                for (const int32_t slot : one.slots) asking[slot] |= uint32_t{1} << one.facts.asks[k];
            }
    };
    look(controllers_), look(limits_), look(feedback_);
    p_.asking = any ? std::move(asking) : std::vector<uint32_t>{};
}

// Give laws of motors the scratch arrays with what the motor feels.
void Plan::find_felt() {
    p_.felt_arrays = 0;
    const auto look = [&](const std::vector<MemberUse>& members, std::vector<Use>& uses, size_t count) {
        for (size_t n = 0; n < count; ++n)
            for (int k = 0; k < members[n].facts.asked; ++k) {
                const int signal = members[n].facts.asks[k];
                if (signal >= kFeltSignals) continue;
                if (!p_.felt_arrays) {
                    // index 0 stands for none
                    p_.felt_arrays = std::max(p_.derived, 1);
                    p_.derived = p_.felt_arrays + kFeltSignals;
                }
                uses[n].felt[k] = p_.felt_arrays + signal;
            }
    };
    if (!p_.transmissions) return;
    look(controllers_, p_.controllers, controllers_.size());
    look(limits_, p_.limits, p_.first_transmission);
}

// Scratch array that efforts at the end of the step put in the place of a signal, 0 for none.
int Plan::end_array_of(int signal, bool follows) const {
    if (signal == kInertia || signal == kCoupledInertia)
        return p_.end_arrays + (follows ? kInertiaOfJoint : kInertiaOfMotor);
    if (signal == kLoad && follows) return p_.end_arrays + kLoadOfJoint;
    if (signal == kLoadIsWhole && follows) return p_.end_arrays + kIsWhole;
    return 0;
}

// Give laws the scratch arrays with what efforts at the end of the step replace.
void Plan::find_ends() {
    p_.end_arrays = 0;
    sees_end_ = Aligned<int32_t>(p_.robots_per_block * p_.period);
    std::fill_n(sees_end_.data(), sees_end_.size(), 1);
    // sensors remember, and some are late
    for (const Use& use : p_.feedback)
        for (int64_t n = 0; use.senses && n < p_.robots_per_block * use.slots; ++n) sees_end_.data()[use.places[n]] = 0;
    p_.sees_end = sees_end_.data();
    bool any = p_.ends >= 0;
    for (const MemberUse& one : limits_)
        for (int k = 0; k < one.facts.asked; ++k) any |= is_of_engine(one.facts.asks[k]);
    if (!any) return;
    // index 0 stands for none. Without the mode there are two arrays that nobody writes: zeros
    const int first = std::max(p_.derived, 1);
    p_.derived = first + (p_.ends >= 0 ? kEndArrays : 2);
    if (p_.ends >= 0) p_.end_arrays = first;
    for (size_t n = 0; n < limits_.size(); ++n)
        for (int k = 0; k < limits_[n].facts.asked; ++k) {
            const int signal = limits_[n].facts.asks[k];
            p_.limits[n].is_still[k] = is_of_engine(signal) && p_.ends < 0;
            if (is_of_engine(signal))
                p_.limits[n].felt[k] = first + (p_.ends >= 0 ? kDamping : 0) + signal - kMotorDamping;
            else if (p_.ends >= 0 && static_cast<int>(n) != p_.ends)
                p_.limits[n].felt[k] = end_array_of(signal, limits_[n].facts.follows);
        }
}

void Plan::set_linkages(std::vector<Linkage> linkages) {
    for (const Linkage& one : linkages) {
        if (one.count < 1 || one.count > kMostLinked || static_cast<int>(one.slots.size()) != one.count)
            refuse("joints of a linkage", "one to eight");
        require_slots_once(one.slots, p_.slots, "slots of a linkage");
        int64_t nodes = one.rows[0];
        if (one.count == 2) nodes *= one.rows[1];
        for (int j = 0; one.is_table() && j < one.count; ++j)
            if (one.rows[j] > static_cast<int64_t>(one.nodes.size()))
                refuse("positions of a linkage", "as many as nodes");
        if (one.is_table() && static_cast<int64_t>(one.nodes.size()) != nodes * one.count * (1 + one.count))
            refuse("nodes of a linkage", "an angle and slopes per shaft and node");
    }
    p_.linkages = std::move(linkages);
    changed_ = true;
}

// Find where motor coordinates end.
void Plan::find_transmissions() {
    for (size_t k = 0; k < limits_.size(); ++k) {
        if (limits_[k].facts.couples) p_.linkage_stage = static_cast<int>(k);
        if (limits_[k].facts.ticks) p_.rate = static_cast<int>(k);
        if (limits_[k].facts.ends) p_.ends = static_cast<int>(k);
        if (!limits_[k].facts.follows) p_.first_following = static_cast<int>(k) + 1;
        if (!limits_[k].facts.converts) continue;
        const int number = static_cast<int>(k);
        if (!p_.transmissions) p_.first_transmission = number;
        if (p_.first_transmission + p_.transmissions++ != number) refuse("transmissions", "one behind the other");
    }
}

// Find the slots without a controller or network.
void Plan::find_free() {
    std::vector<int32_t> taken, all(p_.slots), free;
    for (const MemberUse& one : controllers_) taken.insert(taken.end(), one.slots.begin(), one.slots.end());
    for (const NetworkMember& one : networks_) taken.insert(taken.end(), one.slots.begin(), one.slots.end());
    std::sort(taken.begin(), taken.end());
    std::iota(all.begin(), all.end(), 0);
    std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(free));
    places_of(free, free_places_);
    p_.free_slots = static_cast<int64_t>(free.size());
    p_.free_places = free_places_.data();
}

// Shared values repeated to fill a block, or per-robot values in place.
Row Plan::row_of(size_t number) {
    const RowValues& row = rows_[number];
    gathered_in_.push_back(-1);
    if (row.own && row.pieces.empty()) return {row.own, -1};
    if (row.own) {
        int64_t in_pieces = 0;
        for (const Piece& piece : row.pieces) in_pieces += piece.count;
        p_.gathered.push_back({p_.derived, in_pieces < p_.slots ? row.own : nullptr, &row.pieces});
        gathered_in_.back() = p_.derived++;
        return {row.own, -1};
    }
    Aligned<float> pattern(p_.robots_per_block * p_.period);
    for (size_t i = 0; i < pattern.size(); ++i) {
        const int32_t slot = slot_of_[i % p_.period];
        pattern[i] = slot < 0 ? row.neutral : row.values[slot];
    }
    patterns_.push_back(std::move(pattern));
    return {patterns_.back().data(), 0};
}

// True if robots may have rates of their own.
bool Plan::has_own_rates() const {
    if (p_.rate < 0) return false;
    const std::vector<int>& rows = limits_[p_.rate].rows;
    return std::any_of(rows.begin(), rows.end(), [&](int row) { return rows_[row].own != nullptr; });
}

Use Plan::use_of(MemberUse& member, size_t number, bool in_periods) {
    Use use;
    use.law = member.law;
    use.limits = member.facts.limits;
    for (int k = 0; k < member.facts.asked; ++k) {
        use.asked[k] = p_.asked[member.facts.asks[k]];
        if (!use.asked[k] && !is_of_engine(member.facts.asks[k]))
            throw std::runtime_error(std::string(member.facts.name) +
                                     " requests a signal that is missing. Call give_signal() first.");
    }
    use.states = member.facts.states;
    use.keeps = member.facts.keeps;
    use.senses = member.facts.gives == 2;
    use.late = member.facts.late, use.depth = member.depth, use.at_motor = member.at_motor;
    use.parameters = member.facts.parameters;
    use.prepared = member.facts.prepared;
    use.prepare = member.prepare;
    use.slots = static_cast<int64_t>(member.slots.size());
    use.every = use.slots == p_.slots;
    places_of(member.slots, member.places);
    use.places = member.places.data();
    bool own = false;
    for (size_t k = 0; k < member.rows.size(); ++k) {
        use.rows[k] = use.raw[k] = patterns_of_[member.rows[k]];
        use.scratch[k] = use.raw_scratch[k] = gathered_in_[member.rows[k]];
        own |= use.raw[k].own != 0;
    }
    if (member.facts.prepares) {
        own |= in_periods && member.facts.timed && has_own_rates();
        Timed shared{member.prepare, {}, {}, p_.robots_per_block * p_.period, in_periods};
        use.derives = own;
        for (int k = 0; k < member.facts.parameters; ++k) shared.raw[k] = use.raw[k].values;
        for (int k = 0; k < member.facts.prepared; ++k) {
            const int parameter = member.facts.passes[k];
            use.scratch[k] = -1;
            if (parameter >= 0) {
                use.rows[k] = use.raw[parameter];
                use.scratch[k] = use.raw_scratch[parameter];
            } else if (own) {
                use.scratch[k] = p_.derived++;
            } else {
                patterns_.emplace_back(shared.size);
                shared.prepared[k] = patterns_.back().data();
                use.rows[k] = {shared.prepared[k], 0};
            }
        }
        // shared parameters are prepared once, or once per time step
        if (!own && member.facts.timed)
            timed_.push_back(shared);
        else if (!own)
            shared.prepare(shared.raw, shared.prepared, shared.size, dt_row_.data());
    }
    for (int k = 0; k < use.prepared; ++k) use.in_scratch |= use.scratch[k] >= 0;
    if (!member.facts.curves) return use;
    use.curve = p_.derived;
    p_.derived += member.facts.curves;
    for (int k = 0; k < member.facts.curves; ++k) use.curves.push_back({member.facts.over[k], {}});
    for (CurveValues& curve : curves_) {
        if (curve.law != number) continue;
        places_of(curve.slots, curve.places);
        const bool every = static_cast<int64_t>(curve.slots.size()) == p_.slots;
        use.curves[curve.number].rows.push_back({curve.count, curve.rows.data(), curve.grid.get(),
                                                 every ? nullptr : curve.places.data(),
                                                 static_cast<int64_t>(curve.slots.size())});
    }
    return use;
}

void Plan::prepare_for_dt() {
    p_.holds = false;
    std::fill_n(dt_row_.data(), dt_row_.size(), p_.dt);
    const auto prepare_where = [&](bool in_periods, const float* dt) {
        for (const Timed& one : timed_)
            if (one.in_periods == in_periods) one.prepare(one.raw, one.prepared, one.size, dt);
    };
    prepare_where(false, dt_row_.data());
    const bool shared = p_.rate >= 0 && !has_own_rates();
    if (shared) {
        // the first prepared number of a rate is the number of physics steps in its period
        const float* const steps = p_.limits[p_.rate].rows[0].values;
        for (size_t i = 0; i < periods_.size(); ++i) periods_.data()[i] = steps[i] * p_.dt;
    }
    prepare_where(true, (shared ? periods_ : dt_row_).data());
    find_shared();
    timed_dt_ = p_.dt;
}

// Find the numbers that all elements have.
void Plan::find_shared() {
    const int64_t size = p_.robots_per_block * p_.period;
    for (auto* const uses : {&p_.controllers, &p_.limits, &p_.feedback})
        for (Use& use : *uses)
            for (int k = 0; k < use.prepared; ++k) {
                const float* const values = use.rows[k].values;
                const auto is_first = [values](float value) { return value == values[0]; };
                use.shared[k] = use.is_shared(k) && std::all_of(values, values + size, is_first) ? values[0] : NAN;
            }
    const auto find_forms = [](std::vector<Use>& uses, const std::vector<MemberUse>& members) {
        for (size_t n = 0; n < uses.size(); ++n) {
            Use& use = uses[n];
            use.all_shared = true;
            for (int k = 0; k < use.prepared; ++k) use.all_shared &= use.is_shared(k);
            use.shared_forms = 0;
            for (int form = 0; form < 3; ++form) {
                const float* const constants = members[n].facts.constants[form];
                bool fits = constants;
                for (int k = 0; fits && k < use.prepared; ++k)
                    fits = std::isnan(constants[k]) || !use.is_shared(k) || use.shared[k] == constants[k];
                use.shared_forms |= static_cast<uint32_t>(fits) << (form + 1);
            }
        }
    };
    find_forms(p_.controllers, controllers_);
    find_forms(p_.limits, limits_);
    find_forms(p_.feedback, feedback_);
}

// Give the laws whose states may rest their notes of that, by block, and tell those who publish them.
void Plan::find_resting() {
    rests_.assign(limits_.size() * blocks_, 0);
    size_t first = 0;
    for (const MemberUse& one : controllers_) first += one.facts.states + (one.facts.late > 0) + one.facts.late;
    for (const NetworkMember& one : networks_) first += one.use.arrays;
    for (Published& one : p_.published) one.law = nullptr;
    for (size_t n = 0; n < limits_.size(); ++n) {
        const LawFacts& facts = limits_[n].facts;
        Use& use = p_.limits[n];
        if (facts.resting[2]) {
            use.rests = rests_.data() + n * blocks_;
            std::copy_n(facts.resting, 3, use.resting + 1);
            for (Published& one : p_.published)
                if (one.array >= first && one.array < first + facts.states)
                    one.law = &use, one.number = static_cast<int>(one.array - first);
        }
        first += facts.states + (facts.late > 0) + facts.late;
    }
}

void Plan::disturb_all() {
    std::fill(rests_.begin(), rests_.end(), uint8_t{0});
}

// True if all delayed slots have the same lag.
bool Plan::uniform_lag() const {
    if (own_lag_ || delayed_slots_.empty()) return false;
    for (const int32_t slot : delayed_slots_)
        if (bounded_lag(lag_[slot], depth_) != bounded_lag(lag_[delayed_slots_[0]], depth_)) return false;
    return true;
}

void Plan::prepare_lag() {
    Ring& ring = p_.ring;
    ring.depth = depth_;
    shared_lag_ = Aligned<int32_t>(p_.robots_per_block * p_.period);
    for (size_t i = 0; i < shared_lag_.size(); ++i) {
        const int32_t slot = slot_of_[i % p_.period];
        shared_lag_[i] = slot < 0 ? 0 : static_cast<int32_t>(bounded_lag(lag_[slot], depth_));
    }
    ring.some_now = own_lag_ != nullptr;
    for (const int32_t slot : delayed_slots_) ring.some_now |= lag_[slot] <= 0;
    ring.shared_lag = shared_lag_.data();
    ring.own_lag = own_lag_;
    ring.uniform = uniform_lag() ? bounded_lag(lag_[delayed_slots_[0]], depth_) : -1;
}

// Copy lag pieces into the array that steps read.
void Plan::gather_lag() {
    for (const LagPiece& piece : lag_pieces_)
        for (int64_t robot = 0, k = 0; robot < p_.robots; ++robot)
            for (const int32_t slot : piece.slots) own_lag_[robot * p_.slots + slot] = piece.values[k++];
}

// Group columns by eight, if two windows cover each group.
void Plan::find_picks() {
    picks_.clear();
    for (size_t first = 0; p_.layout == Layout::kGather && first < columns_.size(); first += 8) {
        const size_t count = std::min<size_t>(8, columns_.size() - first);
        const int32_t* columns = columns_.data() + first;
        Pick pick{};
        pick.begin[0] = pick.begin[1] = *std::min_element(columns, columns + count);
        int32_t next = INT32_MAX;
        for (size_t k = 0; k < count; ++k)
            if (columns[k] >= pick.begin[0] + 8) next = std::min(next, columns[k]);
        if (next < INT32_MAX) pick.begin[1] = next;
        bool fits = true;
        for (size_t k = 0; k < count; ++k) {
            const int window = columns[k] >= pick.begin[0] + 8;
            const int64_t lane = columns[k] - pick.begin[window];
            if (!(fits &= lane <= 7)) break;
            pick.lane[window][k] = static_cast<int32_t>(lane);
            pick.second[k] = -window;
        }
        if (!fits) {
            picks_.clear();
            break;
        }
        picks_.push_back(pick);
    }
    p_.picks = picks_.data();
    p_.pick_count = static_cast<int64_t>(picks_.size());
}

// ---- a step

bool Plan::is_large() const {
    return p_.robots * p_.slots >= kWorthReleasing;
}

void Plan::run(Phase phase, float dt) {
    check(phase);
    begin(phase, dt);
    run_all_blocks();
    finish();
}

void Plan::hold_parameters(bool on) {
    const auto curved = [](const std::vector<Use>& uses) {
        return std::any_of(uses.begin(), uses.end(), [](const Use& one) { return one.curve >= 0; });
    };
    // other blocks use the same scratch memory, and values of curves change with the state
    p_.holds = on && blocks_ == 1 && !helped_ && !curved(p_.limits) && !curved(p_.controllers) && !curved(p_.feedback);
}

void Plan::check(Phase phase) {
    if (phase != Phase::kWhole && !p_.handover.bad)
        throw std::runtime_error("no handover between the halves of a step. Call hand_over() first.");
    if (changed_) prepare();
    if (!in_use_ && (p_.delayed_slots || num_state_arrays_))
        throw std::runtime_error("not bound to states. Call use() first.");
    if (p_.layout == Layout::kIndexed) validate_indices();
}

void Plan::begin(Phase phase, float dt) {
    p_.phase = phase;
    if (phase != Phase::kLimit) p_.dt = dt;
    if (timed_dt_ != p_.dt) prepare_for_dt();
    if (phase == Phase::kLimit) return;
    if (!in_place_) copy_state();
    // states of the caller may have been changed
    if (p_.layout == Layout::kIndexed) disturb_all();
    if (p_.delayed_slots) {
        Ring& ring = p_.ring;
        // external memory: wrapped, so that it is a valid row
        ring.newest = (*now_.write_idx % depth_ + depth_) % depth_;
        if (!lag_pieces_.empty()) gather_lag();
        if (!settled_) settled_ = settle() && p_.layout != Layout::kIndexed;
    }
    if (records())
        for (const auto& tape : tapes_) tape->before(p_, lag_.data(), own_lag_, delayed_place_.data(), settled_);
}

bool Plan::records() const {
    return !tapes_.empty() && p_.phase == Phase::kWhole && p_.layout != Layout::kIndexed;
}

void Plan::finish() {
    if (p_.delayed_slots && p_.phase != Phase::kLimit)
        *after_.write_idx = static_cast<int32_t>(p_.ring.newest + 1 == depth_ ? 0 : p_.ring.newest + 1);
    if (p_.phase == Phase::kCommand) return;
    for (const Fault& fault : found_) latch(fault);
    found_.clear();
    if (records())
        for (const auto& tape : tapes_) tape->after(p_, faults_);
    ++p_.step;
}

void Plan::run_all_blocks() {
    const int64_t count = blocks_;
    if (!helped_ || p_.robots * p_.slots < kWorthHelping) return run_blocks(0, count);
    const int64_t each = (count + kChunks - 1) / kChunks;
    Helper::instance().run((count + each - 1) / each, [this, each, count](int64_t chunk, int worker) {
        float* scratch = scratch_.data() + worker * static_cast<int64_t>(scratch_.size() / 2);
        variant_.step_blocks(p_, chunk * each, std::min(count, (chunk + 1) * each), scratch);
    });
}

// Check that all indices are in range, and detect consecutive ones, which need no gather. Indices may change between
// steps.
void Plan::validate_indices() {
    struct Seen {
        const uint32_t* index;
        int64_t step, size;
        int64_t first;
        bool consecutive;
    } seen[kSignals + 2];
    int known = 0;
    const auto look = [&](auto& end, size_t named) {
        if (!end.data) return;
        int at = 0;
        while (at < known && (seen[at].index != end.index || seen[at].step != end.index_stride)) ++at;
        if (at == known) {
            const uint32_t first = *end.index;
            const auto at_robot = [&](int64_t k) { return end.index[k * end.index_stride]; };
            uint32_t differ = 0;
            if (end.index_stride == 1)
                for (int64_t k = 0; k < p_.robots; ++k) differ |= (end.index[k] - first) ^ static_cast<uint32_t>(k);
            else
                for (int64_t k = 0; k < p_.robots; ++k) differ |= (at_robot(k) - first) ^ static_cast<uint32_t>(k);
            int64_t largest = int64_t{first} + p_.robots - 1;
            if (differ) {
                uint32_t found = 0;
                for (int64_t k = 0; k < p_.robots; ++k) found = std::max(found, at_robot(k));
                largest = found;
            }
            seen[known++] = {end.index, end.index_stride, largest + 1, first, differ == 0};
        }
        if (seen[at].size > end.size)
            refuse(label_ + ": index " + std::to_string(seen[at].size - 1) + " into " + names_[named],
                   "below " + std::to_string(end.size) + ", its length");
        end.consecutive = seen[at].consecutive && end.stride == 1 ? seen[at].first : -1;
    };
    for (int s = 0; s < kSignals; ++s) look(p_.input[s], s);
    look(p_.efforts, kSignals);
    look(p_.computed_too, kSignals + 1);
}

bool Plan::feeds(const Plan& other) const {
    const auto overlap = [](const Sink& to, const Source& from) {
        if (!to.data || !from.data || !to.size || !from.size) return false;
        const auto range = [](const float* data, int64_t size, int64_t stride) {
            const float* last = data + (size - 1) * stride;
            return std::make_pair(std::min(data, last), std::max(data, last) + 1);
        };
        const auto written = range(to.data, to.size, to.stride), read = range(from.data, from.size, from.stride);
        return written.first < read.second && read.first < written.second;
    };
    for (const Source& from : other.p_.input)
        if (overlap(p_.efforts, from) || overlap(p_.computed_too, from)) return true;
    return false;
}

// ---- state

void Plan::copy_state() const {
    const int64_t count = p_.robots * p_.delayed_slots;
    for (int c = 0; c < kCommands && count; ++c)
        if (now_.rows[c] != after_.rows[c])
            for (int64_t row = 0; row < depth_; ++row)
                std::copy_n(now_.rows[c] + row * now_.pitch, count, after_.rows[c] + row * after_.pitch);
    if (count && now_.pushes != after_.pushes) std::copy_n(now_.pushes, count, after_.pushes);
    const std::vector<Kept> all = state_arrays();
    for (size_t k = 0; k < all.size(); ++k)
        if (now_.laws[k] != after_.laws[k]) std::copy_n(now_.laws[k], all[k].pieces * all[k].size, after_.laws[k]);
}

// A signal of a joint.
float Plan::signal_of(int s, int64_t robot, int32_t slot) const {
    const Source& source = p_.input[s];
    if (!source.data) return 0.0f;
    if (source.index) return source.data[source.index[robot * source.index_stride] * source.stride];
    return source.data[robot * source.pitch + columns_[slot]];
}

// Fill every row of the ring with a command: with the first good command after a reset, or with the oldest one if an
// external state has fewer rows. Returns true if all elements are filled.
bool Plan::settle() {
    const Ring& ring = p_.ring;
    const int64_t count = p_.robots * p_.delayed_slots;
    const int32_t full = static_cast<int32_t>(depth_);
    int32_t differ = 0;
    for (int64_t k = 0; k < count; ++k) differ |= ring.pushes[k] ^ full;
    if (!differ) return true;
    bool all = true;
    const float* linked[kCommands];
    for (int64_t k = 0; k < count; ++k) {
        const int64_t held = bounded_lag(ring.pushes[k], full);
        ring.pushes[k] = full;
        if (held == full) continue;
        const auto at = [&](int c, int64_t lag) -> float& {
            const int64_t row = (ring.newest + 1 - lag + 2 * depth_) % depth_;
            return ring.rows[c][row * ring.pitch + k];
        };
        const int64_t robot = k / p_.delayed_slots;
        const int32_t slot = delayed_slots_[k % p_.delayed_slots];
        float oldest[kCommands];
        bool good = true;
        if (!p_.linkages.empty() && !held) variant_.commands_of_shafts(p_, robot, scratch_.data(), linked);
        for (int c = 0; c < kCommands; ++c) {
            const auto now = [&] {
                return p_.linkages.empty() ? signal_of(kPositionTarget + c, robot, slot)
                                           : linked[c][delayed_places_[k % p_.delayed_slots]];
            };
            oldest[c] = held ? at(c, held) : now();
            good &= std::isfinite(oldest[c]);
        }
        if (!held && !good) {
            ring.pushes[k] = 0;
            all = false;
            continue;
        }
        for (int c = 0; c < kCommands; ++c)
            for (int64_t lag = held + 1; lag <= depth_; ++lag) at(c, lag) = oldest[c];
    }
    return all;
}

void Plan::unsettle() {
    settled_ = false;
    disturb_all();
}

void Plan::start_at(std::vector<Start> starts) {
    if (starts.size() != num_state_arrays_)
        refuse("starts of " + std::to_string(starts.size()) + " arrays", "of " + std::to_string(num_state_arrays_));
    const std::vector<Kept> all = state_arrays();
    for (size_t k = 0; k < starts.size(); ++k) {
        const int keeper = starts[k].keeper;
        if (keeper < 0) continue;
        if (static_cast<size_t>(keeper) >= all.size() || all[keeper].size != all[k].size || all[k].pieces != 1)
            refuse("keeper = " + std::to_string(keeper), "a state of the same law");
    }
    starts_ = std::move(starts);
}

void Plan::publish() const {
    for (const Published& one : p_.published)
        if (one.state) one.publish(0, p_.robots, p_.slots);
}

// Publish reset states of robots [first, last), so that readers see the same values whether or not a step follows;
// states that a reset keeps stay published.
void Plan::publish_starts(int64_t first, int64_t last) const {
    for (const Published& one : p_.published)
        if (one.state && starts_[one.array].is_reset()) one.publish(first, last, p_.slots);
}

// What robots [first, last) measure is unknown.
void Plan::forget_measured(int64_t first, int64_t last) const {
    for (float* const values : p_.measured)
        if (values) std::fill_n(values + first * p_.slots, (last - first) * p_.slots, NAN);
}

// Reset numbers [first, first + count) of a state array.
void Plan::restart(size_t array, int64_t first, int64_t count) {
    const Start& start = starts_[array];
    float* const values = now_.laws[array] + first;
    if (start.keeper < 0) {
        std::fill_n(values, count, start.value);
        return;
    }
    const float* const kept = now_.laws[start.keeper] + first;
    for (int64_t k = 0; k < count; ++k) values[k] = kept[k] != 0.0f ? values[k] : start.value;
}

void Plan::reset() {
    if (p_.delayed_slots && now_.pushes) std::fill_n(now_.pushes, p_.robots * p_.delayed_slots, 0);
    const std::vector<Kept> all = state_arrays();
    for (size_t k = 0; k < now_.laws.size(); ++k)
        if (starts_[k].is_reset()) restart(k, 0, all[k].pieces * all[k].size);
    publish_starts(0, p_.robots);
    forget_measured(0, p_.robots);
    faults_.clear();
    std::fill(latched_.begin(), latched_.end(), 0);
    p_.step = 0;
    unsettle();
}

void Plan::reset(const std::vector<int64_t>& robots) {
    for (const int64_t robot : robots)
        if (robot < 0 || robot >= p_.robots)
            refuse("robot = " + std::to_string(robot), "below " + std::to_string(p_.robots));
    const std::vector<Kept> all = state_arrays();
    for (const int64_t robot : robots) {
        if (now_.pushes) std::fill_n(now_.pushes + robot * p_.delayed_slots, p_.delayed_slots, 0);
        for (size_t k = 0; k < now_.laws.size(); ++k) {
            if (!starts_[k].is_reset()) continue;
            const int64_t each = all[k].size / p_.robots;
            for (int64_t piece = 0; piece < all[k].pieces; ++piece)
                restart(k, piece * all[k].size + robot * each, each);
        }
        publish_starts(robot, robot + 1);
        forget_measured(robot, robot + 1);
    }
    std::vector<Fault> kept;
    std::vector<uint8_t> chosen(faults_.empty() ? 0 : p_.robots);
    if (!faults_.empty())
        for (const int64_t robot : robots) chosen[robot] = 1;
    for (const Fault& fault : faults_)
        if (!chosen[fault.robot]) kept.push_back(fault);
    if (kept.size() != faults_.size()) set_faults(kept, p_.step);
    unsettle();
}

std::vector<Fault> Plan::faults() const {
    return faults_;
}

int64_t Plan::steps() const {
    return p_.step;
}

void Plan::set_faults(const std::vector<Fault>& faults, int64_t steps) {
    for (const Fault& fault : faults)
        if (fault.robot < 0 || fault.robot >= p_.robots || fault.slot < 0 || fault.slot >= p_.slots)
            refuse("faults", "of these robots");
    if (steps < 0 || steps > (int64_t{1} << 62)) refuse("steps = " + std::to_string(steps), ">= 0 and <= 2^62");
    faults_.clear();
    std::fill(latched_.begin(), latched_.end(), 0);
    for (const Fault& fault : faults) latch(fault);
    p_.step = steps;
}

// Keep only the first fault of each joint of each robot.
void Plan::latch(const Fault& fault) {
    const int64_t element = fault.robot * p_.slots + fault.slot;
    uint64_t& word = latched_[element / 64];
    const uint64_t bit = uint64_t{1} << element % 64;
    if (word & bit) return;
    word |= bit;
    faults_.push_back(fault);
}

// ---- properties

const char* Plan::layout() {
    if (changed_) prepare();
    const char* const names[] = {"direct", "gaps", "gather", "indexed"};
    return p_.pick_count ? "eights" : names[static_cast<int>(p_.layout)];
}

size_t Plan::memory() const {
    size_t bytes = (scratch_.size() + computed_.size()) * 4 + latched_.size() * 8;
    for (const auto& pattern : patterns_) bytes += pattern.size() * 4;
    return bytes;
}

}  // namespace actuators
