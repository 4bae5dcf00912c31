// A law in two loops: the first computes the function that takes longest, the second all the rest. A function of many
// operations in a row, such as the Stribeck curve, keeps a processor waiting; in a loop of its own, many elements are
// under way at once.
//
// Both loops are the law as it stands, on numbers that know where the value of that function is kept. The first loop
// has no other result, so compilers remove the rest of the law from it.
#pragma once
#include "generated_laws.h"

namespace ACTUATORS_VARIANT {

// A number of the first loop, which writes the value, or of the second, which reads it. Numbers that do not depend on
// the element do not know where it is kept.
template <bool FIRST>
struct LoopNumber {
    float value;
    float* kept = nullptr;
    bool knows = false;
};

template <bool FIRST>
inline LoopNumber<FIRST> with(float value, LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.knows ? LoopNumber<FIRST>{value, a.kept, true} : LoopNumber<FIRST>{value, b.kept, b.knows};
}

template <bool FIRST>
inline LoopNumber<FIRST> operator+(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return with(a.value + b.value, a, b);
}
template <bool FIRST>
inline LoopNumber<FIRST> operator-(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return with(a.value - b.value, a, b);
}
template <bool FIRST>
inline LoopNumber<FIRST> operator-(LoopNumber<FIRST> a) {
    return with(-a.value, a, a);
}
// for `splat`
template <bool FIRST>
inline LoopNumber<FIRST> operator-(float x, LoopNumber<FIRST> a) {
    return with(splat<float>(x) - a.value, a, a);
}
template <bool FIRST>
inline LoopNumber<FIRST> operator*(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return with(a.value * b.value, a, b);
}
template <bool FIRST>
inline LoopNumber<FIRST> operator/(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return with(a.value / b.value, a, b);
}

template <bool FIRST>
inline bool operator<(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value < b.value;
}
template <bool FIRST>
inline bool operator<=(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value <= b.value;
}
template <bool FIRST>
inline bool operator>(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value > b.value;
}
template <bool FIRST>
inline bool operator>=(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value >= b.value;
}
template <bool FIRST>
inline bool operator==(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value == b.value;
}
template <bool FIRST>
inline bool operator!=(LoopNumber<FIRST> a, LoopNumber<FIRST> b) {
    return a.value != b.value;
}

template <bool FIRST, class C>
inline LoopNumber<FIRST> pick(C first, LoopNumber<FIRST> one, LoopNumber<FIRST> other) {
    return with(pick(first, one.value, other.value), one, other);
}
template <bool FIRST, class C>
inline LoopNumber<FIRST> nan_unless(C good, LoopNumber<FIRST> a) {
    return with(nan_unless(good, a.value), a, a);
}
template <bool FIRST>
inline LoopNumber<FIRST> magnitude(LoopNumber<FIRST> a) {
    return with(magnitude(a.value), a, a);
}
template <bool FIRST>
inline bool finite(LoopNumber<FIRST> a) {
    return finite(a.value);
}
template <bool FIRST>
inline LoopNumber<FIRST> power_of_two(LoopNumber<FIRST> a) {
    return with(power_of_two(a.value), a, a);
}

// The function that the first loop computes.
template <bool FIRST>
inline LoopNumber<FIRST> law_stribeck(LoopNumber<FIRST> x, LoopNumber<FIRST> y) {
    if (FIRST) *x.kept = law_stribeck(x.value, y.value);
    return with(*x.kept, x, y);
}

}  // namespace ACTUATORS_VARIANT
