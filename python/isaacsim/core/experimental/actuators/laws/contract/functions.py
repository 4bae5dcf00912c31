"""Functions for laws: exp, log, sqrt, tanh, sin, cos, pow, decay and stribeck of float32, equal bits on every engine.

They consist of + − × ÷, comparisons, selections, and `wp.sqrt`, which IEEE 754 rounds correctly. They call no library,
so the results on CPU, on CUDA and in C++ are bit-identical. NaN stays NaN, overflow gives infinity, and underflow gives
a denormal or zero. Errors are the largest measured ones, in units in the last place (ulp) of the result.

    exp   e^x = 2^n e^r      n = round(x / ln 2), r = x − n ln 2, polynomial in r
    log   log x = e ln 2 + log m     x = m 2^e, √½ <= m < √2, polynomial in m − 1
    tanh  polynomial below 0.625, 1 − 2 / (e^2x + 1) beyond
    sin   r = x − n π/2, π/2 in four parts, polynomials in r
    pow   e^(y log x), log x as a sum of two floats
    decay     e^−x from zero on
    stribeck  e^−(|x|^y), a curve of friction over speed; an exponent of 2 needs no logarithm

Networks have other functions, in `native/functions.h`, with fused multiply-add.

Gradients in the core use the derivatives in `SLOPES`. Warp's tape uses the adjoints below, which call the same
functions. Coefficients: Cephes 2.8 (S. L. Moshier), single precision.
"""

# Warp calls the registered adjoints, and type checkers do not know the results of wp.func
# pyright: reportUnusedFunction=false, reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from typing import Any

import warp as wp


@wp.func
def angle_or(angle: float, far: float) -> float:
    """Return an angle [rad], or `far` from 2²⁴ rad on, where floats are 2 rad apart; infinity and NaN stay."""
    return far if wp.abs(angle) >= 16777216.0 and wp.isfinite(angle) else angle


@wp.func
def nearest(x: float) -> float:
    """Return the nearest integer, the even one of two; for |x| <= 2²² only."""
    return (x + 12582912.0) - 12582912.0


@wp.func
def doubled(power: float, left: float, count: float, factor: float):
    """Return `power` times `factor` and `left` minus `count` if `left` is at least `count`; both unchanged if not."""
    enough = left >= count
    return power * factor if enough else power, left - count if enough else left


@wp.func
def power_of_two(n: float) -> float:
    """Return 2^n of an integer from −126 to 127."""
    power = 4.0 if n >= 2.0 else 1.1754943508222875e-38
    left = n - 2.0 if n >= 2.0 else n + 126.0
    power, left = doubled(power, left, 64.0, 18446744073709551616.0)
    power, left = doubled(power, left, 32.0, 4294967296.0)
    power, left = doubled(power, left, 16.0, 65536.0)
    power, left = doubled(power, left, 8.0, 256.0)
    power, left = doubled(power, left, 4.0, 16.0)
    power, left = doubled(power, left, 2.0, 4.0)
    power, left = doubled(power, left, 1.0, 2.0)
    return power


@wp.func
def exp_of_sum(x: float, rest: float) -> float:
    """Return e^(x + rest) for a small rest."""
    # beyond these bounds results are infinite or zero
    raised = -105.0 if x < -105.0 else x
    inside = 90.0 if raised > 90.0 else raised
    n = nearest(inside * 1.44269504088896341)
    r = (inside - n * 0.693359375) - n * -2.12194440e-4 + rest
    p = 1.9875691500e-4
    p = p * r + 1.3981999507e-3
    p = p * r + 8.3334519073e-3
    p = p * r + 4.1665795894e-2
    p = p * r + 1.6666665459e-1
    p = p * r + 5.0000001201e-1
    value = 1.0 + (r + r * r * p)
    # scale in two steps, because the scale may be no normal number
    low = n < -62.0
    high = n > 62.0
    first = n + 64.0 if low else (n - 64.0 if high else n)
    last = 5.421010862427522e-20 if low else (18446744073709551616.0 if high else 1.0)
    return value * power_of_two(first) * last


@wp.func
def exp(x: float) -> float:
    """Return e^x, within 2 ulp; infinite above 88.72, zero below −103.97."""
    return exp_of_sum(x, 0.0)


@wp.func
def normalized(y: float, e: float, least: float, factor: float, count: float):
    """Return `y` times `factor` and `e` plus `count` if `y` is at least `least`; both unchanged otherwise."""
    large = y >= least
    return y * factor if large else y, e + count if large else e


@wp.func
def mantissa_and_exponent(x: float):
    """Return m and e with x = m 2^e and √½ <= m < √2, of a positive finite number."""
    # denormals first
    tiny = x < 1.1754943508222875e-38
    normal = x * 4294967296.0 if tiny else x
    e = -32.0 if tiny else 0.0
    # scale numbers below 2 by 2^126
    low = normal < 2.0
    y = normal * 8.507059173023462e37 if low else normal * 0.5
    e = e - 126.0 if low else e + 1.0
    y, e = normalized(y, e, 18446744073709551616.0, 5.421010862427522e-20, 64.0)
    y, e = normalized(y, e, 4294967296.0, 2.3283064365386963e-10, 32.0)
    y, e = normalized(y, e, 65536.0, 1.52587890625e-05, 16.0)
    y, e = normalized(y, e, 256.0, 0.00390625, 8.0)
    y, e = normalized(y, e, 16.0, 0.0625, 4.0)
    y, e = normalized(y, e, 4.0, 0.25, 2.0)
    y, e = normalized(y, e, 2.0, 0.5, 1.0)
    y, e = normalized(y, e, 1.4142135623730951, 0.5, 1.0)
    return y, e


@wp.func
def log(x: float) -> float:
    """Return the natural logarithm, within 2 ulp; NaN below zero, −inf of zero."""
    m, e = mantissa_and_exponent(x)
    f = m - 1.0
    square = f * f
    p = 7.0376836292e-2
    p = p * f - 1.1514610310e-1
    p = p * f + 1.1676998740e-1
    p = p * f - 1.2420140846e-1
    p = p * f + 1.4249322787e-1
    p = p * f - 1.6668057665e-1
    p = p * f + 2.0000714765e-1
    p = p * f - 2.4999993993e-1
    p = p * f + 3.3333331174e-1
    y = f * square * p + e * -2.12194440e-4 - square * 0.5
    inside = f + y + e * 0.693359375
    below = inside if x < wp.inf else x
    positive = below if x > 0.0 else -wp.inf
    return positive if x >= 0.0 else wp.nan


@wp.func
def sqrt(x: float) -> float:
    """Return the square root, correctly rounded; NaN below zero."""
    return wp.sqrt(x)


@wp.func
def tanh(x: float) -> float:
    """Return the hyperbolic tangent, within 3 ulp."""
    size = wp.abs(x)
    square = x * x
    p = -5.70498872745e-3
    p = p * square + 2.06390887954e-2
    p = p * square - 5.37397155531e-2
    p = p * square + 1.33314422036e-1
    p = p * square - 3.33332819422e-1
    inner = x + x * square * p
    outer = 1.0 - 2.0 / (exp(size + size) + 1.0)
    with_sign = -outer if x < 0.0 else outer
    # keep the sign of zero
    tiny = x if size < 1.0e-4 else inner
    return tiny if size < 0.625 else with_sign


@wp.func
def quadrant_and_rest(x: float):
    """Return n and r with x = n π/2 + r and |r| <= π/4, n modulo 4096."""
    # subtract multiples in two steps, so that the products are exact
    many = nearest(x * 1.5542474911317904e-4) * 4096.0
    a = (
        ((x - many * 1.5703125) - many * 4.837512969970703e-4) - many * 7.549533620476723e-8
    ) - many * 2.5633440682570896e-12
    n = nearest(a * 0.6366197723675814)
    b = (x - many * 1.5703125) - n * 1.5703125
    b = (b - many * 4.837512969970703e-4) - n * 4.837512969970703e-4
    b = (b - many * 7.549533620476723e-8) - n * 7.549533620476723e-8
    return n, b - (many + n) * 2.5633440682570896e-12


@wp.func
def sin_of_rest(r: float) -> float:
    """Return sin r for |r| <= π/4."""
    square = r * r
    p = (-1.9515295891e-4 * square + 8.3321608736e-3) * square - 1.6666654611e-1
    return r + r * square * p


@wp.func
def cos_of_rest(r: float) -> float:
    """Return cos r for |r| <= π/4."""
    square = r * r
    p = (2.443315711809948e-5 * square - 1.388731625493765e-3) * square + 4.166664568298827e-2
    return (1.0 - 0.5 * square) + square * square * p


@wp.func
def sin_in_quadrant(n: float, r: float) -> float:
    """Return sin(n π/2 + r)."""
    quarter = n - 4.0 * nearest(n * 0.25)
    odd = wp.abs(quarter) == 1.0
    value = cos_of_rest(r) if odd else sin_of_rest(r)
    turned = (quarter == -1.0) or (wp.abs(quarter) == 2.0)
    return -value if turned else value


@wp.func
def sin(x: float) -> float:
    """Return the sine of an angle [rad], within 1.2e-7; NaN from 2²⁴ rad on, where floats are 2 rad apart."""
    n, r = quadrant_and_rest(x)
    inside = sin_in_quadrant(n, r)
    # keep the sign of zero
    tiny = x if wp.abs(x) < 1.0e-4 else inside
    return tiny if wp.abs(x) < 16777216.0 else wp.nan


@wp.func
def cos(x: float) -> float:
    """Return the cosine of an angle [rad], within 1.2e-7; NaN from 2²⁴ rad on, where floats are 2 rad apart."""
    n, r = quadrant_and_rest(x)
    inside = sin_in_quadrant(n + 1.0, r)
    return inside if wp.abs(x) < 16777216.0 else wp.nan


@wp.func
def mixed(bits: wp.uint32) -> wp.uint32:
    """Return 32 bits of which each depends on all that are given."""
    state = bits * wp.uint32(747796405) - wp.uint32(1403630843)
    word = ((state >> ((state >> wp.uint32(28)) + wp.uint32(4))) ^ state) * wp.uint32(277803737)
    return (word >> wp.uint32(22)) ^ word


@wp.func
def uniform(seed: float, place: float, count: float) -> float:
    """Return a random number in [0, 1) that three integers from 0 to 2²⁴ determine, a multiple of 2⁻²⁴.

    Source: the output function PCG-RXS-M-XS (O'Neill, PCG, 2014), applied to each of the three.
    """
    bits = mixed(wp.uint32(wp.int32(seed)))
    bits = mixed(bits + wp.uint32(wp.int32(place)))
    bits = mixed(bits + wp.uint32(wp.int32(count)))
    return float(wp.int32(bits >> wp.uint32(8))) * 5.9604644775390625e-08


@wp.func
def gaussian(seed: float, place: float, count: float) -> float:
    """Return a normally distributed random number that three integers determine; `count` is even.

    Source: Box and Muller, A note on the generation of random normal deviates (1958).
    """
    distance = sqrt(-2.0 * log(1.0 - uniform(seed, place, count)))
    return distance * cos(6.283185307179586 * uniform(seed, place, count + 1.0))


@wp.func
def halves(x: float):
    """Return two numbers with half the digits each whose sum is `x`, for |x| < 2¹¹⁵."""
    scaled = x * 4097.0
    high = scaled - (scaled - x)
    return high, x - high


@wp.func
def product_and_rest(x: float, y: float):
    """Return x y and its rounding error."""
    high_x, low_x = halves(x)
    high_y, low_y = halves(y)
    value = x * y
    return value, ((high_x * high_y - value) + high_x * low_y + low_x * high_y) + low_x * low_y


@wp.func
def sum_and_rest(x: float, y: float):
    """Return x + y and its rounding error."""
    value = x + y
    second = value - x
    return value, (x - (value - second)) + (y - second)


@wp.func
def log_in_two(x: float):
    """Return the logarithm of a positive finite number as a sum of two numbers."""
    m, e = mantissa_and_exponent(x)
    # log m = 2 artanh s
    above = m - 1.0
    below, lost_below = sum_and_rest(m, 1.0)
    s = above / below
    back, lost = product_and_rest(s, below)
    rest = ((above - back) - lost - s * lost_below) / below
    square = s * s
    p = 0.15384615384615385
    p = p * square + 0.18181818181818182
    p = p * square + 0.2222222222222222
    p = p * square + 0.2857142857142857
    p = p * square + 0.4
    p = p * square + 0.6666666666666666
    high, lost_high = sum_and_rest(e * 0.693359375, s + s)
    # the rounding error of the factor 2/3 is negligible, because the cube is small compared with s
    low = lost_high + (rest + rest) + s * square * p + e * -2.12194440e-4
    return sum_and_rest(high, low)


@wp.func
def whole(x: float) -> float:
    """Return the nearest integer, the even one of two, of any size."""
    size = wp.abs(x)
    inner = (size + 8388608.0) - 8388608.0
    with_sign = -inner if x < 0.0 else inner
    return with_sign if size < 8388608.0 else x


@wp.func
def pow(x: float, y: float) -> float:
    """Return x^y, within 2 ulp, as in C: 1 for y = 0 and for x = 1, NaN for a negative x unless y is an integer."""
    # a single function of selections: kernels and the generated C++ run it without branches or calls
    size = wp.abs(x)
    high, low = log_in_two(size)
    # beyond these bounds results are infinite, zero or one
    raised = -8589934592.0 if y < -8589934592.0 else y
    exponent = 8589934592.0 if raised > 8589934592.0 else raised
    power, lost = product_and_rest(high, exponent)
    result = exp_of_sum(power, lost + low * exponent if wp.abs(power) < 110.0 else 0.0)
    at_end = (size == 0.0) or (size == wp.inf)
    grows = (size > 1.0 and y > 0.0) or (size < 1.0 and y < 0.0)
    inside = (wp.inf if grows else 0.0) if at_end else result
    integer = whole(y) == y
    half = y * 0.5
    odd = integer and (whole(half) != half)
    # the reciprocal shows the sign of zero
    below_zero = (x < 0.0) or ((x == 0.0) and (1.0 / x < 0.0))
    with_sign = inside * -1.0 if below_zero and odd else inside
    real = wp.nan if (x < 0.0) and (x > -wp.inf) and not integer else with_sign
    number = real if not (wp.isnan(x) or wp.isnan(y)) else wp.nan
    return 1.0 if (y == 0.0) or (x == 1.0) else number


@wp.func
def decay(x: float) -> float:
    """Return e^−x, within 2 ulp; 0 above 80, before products with it get denormal, and NaN below zero."""
    inside = 80.0 if x > 80.0 else x
    n = nearest(inside * -1.44269504088896341)
    r = (n * -0.693359375 - inside) - n * -2.12194440e-4
    p = 1.9875691500e-4
    p = p * r + 1.3981999507e-3
    p = p * r + 8.3334519073e-3
    p = p * r + 4.1665795894e-2
    p = p * r + 1.6666665459e-1
    p = p * r + 5.0000001201e-1
    value = (1.0 + (r + r * r * p)) * power_of_two(n)
    return 0.0 if x > 80.0 else (value if x >= 0.0 else wp.nan)


@wp.func
def means_of_decay(x: float, left: float):
    """Return the mean of e^−u for u from 0 to x, m = (1 − e^−x)/x, and 1 − m, given `left`, e^−x; within 2e-7."""
    # what is not chosen has a derivative, too
    small = x if x < 0.5 else 0.0
    p = 1.0 - small * 0.125
    p = 1.0 - small * 0.14285714285714285 * p
    p = 1.0 - small * 0.16666666666666666 * p
    p = 1.0 - small * 0.2 * p
    p = 1.0 - small * 0.25 * p
    p = 1.0 - small * 0.3333333333333333 * p
    rise = small * 0.5 * p
    mean = (1.0 - left) / (1.0 if x < 0.5 else x)
    return 1.0 - rise if x < 0.5 else mean, rise if x < 0.5 else 1.0 - mean


@wp.func
def mean_of_decay(x: float, left: float) -> float:
    """Return the mean of e^−u for u from 0 to x, (1 − e^−x)/x, given `left`, e^−x; within 2e-7."""
    mean, _rise = means_of_decay(x, left)
    return mean


@wp.func
def stribeck(x: float, y: float) -> float:
    """Return e^−(|x|^y), within 1.2e-7: 1 at rest, where x is a velocity over its scale, and 0 far beyond for y > 0."""
    square = x * x
    # a zero without a sign, which powers of it would have too
    return decay(square if y == 2.0 else pow(wp.abs(x) + 0.0, y))


# ---- derivatives


@wp.func
def log_slope(x: float) -> float:
    """Return the derivative of `log`."""
    return 1.0 / x if x >= 0.0 else wp.nan


@wp.func
def sqrt_slope(x: float) -> float:
    """Return the derivative of `sqrt`."""
    return 0.5 / sqrt(x)


@wp.func
def tanh_slope(x: float) -> float:
    """Return the derivative of `tanh`, without the cancellation of 1 − tanh²."""
    e = exp(wp.abs(x) * -2.0)
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


@wp.func
def cos_slope(x: float) -> float:
    """Return the derivative of `cos`."""
    return -sin(x)


@wp.func
def pow_slope(x: float, y: float) -> float:
    """Return the derivative of `pow` by x; zero for y = 0."""
    return 0.0 if y == 0.0 else y * pow(x, y - 1.0)


@wp.func
def pow_slope_of_exponent(x: float, y: float) -> float:
    """Return the derivative of `pow` by y; zero for x = 0 and y > 0."""
    return 0.0 if (x == 0.0) and (y > 0.0) else pow(x, y) * log(x)


@wp.func
def decay_slope(x: float) -> float:
    """Return the derivative of `decay`."""
    return -decay(x)


@wp.func
def stribeck_slope(x: float, y: float) -> float:
    """Return the derivative of `stribeck` by x; zero at rest, where the curve has its peak, and where it has ended."""
    value = stribeck(x, y)
    flat = (x == 0.0) or (value == 0.0)
    slope = y * pow(wp.abs(x) + 0.0, y - 1.0) * value
    return 0.0 if flat else slope if x < 0.0 else -slope


@wp.func
def stribeck_slope_of_exponent(x: float, y: float) -> float:
    """Return the derivative of `stribeck` by y; zero in the same places."""
    value = stribeck(x, y)
    flat = (x == 0.0) or (value == 0.0)
    return 0.0 if flat else -(pow(wp.abs(x) + 0.0, y) * log(wp.abs(x))) * value


@wp.func_grad(exp)
def _exp_back(x: float, by: float):
    wp.adjoint[x] += by * exp(x)


@wp.func_grad(log)
def _log_back(x: float, by: float):
    wp.adjoint[x] += by * log_slope(x)


@wp.func_grad(sqrt)
def _sqrt_back(x: float, by: float):
    wp.adjoint[x] += by * sqrt_slope(x)


@wp.func_grad(tanh)
def _tanh_back(x: float, by: float):
    wp.adjoint[x] += by * tanh_slope(x)


@wp.func_grad(sin)
def _sin_back(x: float, by: float):
    wp.adjoint[x] += by * cos(x)


@wp.func_grad(cos)
def _cos_back(x: float, by: float):
    wp.adjoint[x] += by * cos_slope(x)


@wp.func_grad(pow)
def _pow_back(x: float, y: float, by: float):
    wp.adjoint[x] += by * pow_slope(x, y)
    wp.adjoint[y] += by * pow_slope_of_exponent(x, y)


@wp.func_grad(decay)
def _decay_back(x: float, by: float):
    wp.adjoint[x] += by * decay_slope(x)


@wp.func_grad(stribeck)
def _stribeck_back(x: float, y: float, by: float):
    wp.adjoint[x] += by * stribeck_slope(x, y)
    wp.adjoint[y] += by * stribeck_slope_of_exponent(x, y)


SLOPES: dict[Any, tuple[Any, ...]] = {
    exp: (exp,),
    log: (log_slope,),
    sqrt: (sqrt_slope,),
    tanh: (tanh_slope,),
    sin: (cos,),
    cos: (cos_slope,),
    pow: (pow_slope, pow_slope_of_exponent),
    decay: (decay_slope,),
    stribeck: (stribeck_slope, stribeck_slope_of_exponent),
}
"""Derivative of each function by each of its arguments."""
