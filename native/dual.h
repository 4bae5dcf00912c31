// Numbers with their derivatives: what a law of the generated ones makes of duals is its result and the derivatives of it
// by each of K inputs. V is a vector of floats, a slot in each lane, or a float. A choice takes the derivative of what it
// chooses, so at a kink that of the branch which the law takes.
#pragma once
#include "generated_laws.h"

namespace ACTUATORS_VARIANT {

template <class V, int K>
struct Dual {
    V value;
    V by[K];
};

// What a derivative is made of, one of each input at a time.
template <class V, int K, class F>
inline Dual<V, K> derived(V value, F by) {
    Dual<V, K> found;
    found.value = value;
    for (int k = 0; k < K; ++k) found.by[k] = by(k);
    return found;
}

template <class V, int K>
inline Dual<V, K> operator+(const Dual<V, K>& a, const Dual<V, K>& b) {
    return derived<V, K>(a.value + b.value, [&](int k) { return a.by[k] + b.by[k]; });
}
template <class V, int K>
inline Dual<V, K> operator-(const Dual<V, K>& a, const Dual<V, K>& b) {
    return derived<V, K>(a.value - b.value, [&](int k) { return a.by[k] - b.by[k]; });
}
template <class V, int K>
inline Dual<V, K> operator-(const Dual<V, K>& a) {
    return derived<V, K>(-a.value, [&](int k) { return -a.by[k]; });
}
// for `splat`
template <class V, int K>
inline Dual<V, K> operator-(float x, const Dual<V, K>& a) {
    return derived<V, K>(splat<V>(x) - a.value, [&](int k) { return -a.by[k]; });
}
template <class V, int K>
inline Dual<V, K> operator*(const Dual<V, K>& a, const Dual<V, K>& b) {
    return derived<V, K>(a.value * b.value, [&](int k) { return a.by[k] * b.value + b.by[k] * a.value; });
}
template <class V, int K>
inline Dual<V, K> operator/(const Dual<V, K>& a, const Dual<V, K>& b) {
    const V quotient = a.value / b.value;
    return derived<V, K>(quotient, [&](int k) { return (a.by[k] - b.by[k] * quotient) / b.value; });
}

#define COMPARE(SIGN)                                                      \
    template <class V, int K>                                              \
    inline auto operator SIGN(const Dual<V, K>& a, const Dual<V, K>& b) { \
        return a.value SIGN b.value;                                       \
    }
COMPARE(<)
COMPARE(<=)
COMPARE(>)
COMPARE(>=)
COMPARE(==)
COMPARE(!=)
#undef COMPARE

template <class V, int K, class C>
inline Dual<V, K> pick(C first, const Dual<V, K>& one, const Dual<V, K>& other) {
    return derived<V, K>(pick(first, one.value, other.value), [&](int k) { return pick(first, one.by[k], other.by[k]); });
}
template <class V, int K, class C>
inline Dual<V, K> nan_unless(C good, const Dual<V, K>& a) {
    return derived<V, K>(nan_unless(good, a.value), [&](int k) { return a.by[k]; });
}
template <class V, int K>
inline Dual<V, K> magnitude(const Dual<V, K>& a) {
    return pick(a.value < splat<V>(0.0f), -a, a);
}

}  // namespace ACTUATORS_VARIANT
