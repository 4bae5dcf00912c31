// Every generated law and every function of networks on many numbers, special ones among them: a line per function with
// a sum over the bits of its results. The same on every processor, see aarch64.sh.
#define ACTUATORS_VARIANT self_test
#include <cstdio>
#include <random>
#include <utility>

#include "functions.h"
#include "generated_laws.h"

using namespace self_test;

namespace {

constexpr int kRounds = 200000;
int failures = 0;

std::mt19937 source(20261122);

float number_of_any_kind() {
    static const float special[] = {0.0f,   -0.0f,  1.0f,      -1.0f,      kMax, -kMax,
                                    1e-45f, 1e-38f, kInfinity, -kInfinity, kNaN, 88.7f};
    const uint32_t bits = source();
    if (bits % 16 == 0) return special[bits / 16 % 12];
    if (bits % 16 < 4) {
        // any bits at all
        const uint32_t other = source();
        float x;
        std::memcpy(&x, &other, sizeof x);
        return x;
    }
    return (static_cast<float>(bits) * 0x1p-32f - 0.5f) * 40.0f;
}

struct Sum {
    uint64_t value = 14695981039346656037u;
    void add(float x) {
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        // processors differ in the sign and the payload of what is not a number
        if (x != x) bits = 0x7fc00000u;
        value = (value ^ bits) * 1099511628211u;
    }
    void print(const char* kind, const char* name) const {
        std::printf("%-9s %-22s %016llx\n", kind, name, static_cast<unsigned long long>(value));
    }
};

template <class Law, size_t... K, size_t... P>
void try_law(std::index_sequence<K...>, std::index_sequence<P...>) {
    Sum law, prepared;
    for (int round = 0; round < kRounds; ++round) {
        float in[Law::kArguments + 1];
        for (float& x : in) x = number_of_any_kind();
        const auto results = Law::law(in[K]...);
        for (int k = 0; k < 1 + Law::kStates; ++k) law.add(results.at[k]);
        const auto values = Law::prepare(in[P]...);
        for (int k = 0; k < Law::kPrepared; ++k) prepared.add(values.at[k]);
    }
    law.print("law", Law::kName);
    prepared.print("prepare", Law::kName);
}

template <class... Law>
void try_laws(List<Law...>) {
    (try_law<Law>(std::make_index_sequence<Law::kArguments>(), std::make_index_sequence<Law::kParameters>()), ...);
}

// lanes of a vector give what numbers one by one give
void try_lanes() {
    for (int round = 0; round < kRounds; ++round) {
        Floats in[9], out[2];
        for (Floats& x : in)
            for (int i = 0; i < kLanes; ++i) x[i] = number_of_any_kind();
        out[0] = pd_effort(in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8]);
        out[1] = dc_motor_clamp(in[0], in[1], in[2], in[3], in[4], in[5]);
        for (int i = 0; i < kLanes; ++i) {
            Sum lanes, alone;
            lanes.add(out[0][i]), lanes.add(out[1][i]);
            alone.add(
                pd_effort(in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i], in[7][i], in[8][i]));
            alone.add(dc_motor_clamp(in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i]));
            failures += lanes.value != alone.value;
        }
    }
    std::printf("lanes that differ from numbers one by one: %d\n", failures);
}

void try_function(const char* name, Floats (*function)(Floats)) {
    Sum sum;
    for (int round = 0; round < kRounds; round += 16) {
        float numbers[16];
        for (float& x : numbers) x = number_of_any_kind();
        for (int first = 0; first < 16; first += kLanes) {
            Floats x;
            std::memcpy(&x, numbers + first, sizeof x);
            x = function(x);
            for (int i = 0; i < kLanes; ++i) sum.add(x[i]);
        }
    }
    sum.print("function", name);
}

}  // namespace

int main() {
    try_laws(Controllers());
    try_laws(Clamps());
    try_function("exp", exp_of);
    try_function("sigmoid", sigmoid_of);
    try_function("tanh", tanh_of);
    try_function("log", log_of);
    try_function("softplus", softplus_of);
    try_function("erf", erf_of);
    try_function("elu", [](Floats x) { return elu_of(x, all(0.7f)); });
    // last, for how many numbers it draws depends on the lanes
    try_lanes();
    return failures != 0;
}
