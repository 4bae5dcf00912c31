"""C code of a header besides the laws: types, arithmetic, tables and ring buffers. `@` stands for the prefix.

A header has only what it uses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from .c_laws import functions
from .c_linkage import LINKAGES

_MOST_RESULTS = 16

_BEFORE_LAWS: dict[str, str] = {
    **{f"values_{n}": f"typedef struct {{ float at[{n}]; }} @values_{n};" for n in range(2, _MOST_RESULTS + 1)},
    "signals": "typedef struct { float position, velocity, position_target, velocity_target, feedforward; } @signals;",
    "negative": "static inline float @negative(float x) { return 0.0f - x; }",
    "magnitude": "static inline float @magnitude(float x) { return fabsf(x); }",
    "square_root": "static inline float @square_root(float x) { return sqrtf(x); }",
    "finite": "static inline int @finite(float x) { return fabsf(x) <= FLT_MAX; }",
    "all_finite": """\
static inline int @all_finite(const float x[], int count) {
    int good = 1;
    for (int k = 0; k < count; ++k) good &= @finite(x[k]);
    return good;
}""",
    "known": """\
static inline int @known(@signals of) {
    const float x[] = {of.position, of.velocity, of.position_target, of.velocity_target, of.feedforward};
    return @all_finite(x, 5);
}""",
    "pick": "static inline float @pick(int first, float one, float other) { return first ? one : other; }",
    "nan_unless": "static inline float @nan_unless(int good, float value) { return good ? value : NAN; }",
    "bits_of": """\
static inline uint32_t @bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}""",
    "float_of": """\
static inline float @float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}""",
    "power_of_two": """\
/* 2^n of an integer n from -126 to 127 */
static inline float @power_of_two(float n) {
    return @float_of((@bits_of(n + 12582912.0f) - @bits_of(12582912.0f) + 127u) << 23);
}""",
    "mantissa_and_exponent": """\
/* m and e with x = m 2^e and sqrt(1/2) <= m < sqrt(2), of a positive finite number */
static inline @values_2 @mantissa_and_exponent(float x) {
    const int tiny = x < FLT_MIN;
    const uint32_t bits = @bits_of(tiny ? x * 4294967296.0f : x);
    const float m = @float_of((bits & 0x007fffffu) | 0x3f800000u);
    const float e = @float_of((bits >> 23) + @bits_of(12582912.0f)) - 12582912.0f - (tiny ? 159.0f : 127.0f);
    const int large = (double)m >= 1.4142135623730951;
    return (@values_2){{large ? m * 0.5f : m, large ? e + 1.0f : e}};
}""",
    "mixed": """\
/* 32 bits of which each depends on all that are given */
static inline uint32_t @mixed(uint32_t bits) {
    const uint32_t state = bits * 747796405u + 2891336453u;
    const uint32_t word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}""",
    "uniform": """\
/* a random number in [0, 1) that three integers from 0 to 2^24 determine */
static inline float @uniform(float seed, float place, float count) {
    const uint32_t of_place = @mixed(@mixed((uint32_t)(int32_t)seed) + (uint32_t)(int32_t)place);
    return (float)(int32_t)(@mixed(of_place + (uint32_t)(int32_t)count) >> 8) * 5.9604644775390625e-08f;
}""",
}
_AFTER_LAWS: dict[str, str] = {
    "table": """\
/* rows of point, value and slope behind the point */
typedef struct { const float (*rows)[3]; int count; } @table;""",
    "table_at": """\
/* The value at x: on the line of the last row whose point is below x, that of the first row before it. */
static inline float @table_at(@table table, float x) {
    int passed = 0, end = table.count;
    while (passed < end) {
        const int middle = (passed + end) / 2;
        if (x > table.rows[middle][0]) passed = middle + 1;
        else end = middle;
    }
    const float *row = table.rows[passed ? passed - 1 : 0];
    return @curve_value(x, row[0], row[1], passed ? row[2] : 0.0f);
}""",
    "ring": "typedef struct { float commands[@DEPTH][3]; int row, begun; } @ring;",
    "late": """\
/* The command of `steps` steps ago; the first good one stands for all before it. A number that is not finite is not
   kept: the one before it is, and there is no effort in that step. */
static inline void @late(@ring *ring, int steps, @signals *joint) {
    const float command[3] = {joint->position_target, joint->velocity_target, joint->feedforward};
    const float *before = ring->commands[(ring->row + steps - 1) % steps];
    const int good = @all_finite(command, 3);
    float late[3], *at = ring->commands[ring->row];
    if (!ring->begun && good) {
        for (int k = 0; k < steps; ++k) memcpy(ring->commands[k], command, sizeof late);
        ring->begun = 1;
    }
    memcpy(late, at, sizeof late);
    for (int c = 0; c < 3; ++c) at[c] = @finite(command[c]) ? command[c] : before[c];
    joint->position_target = good ? late[0] : NAN;
    joint->velocity_target = good ? late[1] : NAN;
    joint->feedforward = good ? late[2] : NAN;
    ring->row = (ring->row + 1) % steps;
}""",
    "act_late": """\
/* Replaces values by those of `lag` steps ago, between two steps on a line, of rings of `depth` rows each; the first
   ones stand for all before them. Returns the newest row, which is NaN before the first. */
static inline float @act_late(float rings[], int depth, float newest, float lag, float values[], int count) {
    const float most = (float)(depth - 2), below = lag < most ? lag : most, bounded = below > 0.0f ? below : 0.0f;
    const int steps = (int)bounded, row = newest < (float)(depth - 1) ? (int)newest + 1 : 0;
    const float rest = bounded - (float)steps;
    for (int r = 0; r < count; ++r, rings += depth) {
        for (int k = 0; newest != newest && k < depth; ++k) rings[k] = values[r];
        rings[row] = values[r];
        const float one = rings[(row - steps + depth) % depth], other = rings[(row - steps - 1 + depth) % depth];
        values[r] = one + rest * (other - one);
    }
    return (float)row;
}""",
}


@functools.cache
def library() -> dict[str, str]:
    """Return types and functions by name, each after those that it uses."""
    laws = {name: text for name, (_, text) in functions().items()}
    return _BEFORE_LAWS | laws | _AFTER_LAWS | LINKAGES


def used_by(texts: Iterable[str]) -> list[str]:
    """Return the text of all of `library()` that some texts use, directly or not, in its order."""
    needed = {name for text in texts for name in _names(text)}
    found: list[str] = []
    for name, text in reversed(library().items()):
        if name in needed:
            needed |= set(_names(text))
            found.append(text)
    return found[::-1]


def _names(text: str) -> list[str]:
    return re.findall(r"@(\w+)", text)
