// Networks evaluated block by block, compiled once per instruction set in the namespace ACTUATORS_VARIANT. A row whose
// input, output or state is not finite returns NaN and keeps its state.
#include "network_block.h"

namespace ACTUATORS_VARIANT {

namespace {

// Store the new states, or the previous ones in rows that are not finite.
void states_out(const Network& n, const Remembered* states, int64_t first, int64_t count, float* columns,
                const Guard& guard) {
    for (int s = 0; s < n.states; ++s)
        for (int64_t layer = 0; layer < n.layers; ++layer) {
            const float* const old = before(n, columns, s, layer);
            float* const fresh = becoming(n, columns, s, layer);
            for (int64_t k = 0; k < n.hidden * kBatch; k += kBatch)
                for (int v = 0; v < lanes_of(count) / kLanes; ++v) {
                    Floats& x = at(fresh + k + v * kLanes);
                    x = guard.rows[v] == guard.rows[v] ? x : at(old + k + v * kLanes);
                }
            rows_out(fresh, count, n.hidden,
                     states[s].after + layer * states[s].after_layer + first * states[s].after_row,
                     states[s].after_row);
        }
}

void block(const Network& n, const NetworkRows& rows, int64_t first, float* columns) {
    const int64_t count = std::min<int64_t>(kBatch, rows.count - first);
    const int lanes = lanes_of(count);
    rows_in(rows.x + first * rows.x_row, rows.x_row, count, n.inputs, lanes, columns);
    states_in(n, rows.state, first, count, columns);
    Guard guard;
    guard.watch(columns, n.inputs, lanes);
    const float* const output = run_all(n, lanes, columns, guard);
    states_out(n, rows.state, first, count, columns, guard);
    alignas(64) float result[kBatch];
    for (int v = 0; v < lanes / kLanes; ++v) at(result + v * kLanes) = at(output + v * kLanes) + guard.rows[v];
    for (int64_t row = 0; row < count; ++row) rows.y[(first + row) * rows.y_row] = result[row];
}

// Shift histories by one step and insert the newest values in good rows; unset entries take the newest value if the
// first step fills the history.
void roll(const NetworkUse& use, const Signals& signals, int64_t first, int64_t count, const Guard& guard) {
    alignas(64) float good[kBatch];
    std::memcpy(good, guard.rows, sizeof good);
    for (size_t h = 0; h < use.history.size(); ++h) {
        float* const rows = use.state[h] + first;
        alignas(64) float newest[kBatch];
        std::copy_n(signals.columns[use.history[h]], kBatch, newest);
        for (float& value : newest) value = use.first_fills && value == 0.0f ? -0.0f : value;
        for (int64_t step = use.steps - 1; step >= 0; --step) {
            float* const after = rows + step * use.rows;
            const float* const before = step ? after - use.rows : newest;
            for (int64_t row = 0; row < count; ++row) {
                const float value = use.first_fills && is_unset(before[row]) ? newest[row] : before[row];
                after[row] = good[row] == 0.0f ? value : after[row];
            }
        }
    }
}

}  // namespace

void network_by_places(const Block& b, const NetworkUse& use, float* efforts) {
    const Network& n = *use.network;
    const int64_t total = b.robots * use.slots, first_row = b.first_robot * use.slots;
    Remembered states[kNetworkStates];
    for (int s = 0; s < n.states; ++s)
        states[s] = {use.state[s], use.state[s], use.rows * n.hidden, n.hidden, use.rows * n.hidden, n.hidden};
    Signals signals;
    for (int64_t start = 0; start < total; start += kBatch) {
        const int32_t* const places = use.places + start;
        const int64_t count = std::min<int64_t>(kBatch, total - start), first = first_row + start;
        Guard guard;
        signals.take(b.input, places, count, lanes_of(count), guard);
        alignas(64) float result[kBatch];
        compute(use, use.state, signals, first, count, b.columns, guard, result);
        states_out(n, states, first, count, b.columns, guard);
        roll(use, signals, first, count, guard);
        if (neighbours(places, count))
            std::copy_n(result, count, efforts + places[0]);
        else
            for (int64_t row = 0; row < count; ++row) efforts[places[row]] = result[row];
    }
}

void evaluate(const Network& network, const NetworkRows& rows, float* columns) {
    for (int64_t first = 0; first < rows.count; first += kBatch) block(network, rows, first, columns);
}

}  // namespace ACTUATORS_VARIANT
