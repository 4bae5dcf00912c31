// Recording of steps, row by row: all steps, or the most recent ones.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "plan.h"

namespace actuators {

class Tape {
  public:
    // Indices of float arrays; inputs first.
    enum Array {
        kDelayedPosition = kFeedforward,  // feedforward is not recorded
        kDelayedVelocity,
        kComputed,
        kMotor,
        kApplied,
        kFloats,
        kLimitedBy = kFloats,
        kFaults,
        kDt
    };

    // Rows hold the given robots and slots of a plan; a capacity of zero keeps all steps.
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
        const int64_t numbers = width_ + bytes_width_ + 1;
        rows_ = capacity ? capacity : std::clamp<int64_t>(kNumbers / numbers, 1, kRoom);
        if (rows_ > kMostNumbers / numbers)
            refuse("capacity = " + std::to_string(capacity), "of fewer than 2^40 numbers");
        add_chunk();
        // a ring allocates its memory up front
        if (capacity) chunks_[0].clear(rows_ * width_, rows_ * bytes_width_);
    }

    // The plan that records on this tape, or null.
    const Plan* plan = nullptr;

    // Set the columns of the plan's slots.
    void place(const std::vector<int32_t>& columns) {
        columns_.clear();
        for (const int32_t slot : slots_) columns_.push_back(columns[slot]);
        columns_in_row_ = in_row(columns_);
    }

    // Record delayed commands before a step. In a settled ring, every row holds a command.
    void before(const Problem& p, const int32_t* lag, const int32_t* own_lag, const int32_t* delayed_place,
                bool settled) {
        if (chunk_ == chunks_.size()) add_chunk();
        for (int c = 0; c < 2; ++c) {
            float* to = array(kDelayedPosition + c);
            if (!to) continue;
            const Source& now = p.input[kPositionTarget + c];
            const Ring& ring = p.ring;
            if (settled && ring.uniform > 0 && p.delayed_slots == p.slots) {
                // all commands are in one row of the ring
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

    // Record everything else after a step.
    void after(const Problem& p, const std::vector<Fault>& faults) {
        for (int s = 0; s < kFeedforward; ++s)
            if (float* to = array(s)) take(p.input[s].data, p.input[s].pitch, columns_, columns_in_row_, to);
        if (float* to = array(kApplied)) take(p.efforts.data, p.efforts.pitch, columns_, columns_in_row_, to);
        if (float* to = array(kComputed)) take(p.computed, p.slots, slots_, slots_in_row_, to);
        if (float* to = array(kMotor)) take(p.motor, p.slots, slots_, slots_in_row_, to);
        if (uint8_t* to = bytes(kLimitedBy)) take(p.limited_by, p.slots, slots_, slots_in_row_, to);
        if (uint8_t* to = bytes(kFaults)) {
            std::memset(to, 0, size_);
            for (const Fault& fault : faults)
                if (row_of_[fault.robot] >= 0 && place_of_[fault.slot] >= 0)
                    to[row_of_[fault.robot] * static_cast<int64_t>(slots_.size()) + place_of_[fault.slot]] =
                        static_cast<uint8_t>(fault.code);
        }
        chunks_[chunk_].dts[row_] = p.dt;
        ++count_;
        if (++row_ == rows_) row_ = 0, chunk_ += !capacity_;
        fetch();
    }

    // Copies of the recorded rows, oldest first.
    std::vector<float> floats(int which) const { return rows(&Chunk::floats, width_, at_[which], size_); }
    std::vector<uint8_t> bytes_of(int which) const { return rows(&Chunk::bytes, bytes_width_, at_[which], size_); }
    std::vector<double> dts() const { return rows(&Chunk::dts, 1, 0, 1); }
    bool has(int which) const { return which == kDt || (which >= 0 && which < kDt && at_[which] >= 0); }
    int64_t robots() const { return static_cast<int64_t>(robots_.size()); }
    int64_t slots() const { return static_cast<int64_t>(slots_.size()); }
    // Number of recorded steps, including those overwritten in a ring.
    int64_t count() const { return count_; }
    bool fits(int64_t robots, int64_t slots) const {
        return static_cast<int64_t>(row_of_.size()) == robots && static_cast<int64_t>(place_of_.size()) == slots;
    }

  private:
    // Contiguous rows: growth in chunks keeps the cost per step constant.
    struct Chunk {
        // uninitialized until a step writes it
        Chunk(int64_t floats, int64_t bytes, int64_t rows)
            : floats(new float[floats]), bytes(new uint8_t[bytes]), dts(new double[rows]) {}
        void clear(int64_t count, int64_t bytes_count) {
            std::fill_n(floats.get(), count, 0.0f);
            std::fill_n(bytes.get(), bytes_count, uint8_t{0});
        }
        std::unique_ptr<float[]> floats;
        std::unique_ptr<uint8_t[]> bytes;
        std::unique_ptr<double[]> dts;
    };

    // largest number of rows of a chunk, and its target size in numbers
    static constexpr int64_t kRoom = 256, kNumbers = int64_t{1} << 18;
    static constexpr int64_t kLargest = int64_t{1} << 31, kMostNumbers = int64_t{1} << 40;

    static bool in_row(const std::vector<int32_t>& numbers) {
        for (size_t k = 1; k < numbers.size(); ++k)
            if (numbers[k] != numbers[0] + static_cast<int32_t>(k)) return false;
        return true;
    }

    // Row of a ring written `steps` steps ago, for 1 <= steps <= depth.
    static int64_t row_in(const Ring& ring, int64_t steps) {
        const int64_t row = ring.newest + 1 - steps;
        return row < 0 ? row + ring.depth : row;
    }

    void add_chunk() { chunks_.emplace_back(rows_ * width_, rows_ * bytes_width_, rows_); }

    // Prefetch the next row, if it is short.
    void fetch() const {
#if defined(__GNUC__)
        constexpr int64_t kLine = 64, kShort = 2048;
        const auto ask = [](const void* from, int64_t bytes) {
            for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at, 1);
        };
        if (chunk_ == chunks_.size() || width_ > kShort) return;
        ask(chunks_[chunk_].floats.get() + row_ * width_, width_ * sizeof(float));
        ask(chunks_[chunk_].bytes.get() + row_ * bytes_width_, bytes_width_);
#endif
    }

    float* array(int which) {
        return at_[which] < 0 ? nullptr : chunks_[chunk_].floats.get() + row_ * width_ + at_[which];
    }
    uint8_t* bytes(int which) {
        return at_[which] < 0 ? nullptr : chunks_[chunk_].bytes.get() + row_ * bytes_width_ + at_[which];
    }

    // Avoids the call of memcpy for few numbers.
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
    std::vector<T> rows(std::unique_ptr<T[]> Chunk::* of, int64_t width, int64_t at, int64_t size) const {
        const int64_t kept = capacity_ ? std::min(count_, capacity_) : count_;
        std::vector<T> found(kept * size);
        for (int64_t k = 0; k < kept; ++k) {
            const int64_t row = count_ - kept + k;
            const Chunk& chunk = chunks_[capacity_ ? 0 : row / rows_];
            std::copy_n((chunk.*of).get() + row % rows_ * width + at, size, found.data() + k * size);
        }
        return found;
    }

    std::vector<int64_t> robots_;
    std::vector<int32_t> slots_, columns_;
    bool slots_in_row_ = false, columns_in_row_ = false;
    // rows of a chunk, number of recorded steps, and position of the next row
    int64_t capacity_, size_ = 0, rows_ = 0, count_ = 0, row_ = 0;
    // numbers per row, and the start of each array in it, -1 if not recorded
    int64_t width_ = 0, bytes_width_ = 0, at_[kDt];
    std::vector<Chunk> chunks_;
    size_t chunk_ = 0;
    // row of each robot and position of each slot, -1 if not recorded
    std::vector<int64_t> row_of_, place_of_;
};

}  // namespace actuators
