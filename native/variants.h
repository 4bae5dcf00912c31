// Instruction sets that the step is compiled for, and the choice among them: the best that the processor supports, or
// the one in ACTUATORS_ISA.
#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "network.h"
#include "problem.h"

namespace actuators {

enum class LawFunction;
struct LawInBlock;
struct NetworkInBlock;

// Static properties of a law.
struct LawFacts {
    const char* name;
    int parameters, prepared, states, curves;
    // input of each curve, see `Over`
    const int* over;
    // number of requested signals, and their indices
    int asked;
    const int* asks;
    // number of results, see `Kind`, and how many of the results or commands act late
    int gives, late;
    // true if it bounds the effort, see `Kind` in specs/stages.py
    bool limits;
    // true if it is a transmission, which converts between motor and joint coordinates; or a linkage of several joints
    bool converts, couples;
    // true if it is a rate, which holds efforts of controllers
    bool ticks;
    // true if it follows all limits: what acts on the joint, or remembers its effort
    bool follows;
    // true if it is an effort mode, with efforts at the end of the step
    bool ends;
    // true if its loop saves the state before the step
    bool keeps;
    bool prepares;
    // true if preparation depends on the time step
    bool timed;
    // index of the parameter that each prepared number equals, -1 if derived
    const int* passes;
    // values of prepared numbers that its loop has as constants, by form after the general one, NaN for none; null
    // without such a form. And states that rest with them, a bit each
    const float* constants[3];
    const uint32_t* resting;
};

// A function of laws, evaluated on a column per argument; writes its values and its derivative by each argument.
struct FunctionFacts {
    const char* name;
    int arguments;
    void (*over)(const float* const* in, float* const* out, int64_t size);
};

// The step compiled for one instruction set; an object file each, see step.cpp and setup.py.
struct Variant {
    const char* name;
    bool (*available)();
    // properties of the laws of a list, by index
    std::vector<LawFacts> (*laws)(LawList list);
    // scratch arrays of a block, in addition to `Problem::derived`
    int scratch_arrays;
    // choose the kernels of a problem, from its laws and layout
    void (*choose)(Problem&);
    // parameter preparation of a law, null if parameters are used unchanged
    Prepare (*prepare)(LawList list, int law);
    // run the blocks [first, last)
    void (*step_blocks)(const Problem&, int64_t first, int64_t last, float* scratch);
    // commands of a robot before any delay, those of shafts where joints are linked, with a number per element
    void (*commands_of_shafts)(const Problem&, int64_t robot, float* scratch, const float** commands);
    // memory bandwidth benchmark: reads `count` arrays and writes one
    void (*stream)(const float* const* inputs, int count, float* output, int64_t size);
    // evaluate a network on all rows; `columns` is scratch memory, `kBatch` numbers per column
    void (*evaluate)(const Network& network, const NetworkRows& rows, float* columns);
    // forward and backward pass of a law on `size` elements; see gradients.h
    void (*law_forward)(LawFunction function, int law, const LawInBlock& block, int64_t size);
    void (*law_backward)(LawFunction function, int law, const LawInBlock& block, int64_t size);
    // functions that laws call
    std::vector<FunctionFacts> (*functions)();
    // forward and backward pass of a network
    void (*network_forward)(const NetworkInBlock& block);
    void (*network_backward)(const NetworkInBlock& block);
};

extern const Variant kBaseline, kAvx2, kAvx512;

// All variants of this core, best first; setup.py says which it has.
inline const std::vector<const Variant*>& variants() {
    static const std::vector<const Variant*> all = {
#ifdef ACTUATORS_HAS_AVX512
        &kAvx512,
#endif
#ifdef ACTUATORS_HAS_AVX2
        &kAvx2,
#endif
#ifdef ACTUATORS_HAS_BASELINE
        &kBaseline,
#endif
    };
    return all;
}

// The variant that ACTUATORS_ISA names, else the best that the processor has.
inline const Variant& choose_variant() {
    const char* const wish = std::getenv("ACTUATORS_ISA");
    const std::string wanted = wish ? wish : "";
    std::string known;
    for (const Variant* one : variants()) {
        known += std::string(known.empty() ? "" : ", ") + one->name;
        if (wanted.empty() ? !one->available() : wanted != one->name) continue;
        if (!one->available())
            throw std::invalid_argument("ACTUATORS_ISA = " + wanted + ": this processor lacks it. Unset it.");
        return *one;
    }
    if (wanted.empty()) throw std::runtime_error("it is for processors with " + known + ", which this one lacks");
    throw std::invalid_argument("ACTUATORS_ISA = " + wanted + ": must be one of " + known + ".");
}

}  // namespace actuators
