// What steps read and wrote, noted row by row: all of them, or the last ones.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "plan.h"

namespace actuators {

class Tape {
  public:
    // Arrays of floats by number; those of the inputs first, as far as they are noted.
    enum Array {
        kDelayedPosition = kFeedforward,  // feedforward is not noted
        kDelayedVelocity,
        kComputed,
        kApplied,
        kFloats,
        kLimitedBy = kFloats,
        kFaults,
        kDt
    };

    // Rows hold some robots and slots of a plan with so many; a capacity of zero keeps all.
    Tape(std::vector<int64_t> robots, std::vector<int32_t> slots, const std::vector<int>& arrays, int64_t capacity,
         int64_t all_robots, int64_t all_slots)
        : robots_(std::move(robots)), slots_(std::move(slots)), capacity_(capacity) {
        size_ = static_cast<int64_t>(robots_.size() * slots_.size());
        if (!size_ || capacity < 0) refuse("tape", "of at least one robot and slot, its capacity >= 0");
        if (all_robots < 1 || all_slots < 1 || all_robots > kLargest / all_slots)
            refuse("tape", "of a plan, of at most 2^31 robots x slots");
        row_of_.assign(all_robots, -1);
        place_of_.assign(all_slots, -1);
        for (size_t k = 0; k < robots_.size(); ++k) {
            if (robots_[k] < 0 || robots_[k] >= all_robots) refuse("robot of a tape", "one of the plan");
            row_of_[robots_[k]] = static_cast<int64_t>(k);
        }
        for (size_t k = 0; k < slots_.size(); ++k) {
            if (slots_[k] < 0 || slots_[k] >= all_slots) refuse("slot of a tape", "one of the plan");
            place_of_[slots_[k]] = static_cast<int64_t>(k);
        }
        std::fill(std::begin(at_), std::end(at_), -1);
        for (const int array : arrays) {
            if (array < 0 || array >= kDt) refuse("array of a tape", "one that is known");
            int64_t& width = array < kFloats ? width_ : bytes_width_;
            at_[array] = width;
            width += size_;
        }
        slots_in_row_ = in_row(slots_);
        room_ = capacity ? capacity : kRoom;
        if (room_ > kMostNumbers / (width_ + bytes_width_ + 1))
            refuse("capacity = " + std::to_string(capacity), "of fewer than 2^40 numbers");
        make_room();
    }

    // The plan that notes on it, one at a time, or none.
    const Plan* plan = nullptr;

    // The columns of the plan's slots are these from now on.
    void place(const std::vector<int32_t>& columns) {
        columns_.clear();
        for (const int32_t slot : slots_) columns_.push_back(columns[slot]);
        columns_in_row_ = in_row(columns_);
    }

    // Before a step: commands that the delay lets through. Where the ring is settled, every row of it holds a command.
    void before(const Problem& p, const int32_t* lag, const int32_t* own_lag, const int32_t* delayed_place,
                bool settled) {
        if (!capacity_ && count_ == room_) {
            room_ *= 2;
            make_room();
        }
        row_ = next_row();
        for (int c = 0; c < 2; ++c) {
            float* to = array(kDelayedPosition + c);
            if (!to) continue;
            const Source& now = p.input[kPositionTarget + c];
            const Ring& ring = p.ring;
            if (settled && ring.uniform > 0 && p.delayed_slots == p.slots) {
                // all of them stand in one row of the ring
                take(ring.rows[c] + row_in(ring, ring.uniform) * ring.pitch, p.slots, slots_, slots_in_row_, to);
                continue;
            }
            take(now.data, now.pitch, columns_, columns_in_row_, to);
            if (!p.delayed_slots) continue;
            for (const int64_t robot : robots_)
                for (const int32_t slot : slots_) {
                    float& value = *to++;
                    if (delayed_place[slot] < 0) continue;
                    const int64_t wanted = own_lag ? own_lag[robot * p.slots + slot] : lag[slot];
                    const int64_t steps = std::clamp<int64_t>(wanted, 0, ring.depth);
                    const int64_t k = robot * p.delayed_slots + delayed_place[slot];
                    if (steps && ring.pushes[k] > 0) value = ring.rows[c][row_in(ring, steps) * ring.pitch + k];
                }
        }
    }

    // After it: everything else.
    void after(const Problem& p, const std::vector<Fault>& faults) {
        for (int s = 0; s < kFeedforward; ++s)
            if (float* to = array(s)) take(p.input[s].data, p.input[s].pitch, columns_, columns_in_row_, to);
        if (float* to = array(kApplied)) take(p.efforts.data, p.efforts.pitch, columns_, columns_in_row_, to);
        if (float* to = array(kComputed)) take(p.computed, p.slots, slots_, slots_in_row_, to);
        if (uint8_t* to = bytes(kLimitedBy)) take(p.limited_by, p.slots, slots_, slots_in_row_, to);
        if (uint8_t* to = bytes(kFaults)) {
            std::memset(to, 0, size_);
            for (const Fault& fault : faults)
                if (row_of_[fault.robot] >= 0 && place_of_[fault.slot] >= 0)
                    to[row_of_[fault.robot] * static_cast<int64_t>(slots_.size()) + place_of_[fault.slot]] =
                        static_cast<uint8_t>(fault.code);
        }
        dts_[row_] = p.dt;
        ++count_;
        fetch(next_row());
    }

    // Copies of what was noted, the oldest row first.
    std::vector<float> floats(int which) const { return rows(floats_, width_, at_[which], size_); }
    std::vector<uint8_t> bytes_of(int which) const { return rows(bytes_, bytes_width_, at_[which], size_); }
    std::vector<double> dts() const { return rows(dts_, 1, 0, 1); }
    bool has(int which) const { return which == kDt || (which >= 0 && which < kDt && at_[which] >= 0); }
    int64_t robots() const { return static_cast<int64_t>(robots_.size()); }
    int64_t slots() const { return static_cast<int64_t>(slots_.size()); }
    // Steps that were noted, those that a ring has forgotten among them.
    int64_t count() const { return count_; }
    bool fits(int64_t robots, int64_t slots) const {
        return static_cast<int64_t>(row_of_.size()) == robots && static_cast<int64_t>(place_of_.size()) == slots;
    }

  private:
    static constexpr int64_t kRoom = 256, kLargest = int64_t{1} << 31, kMostNumbers = int64_t{1} << 40;

    static bool in_row(const std::vector<int32_t>& numbers) {
        for (size_t k = 1; k < numbers.size(); ++k)
            if (numbers[k] != numbers[0] + static_cast<int32_t>(k)) return false;
        return true;
    }

    // The row of a ring that was written so many steps ago, 1 … depth.
    static int64_t row_in(const Ring& ring, int64_t steps) {
        const int64_t row = ring.newest + 1 - steps;
        return row < 0 ? row + ring.depth : row;
    }

    void make_room() {
        floats_.resize(room_ * width_);
        bytes_.resize(room_ * bytes_width_);
        dts_.resize(room_);
    }

    int64_t next_row() const { return capacity_ ? count_ % capacity_ : count_; }

    // Bring the memory of a short row into the cache, where there is such a row, while others do something else.
    void fetch([[maybe_unused]] int64_t row) const {
#if defined(__GNUC__)
        constexpr int64_t kLine = 64, kShort = 2048;
        const auto ask = [](const void* from, int64_t bytes) {
            for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at, 1);
        };
        if (row == room_ || width_ > kShort) return;
        ask(floats_.data() + row * width_, width_ * sizeof(float));
        ask(bytes_.data() + row * bytes_width_, bytes_width_);
#endif
    }

    float* array(int which) { return at_[which] < 0 ? nullptr : floats_.data() + row_ * width_ + at_[which]; }
    uint8_t* bytes(int which) { return at_[which] < 0 ? nullptr : bytes_.data() + row_ * bytes_width_ + at_[which]; }

    // A call costs more than what a few numbers do.
    template <class T>
    static void copy(const T* from, size_t count, T* to) {
        constexpr size_t kFew = 64;
        if (count > kFew) {
            std::memcpy(to, from, count * sizeof(T));
        } else {
            for (size_t k = 0; k < count; ++k) to[k] = from[k];
        }
    }

    template <class T>
    void take(const T* from, int64_t pitch, const std::vector<int32_t>& places, bool in_row, T* to) const {
        const size_t count = places.size();
        for (const int64_t robot : robots_) {
            if (!from)
                std::fill_n(to, count, T{});
            else if (in_row)
                copy(from + robot * pitch + places[0], count, to);
            else
                for (size_t k = 0; k < count; ++k) to[k] = from[robot * pitch + places[k]];
            to += count;
        }
    }

    template <class T>
    std::vector<T> rows(const std::vector<T>& all, int64_t width, int64_t at, int64_t size) const {
        const int64_t kept = std::min(count_, room_), first = count_ > room_ ? count_ % room_ : 0;
        std::vector<T> found(kept * size);
        for (int64_t k = 0; k < kept; ++k)
            std::copy_n(all.data() + (first + k) % room_ * width + at, size, found.data() + k * size);
        return found;
    }

    std::vector<int64_t> robots_;
    std::vector<int32_t> slots_, columns_;
    bool slots_in_row_ = false, columns_in_row_ = false;
    int64_t capacity_, size_ = 0, room_ = 0, count_ = 0, row_ = 0;
    // numbers of a row, and where in it each array begins, -1 for one that is not noted
    int64_t width_ = 0, bytes_width_ = 0, at_[kDt];
    std::vector<float> floats_;
    std::vector<uint8_t> bytes_;
    std::vector<double> dts_;
    // row of each robot, and place of each slot, -1 for one that is not noted
    std::vector<int64_t> row_of_, place_of_;
};

}  // namespace actuators
