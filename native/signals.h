// Signals in and efforts out, by columns of row-major arrays or by index arrays.
#pragma once
#include <algorithm>

#include "sweep.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ACTUATORS_VARIANT {

#if defined(__AVX2__)
// Copy the rows that can be read past their last column; returns their number. Also writes past the last element.
inline int64_t copy_eights(const Problem& p, const Block& b, int64_t pitch, const float* from, float* to) {
    const auto load = [](const int32_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); };
    // memory may end after the last row
    const int64_t rows = std::min(b.robots, p.robots - 1 - b.first_robot), slots = p.slots;
    // in reverse order: the last group writes into the next row, which is overwritten later
    for (int64_t k = p.pick_count - 1; k >= 0; --k) {
        const Pick& pick = p.picks[k];
        const __m256i lanes_0 = load(pick.lane[0]), lanes_1 = load(pick.lane[1]);
        const __m256 second = _mm256_castsi256_ps(load(pick.second));
        for (int64_t row = 0; row < rows; ++row) {
            const float* const here = from + row * pitch;
            const __m256 window_0 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(here + pick.begin[0]), lanes_0);
            const __m256 window_1 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(here + pick.begin[1]), lanes_1);
            _mm256_storeu_ps(to + row * slots + 8 * k, _mm256_blendv_ps(window_0, window_1, second));
        }
    }
    return rows;
}
#else
inline int64_t copy_eights(const Problem&, const Block&, int64_t, const float*, float*) {
    return 0;
}
#endif

NOINLINE inline void copy_columns(const Problem& p, const Block& b, const Source& source, float* RESTRICT to) {
    const float* RESTRICT from = source.data + b.first_robot * source.pitch;
    int64_t robot = p.pick_count && source.pitch >= 8 ? copy_eights(p, b, source.pitch, from, to) : 0;
    from += robot * source.pitch, to += robot * p.slots;
    for (; robot < b.robots; ++robot, from += source.pitch, to += p.slots)
        for (int64_t slot = 0; slot < p.slots; ++slot) to[slot] = from[p.columns[slot]];
}

NOINLINE inline void gather(const Block& b, const Source& source, float* RESTRICT to) {
    const uint32_t* RESTRICT index = source.index + b.first_robot * source.index_stride;
    const float* RESTRICT from = source.data;
    const int64_t stride = source.stride, step = source.index_stride;
    if (stride == 1 && step == 1) {
        for (int64_t k = 0; k < b.size; ++k) to[k] = from[index[k]];
    } else {
        for (int64_t k = 0; k < b.size; ++k) to[k] = from[index[k * step] * stride];
    }
}

// Access signals and efforts in place.
inline void point_at_arrays(const Problem& p, Block& b) {
    const int32_t column = p.columns[0];
    for (int s = 0; s < kSignals; ++s) b.input[s] = p.input[s].data + b.first_robot * p.input[s].pitch + column;
    b.efforts = p.efforts.data + b.first_robot * p.efforts.pitch + column;
}

// A signal accessed by index: in place if consecutive, else gathered.
inline const float* indexed(const Block& b, const Source& source, float* gathered) {
    if (source.data && source.consecutive >= 0) return source.data + source.consecutive + b.first_robot;
    if (source.data)
        gather(b, source, gathered);
    else
        std::fill_n(gathered, b.size, 0.0f);
    return gathered;
}

// Load the signals of a block: `gathered` is scratch memory for signals in another layout, `aside` for efforts that are
// written back at the end.
inline void signals_in(const Problem& p, Block& b, float* gathered, float* aside) {
    if (p.layout == Layout::kDirect || p.layout == Layout::kGaps) return point_at_arrays(p, b);
    b.efforts = aside;
    for (int s = 0; s < kSignals; ++s, gathered += b.pitch) {
        if (p.layout == Layout::kIndexed) {
            b.input[s] = indexed(b, p.input[s], gathered);
        } else {
            copy_columns(p, b, p.input[s], gathered);
            b.input[s] = gathered;
        }
    }
}

// Add efforts by index.
inline void add_out(const Block& b, const Sink& sink, const float* RESTRICT from) {
    if (!sink.data) return;
    if (sink.consecutive >= 0) {
        float* RESTRICT to = sink.data + sink.consecutive + b.first_robot;
        INDEPENDENT
        for (int64_t k = 0; k < b.size; ++k) to[k] += from[k];
        return;
    }
    // scalar, since indices may contain duplicates
    const uint32_t* index = sink.index + b.first_robot * sink.index_stride;
    float* to = sink.data;
    for (int64_t k = 0; k < b.size; ++k) to[index[k * sink.index_stride] * sink.stride] += from[k];
}

inline void efforts_out(const Problem& p, const Block& b) {
    if (p.layout == Layout::kIndexed) {
        add_out(b, p.efforts, b.efforts);
        if (p.computed_too.data) add_out(b, p.computed_too, p.computed + b.first);
        return;
    }
    if (p.layout != Layout::kGather) return;
    const float* RESTRICT from = b.efforts;
    float* RESTRICT to = p.efforts.data + b.first_robot * p.efforts.pitch;
    for (int64_t robot = 0; robot < b.robots; ++robot, from += p.slots, to += p.efforts.pitch)
        for (int64_t slot = 0; slot < p.slots; ++slot) to[p.columns[slot]] = from[slot];
}

}  // namespace ACTUATORS_VARIANT
