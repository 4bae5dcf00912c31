// Which instruction sets the step was compiled for, and which of them runs: the best that this processor has, or the
// one that ACTUATORS_ISA names.
#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "network.h"
#include "problem.h"

namespace actuators {

struct LawInBlock;
struct NetworkInBlock;

// What is known of a law without calling it.
struct LawFacts {
    const char* name;
    int parameters, prepared, states, curves;
    // what each curve runs over, see `Over`
    const int* over;
    // how many signals it asks for, and their numbers
    int asked;
    const int* asks;
    // how many numbers it returns before its state, see `Kind`
    int results;
    // whether it bounds the effort, see `Kind` in specs/stages.py
    bool limits;
    // whether it is a transmission, which converts between the coordinates of motors and joints
    bool converts;
    bool prepares;
    // whether what is prepared depends on the time step
    bool timed;
    // the parameter that each prepared number is as it stands, -1 for one that is derived
    const int* passes;
};

// A function of laws, which reads a column per argument and writes its values and its derivative by each.
struct FunctionFacts {
    const char* name;
    int arguments;
    void (*over)(const float* const* in, float* const* out, int64_t size);
};

// The step as one instruction set does it; one object file each, see step.cpp and setup.py.
struct Variant {
    const char* name;
    bool (*available)();
    // those of a list, in the order of their numbers
    std::vector<LawFacts> (*laws)(LawList list);
    // arrays of a block that a thread works in, besides those of `Problem::derived`
    int scratch_arrays;
    // choose how to go about a problem whose laws and layout are known
    void (*choose)(Problem&);
    // prepare the parameters of a law by its number, null when it takes them as they are
    Prepare (*prepare)(LawList list, int law);
    // steps the blocks [first, last)
    void (*step_blocks)(const Problem&, int64_t first, int64_t last, float* scratch);
    // bytes moved at the machine's own speed: reads `count` arrays and writes one, for the benchmarks
    void (*stream)(const float* const* inputs, int count, float* output, int64_t size);
    // evaluates a network on all rows; `columns` is memory for a block, `kBatch` numbers per column
    void (*evaluate)(const Network& network, const NetworkRows& rows, float* columns);
    // the effort of a controller or a limit by its number for `size` elements, and back through it; see gradients.h
    void (*law_forward)(bool controller, int law, const LawInBlock& block, int64_t size);
    void (*law_backward)(bool controller, int law, const LawInBlock& block, int64_t size);
    // what laws call
    std::vector<FunctionFacts> (*functions)();
    // the same of a network
    void (*network_forward)(const NetworkInBlock& block);
    void (*network_backward)(const NetworkInBlock& block);
};

extern const Variant kBaseline;
#ifdef ACTUATORS_X86
extern const Variant kAvx2, kAvx512;
#endif

// All of them, the best first.
inline const std::vector<const Variant*>& variants() {
#ifdef ACTUATORS_X86
    static const std::vector<const Variant*> all = {&kAvx512, &kAvx2, &kBaseline};
#else
    static const std::vector<const Variant*> all = {&kBaseline};
#endif
    return all;
}

inline const Variant& choose_variant() {
    const char* wanted = std::getenv("ACTUATORS_ISA");
    std::string known;
    for (const Variant* one : variants()) {
        known += std::string(known.empty() ? "" : ", ") + one->name;
        if (wanted && *wanted ? wanted == std::string(one->name) : one->available()) {
            if (!one->available())
                throw std::invalid_argument(std::string("ACTUATORS_ISA = ") + wanted +
                                            ": this processor lacks it. Unset it, or take baseline.");
            return *one;
        }
    }
    throw std::invalid_argument(std::string("ACTUATORS_ISA = ") + wanted + ": must be one of " + known + ".");
}

}  // namespace actuators
