// What loops tell compilers.
#pragma once

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(_MSC_VER)
#define PREFETCH(address)
#define RESTRICT __restrict
#define NOINLINE __declspec(noinline)
#else
#define PREFETCH(address) __builtin_prefetch(address)
#define RESTRICT __restrict__
// not inlined: rare or long code would spill registers of the short path
#define NOINLINE __attribute__((noinline))
#endif
#if defined(__GNUC__)
// all calls in it are inlined
#define FLATTENED __attribute__((flatten))
#else
#define FLATTENED
#endif
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
// vectors of 8 numbers instead of 16
#define SHORT_VECTORS __attribute__((target("prefer-vector-width=256")))
#else
#define SHORT_VECTORS
#endif
