// Numbers with their derivative by one input: a generated law on duals returns its result and the derivative. V is a
// float, or a vector with a slot per lane. A selection takes the derivative of the selected value, so at a kink the
// derivative is that of the branch taken.
//
// Most derivatives are zero for all inputs, as an input occurs in few terms. After inlining, the compiler removes these
// terms.
#pragma once
#include "generated_laws.h"

namespace ACTUATORS_VARIANT {

template <class V>
struct Derivative {
    V by{};
    bool zero = true;
};

template <class V>
inline Derivative<V> operator+(Derivative<V> a, Derivative<V> b) {
    return a.zero ? b : b.zero ? a : Derivative<V>{a.by + b.by, false};
}
template <class V>
inline Derivative<V> operator-(Derivative<V> a) {
    return a.zero ? a : Derivative<V>{-a.by, false};
}
template <class V>
inline Derivative<V> operator*(Derivative<V> a, V factor) {
    return a.zero ? a : Derivative<V>{a.by * factor, false};
}
template <class V, class C>
inline Derivative<V> pick(C first, Derivative<V> one, Derivative<V> other) {
    return one.zero && other.zero ? one : Derivative<V>{pick(first, one.by, other.by), false};
}

template <class V>
struct Dual {
    V value{};
    Derivative<V> d{};
};

template <class V>
inline Dual<V> operator+(Dual<V> a, Dual<V> b) {
    return {a.value + b.value, a.d + b.d};
}
template <class V>
inline Dual<V> operator-(Dual<V> a, Dual<V> b) {
    return {a.value - b.value, a.d + -b.d};
}
template <class V>
inline Dual<V> operator-(Dual<V> a) {
    return {-a.value, -a.d};
}
// random numbers have no derivative
template <class V>
inline Dual<V> uniform(Dual<V> seed, Dual<V> place, Dual<V> count) {
    return {uniform(seed.value, place.value, count.value)};
}
// for `splat`
template <class V>
inline Dual<V> operator-(float x, Dual<V> a) {
    return {splat<V>(x) - a.value, -a.d};
}
template <class V>
inline Dual<V> operator*(Dual<V> a, Dual<V> b) {
    return {a.value * b.value, a.d * b.value + b.d * a.value};
}
template <class V>
inline Dual<V> operator/(Dual<V> a, Dual<V> b) {
    const V quotient = a.value / b.value;
    return {quotient, (a.d + -(b.d * quotient)) * (splat<V>(1.0f) / b.value)};
}

template <class V>
inline auto operator<(Dual<V> a, Dual<V> b) {
    return a.value < b.value;
}
template <class V>
inline auto operator<=(Dual<V> a, Dual<V> b) {
    return a.value <= b.value;
}
template <class V>
inline auto operator>(Dual<V> a, Dual<V> b) {
    return a.value > b.value;
}
template <class V>
inline auto operator>=(Dual<V> a, Dual<V> b) {
    return a.value >= b.value;
}
template <class V>
inline auto operator==(Dual<V> a, Dual<V> b) {
    return a.value == b.value;
}
template <class V>
inline auto operator!=(Dual<V> a, Dual<V> b) {
    return a.value != b.value;
}

template <class V, class C>
inline Dual<V> pick(C first, Dual<V> one, Dual<V> other) {
    return {pick(first, one.value, other.value), pick(first, one.d, other.d)};
}
template <class V, class C>
inline Dual<V> nan_unless(C good, Dual<V> a) {
    return {nan_unless(good, a.value), a.d};
}
template <class V>
inline Dual<V> magnitude(Dual<V> a) {
    return pick(a.value < splat<V>(0.0f), -a, a);
}

}  // namespace ACTUATORS_VARIANT
