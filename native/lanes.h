// A vector register of floats of this instruction set; a single float if the compiler has no vector extension.
#pragma once
#include <cstring>

namespace ACTUATORS_VARIANT {

#if defined(__GNUC__)
#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(4 * kLanes)));
#else
constexpr int kLanes = 1;
using Lanes = float;
#endif

inline Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

}  // namespace ACTUATORS_VARIANT
