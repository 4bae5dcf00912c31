// Vectorized functions of networks: branch-free polynomials without a math library, so that results are bit-identical
// across instruction sets and lanes. Errors are a few ULP. NaN propagates.
#pragma once
#include <cmath>

#include "arithmetic.h"
#include "lanes.h"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_FMA) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ACTUATORS_VARIANT {

#if defined(__GNUC__)
typedef float Floats __attribute__((vector_size(4 * kLanes), may_alias));
typedef int32_t Ints __attribute__((vector_size(4 * kLanes), may_alias));
#else
using Floats = float;
using Ints = int32_t;
#endif

inline Floats all(float x) {
    return splat<Floats>(x);
}
inline Ints all_ints(int32_t x) {
    return x - Ints{};
}
inline Ints bits(Floats x) {
    Ints b;
    std::memcpy(&b, &x, sizeof b);
    return b;
}
inline Floats number(Ints b) {
    Floats x;
    std::memcpy(&x, &b, sizeof x);
    return x;
}

inline Floats at_least(Floats x, Floats lower) {
    return x < lower ? lower : x;
}
inline Floats at_most(Floats x, Floats upper) {
    return x > upper ? upper : x;
}
inline Floats between(Floats x, float lower, float upper) {
    return at_most(at_least(x, all(lower)), all(upper));
}
inline Floats absolute(Floats x) {
    return number(bits(x) & all_ints(0x7fffffff));
}

// Fused multiply-add a b + c, rounded once on all processors; fast only with hardware support.
inline Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(__FMA__) && defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__) && defined(__AVX2__)
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__ARM_FEATURE_FMA) && defined(__aarch64__) && defined(__GNUC__)
    return vfmaq_f32(c, a, b);
#elif defined(__GNUC__)
    for (int lane = 0; lane < kLanes; ++lane) c[lane] = std::fma(a[lane], b[lane], c[lane]);
    return c;
#else
    return std::fma(a, b, c);
#endif
}

template <int N>
inline Floats polynomial(Floats x, const float (&c)[N]) {
    Floats sum = all(c[0]);
    for (int k = 1; k < N; ++k) sum = multiply_add(sum, x, all(c[k]));
    return sum;
}

// 2^n for n in -126 to 127
inline Floats power_of_two(Ints n) {
    return number((n + all_ints(127)) << 23);
}

// x = n ln 2 + r: n, and e^r - 1. Coefficients of Cephes.
struct Reduced {
    Ints n;
    Floats rest;
};
inline Reduced reduced(Floats x) {
    const Floats shifted = multiply_add(x, all(1.44269504088896341f), all(kToInteger));
    const Floats n = shifted - all(kToInteger);
    const Floats r = multiply_add(n, all(2.12194440e-4f), multiply_add(n, all(-0.693359375f), x));
    const Floats p = polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                    1.6666665459e-1f, 5.0000001201e-1f});
    return {bits(shifted) - bits(all(kToInteger)), multiply_add(r * r, p, r)};
}

// e^x for x in -87 to 88
inline Floats exp_within(Floats x) {
    const Reduced r = reduced(x);
    return (all(1.0f) + r.rest) * power_of_two(r.n);
}
// e^x - 1 for x in -87 to 88
inline Floats expm1_within(Floats x) {
    const Reduced r = reduced(x);
    const Floats scale = power_of_two(r.n);
    return multiply_add(scale, r.rest, scale - all(1.0f));
}

inline Floats exp_of(Floats x) {
    const Reduced r = reduced(between(x, -105.0f, 90.0f));
    const Ints half = r.n >> 1;
    // two multiplications: the scale may exceed the normal range
    return (all(1.0f) + r.rest) * power_of_two(half) * power_of_two(r.n - half);
}

// denominator of 1 / (1 + e^-x)
inline Floats sigmoid_below(Floats x, float most) {
    return all(1.0f) + exp_within(between(-x, -most, most));
}
inline Floats sigmoid_of(Floats x) {
    return all(1.0f) / sigmoid_below(x, 87.0f);
}

// tanh x = e / (e + 2) with e = e^2x - 1
inline Floats tanh_above(Floats x) {
    return expm1_within(between(x + x, -20.0f, 20.0f));
}
inline Floats tanh_of(Floats x) {
    const Floats e = tanh_above(x);
    return e / (e + all(2.0f));
}

// log x for x >= 2^-126. Coefficients of Cephes.
inline Floats log_within(Floats x) {
    const Ints b = bits(x);
    // exponent as a float, without a conversion instruction
    Floats e = number((b >> 23) - all_ints(126) + bits(all(kToInteger))) - all(kToInteger);
    Floats m = number((b & all_ints(0x007fffff)) | all_ints(0x3f000000));
    const auto small = m < all(0.707106781186547524f);
    e = small ? e - all(1.0f) : e;
    m = small ? m + m - all(1.0f) : m - all(1.0f);
    const Floats square = m * m;
    const Floats p =
        polynomial(m, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                       -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
    const Floats y = m * square * p + e * all(-2.12194440e-4f) - square * all(0.5f);
    return m + y + e * all(0.693359375f);
}
inline Floats log_of(Floats x) {
    const auto tiny = x < all(1.17549435e-38f);
    const Floats big = tiny ? x * all(8388608.0f) : x;
    Floats result = log_within(big);
    result = tiny ? result - all(15.942385152878742f) : result;
    result = x == all(kInfinity) ? x : result;
    result = x == all(0.0f) ? all(-kInfinity) : result;
    result = x < all(0.0f) ? all(kNaN) : result;
    return x != x ? x : result;
}

// log(1 + e^x) without cancellation; the caller scales x by beta
inline Floats softplus_of(Floats x) {
    const Floats u = exp_within(at_least(-absolute(x), all(-87.0f)));
    const Floats w = all(1.0f) + u;
    // rounding error of the sum
    const Floats lost = u - (w - all(1.0f));
    return at_least(x, all(0.0f)) + (log_within(w) + lost / w);
}

inline Floats elu_of(Floats x, Floats alpha) {
    const Floats below = alpha * expm1_within(between(x, -87.0f, 0.0f));
    return x > all(0.0f) ? x : below;
}

// erf as a rational approximation. Coefficients of Eigen.
inline Floats erf_of(Floats given) {
    const Floats x = between(given, -4.0f, 4.0f), square = x * x;
    const Floats p = polynomial(
        square, {-2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                 -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f});
    const Floats q = polynomial(square, {-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                                         -7.37332916720468e-03f, -1.42647390514189e-02f});
    return between(x * p / q, -1.0f, 1.0f);
}

// x^y per lane in double precision; non-finite and negative arguments as in math libraries
inline float pow_of(float x, float y) {
    if (y == 0.0f || x == 1.0f) return 1.0f;
    if (x != x || y != y) return kNaN;
    const float whole = std::trunc(y), size = std::fabs(x);
    const bool integer = whole == y;
    const bool odd = integer && std::fabs(y) < 16777216.0f && static_cast<int32_t>(y) % 2 != 0;
    if (x < 0.0f && !integer && size <= kMax) return kNaN;
    float result;
    if (size == 0.0f || size > kMax || std::fabs(y) > kMax) {
        const bool grows = (size > 1.0f) == (y > 0.0f);
        result = size == 1.0f ? 1.0f : grows ? kInfinity : 0.0f;
    } else {
        // log2 by the atanh series
        uint64_t b;
        double m = size;
        std::memcpy(&b, &m, sizeof b);
        int64_t e = static_cast<int64_t>(b >> 52) - 1023;
        b = (b & 0x000fffffffffffff) | 0x3ff0000000000000;
        std::memcpy(&m, &b, sizeof m);
        if (m > 1.4142135623730951) m *= 0.5, ++e;
        const double t = (m - 1) / (m + 1), s = t * t;
        double sum = 0;
        for (int k = 15; k >= 1; k -= 2) sum = sum * s + 1.0 / k;
        double z = y * (static_cast<double>(e) + 2.8853900817779268 * t * sum);
        z = z < -200 ? -200 : z > 200 ? 200 : z;
        // 2^z
        const double n = std::trunc(z + (z < 0 ? -0.5 : 0.5)), r = (z - n) * 0.69314718055994531;
        double power = 1;
        for (int k = 11; k >= 1; --k) power = power * r / k + 1;
        b = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
        double scale;
        std::memcpy(&scale, &b, sizeof scale);
        result = static_cast<float>(power * scale);
    }
    return x < 0.0f && odd ? -result : result;
}

// Functions without a vectorized form, lane by lane.
template <class Function>
inline Floats number_by_number(Floats x, Floats y, const Function& function) {
    float first[kLanes], second[kLanes];
    std::memcpy(first, &x, sizeof x);
    std::memcpy(second, &y, sizeof y);
    for (int lane = 0; lane < kLanes; ++lane) first[lane] = function(first[lane], second[lane]);
    std::memcpy(&x, first, sizeof x);
    return x;
}

}  // namespace ACTUATORS_VARIANT
