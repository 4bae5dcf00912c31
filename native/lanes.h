// As many floats as a register of this instruction set holds, one of them where the compiler knows no vectors.
#pragma once
#include <cstring>

namespace ACTUATORS_VARIANT {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

#if defined(__GNUC__)
typedef float Lanes __attribute__((vector_size(kLanes * 4)));
#else
typedef float Lanes;
#endif
constexpr int kWidth = sizeof(Lanes) / sizeof(float);

inline Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

}  // namespace ACTUATORS_VARIANT
