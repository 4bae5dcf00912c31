// Gradients bound to the Python arrays that they read and accumulate into, validated at each call.
#pragma once
#include "bound_plan.h"
#include "gradients.h"

namespace actuators {

class BoundGradients;

// Record of a step for the backward pass. Its memory returns to its owner for reuse.
class BoundNoted {
  public:
    BoundNoted(std::unique_ptr<Noted> given, std::shared_ptr<Gradients> owner)
        : noted(std::move(given)), owner_(std::move(owner)) {}
    ~BoundNoted() { owner_->let_go(*noted); }
    BoundNoted(const BoundNoted&) = delete;
    BoundNoted& operator=(const BoundNoted&) = delete;
    bool is_of(const Gradients* owner) const { return owner_.get() == owner; }
    const std::unique_ptr<Noted> noted;

  private:
    const std::shared_ptr<Gradients> owner_;
};

// Pipeline of one controller or network, the stages after it, and a sensor, over elements. `back` takes arrays in the
// order of `note`, None for those without a gradient.
class BoundGradients {
  public:
    BoundGradients(int64_t elements, const std::string& controller, const BoundPlan::Networks& networks,
                   const std::vector<std::string>& limits, const std::vector<std::vector<py::object>>& curves,
                   int64_t depth, const std::string& sensor) {
        if (networks.size() > 1) refuse("networks", "one at most");
        for (const auto& one : networks) kept_.push_back(std::get<0>(one));
        std::vector<NetworkMember> network = BoundPlan::members(networks);
        std::vector<Gradients::Curves> rows;
        for (const auto& of_law : curves) {
            rows.emplace_back();
            for (const py::object& one : of_law) {
                const py::array given = typed<float>("curve", one);
                if (given.ndim() != 2) refuse("curve", "of rows of point, value and slope");
                const auto array = checked<float>("curve", one, {given.shape(0), 3});
                rows.back().emplace_back(array.data(), array.data() + array.size());
            }
        }
        if (elements > (int64_t{1} << 31)) refuse("elements", "at most 2^31");
        if (depth < 0 || depth > (1 << 16)) refuse("depth", "0 without a delay, and at most 65536");
        gradients_ = std::make_shared<Gradients>(elements, controller,
                                                 network.empty() ? std::nullopt : std::optional(std::move(network[0])),
                                                 limits, std::move(rows), depth, sensor);
    }

    std::unique_ptr<BoundNoted> note(const std::vector<py::object>& signals, const std::vector<py::object>& indices,
                                     const std::vector<py::object>& parameters, const py::object& state,
                                     const py::object& lag, float dt) const {
        const Gradients& g = *gradients_;
        if (signals.size() != kSignals || indices.size() != kSignals) refuse("signals", "five, each with its indices");
        seen_.clear();
        Scattered inputs[kSignals];
        for (int s = 0; s < kSignals; ++s) inputs[s] = scattered("signal", signals[s], indices[s], false);
        const std::vector<Scattered> given = flat("parameter", parameters, g.parameters(), false);
        State kept;
        if (g.network_arrays() || g.states() || g.depth()) {
            const auto& bound = state.cast<const BoundState&>();
            std::vector<int64_t> sizes(g.network_arrays(), g.network_size());
            sizes.insert(sizes.end(), g.states(), g.elements());
            if (bound.sizes != sizes) refuse("states", "those of the network, then one number per element");
            if (g.depth() && (bound.size != g.elements() || bound.state.depth != g.depth()))
                refuse("ring", "of the depth of the delay");
            kept = bound.state;
        }
        const int32_t* steps = nullptr;
        int64_t stride = 1;
        if (g.depth()) {
            const Strided<int32_t> array("lag", lag);
            if (array.size != g.elements()) refuse("lag", "one per element");
            steps = array.data, stride = array.stride;
        }
        return std::make_unique<BoundNoted>(gradients_->note(inputs, given, kept, steps, stride, dt), gradients_);
    }

    // The efforts of a recorded step, and those before the limits, NaN on a fault.
    std::pair<py::array_t<float>, py::array_t<float>> efforts(const BoundNoted& noted) const {
        if (!noted.is_of(gradients_.get())) refuse("noted", "a step of these gradients");
        py::array_t<float> efforts(gradients_->elements()), computed(gradients_->elements());
        gradients_->efforts_of(*noted.noted, efforts.mutable_data(), computed.mutable_data());
        return {efforts, computed};
    }

    // `efforts` holds the gradients of efforts and computed efforts; `after` and `before` those of the three rings, the
    // network state and the law states; `numbers` that of the network parameters.
    void back(const BoundNoted& noted, const std::vector<py::object>& efforts, const py::object& effort_index,
              const std::vector<py::object>& signals, const std::vector<py::object>& indices,
              const std::vector<py::object>& parameters, const std::vector<py::object>& after,
              const std::vector<py::object>& before, const py::object& numbers) const {
        const Gradients& g = *gradients_;
        if (!noted.is_of(&g)) refuse("noted", "a step of these gradients");
        if (efforts.size() != 2 || signals.size() != kSignals || indices.size() != kSignals)
            refuse("gradients", "of efforts, computed efforts and five signals");
        seen_.clear();
        GradientArrays arrays;
        arrays.efforts = scattered("gradient of efforts", efforts[0], effort_index, false);
        arrays.computed = scattered("gradient of computed efforts", efforts[1], effort_index, false);
        for (int s = 0; s < kSignals; ++s) arrays.signals[s] = scattered("gradient", signals[s], indices[s], true);
        arrays.parameters = flat("gradient of a parameter", parameters, g.parameters(), true);
        const size_t rings = g.depth() ? kCommands : 0, network = g.network_arrays();
        for (const auto* all : {&after, &before}) {
            if (all->size() != rings + network + g.states()) refuse("gradients of the state", "one per array of it");
            const bool is_after = all == &after;
            for (size_t c = 0; c < rings; ++c) {
                const py::object& one = (*all)[c];
                if (one.is_none()) continue;
                auto array = typed<float>("gradient of a ring", one);
                if (array.ndim() != 2 || array.shape(0) != g.depth() || array.shape(1) != g.elements() ||
                    !array.writeable() || (g.elements() > 1 && array.strides(1) != sizeof(float)))
                    refuse("gradient of a ring", "shaped as the ring, contiguous within a row");
                (is_after ? arrays.rows_after : arrays.rows_before)[c] = static_cast<float*>(array.mutable_data());
                (is_after ? arrays.pitch_after : arrays.pitch_before)[c] =
                    g.depth() > 1 ? array.strides(0) / static_cast<py::ssize_t>(sizeof(float)) : 0;
            }
            for (size_t k = 0; k < network; ++k) {
                const py::object& one = (*all)[rings + k];
                if (one.is_none()) continue;
                const auto array = typed<float>("gradient of a network's state", one);
                if (array.size() != g.network_size()) refuse("gradient of a network's state", "shaped as the state");
                (is_after ? arrays.network_after : arrays.network_before)[k] =
                    written<float>("gradient of a network's state", one, {array.shape(), array.shape() + array.ndim()});
            }
            (is_after ? arrays.states_after : arrays.states_before) =
                flat("gradient of a state", {all->begin() + static_cast<std::ptrdiff_t>(rings + network), all->end()},
                     g.states(), true);
        }
        if (numbers.is_none()) return gradients_->back(*noted.noted, arrays);
        if (kept_.empty()) refuse("gradient of numbers", "None without a network");
        const auto& whose = kept_[0].cast<const BoundNetwork&>();
        float* const given = written<float>("gradient of a network's numbers", numbers, {whose.count()});
        Aligned<float> packed(whose.network().numbers.size());
        arrays.numbers = packed.data();
        gradients_->back(*noted.noted, arrays);
        whose.unpack(packed.data(), given);
    }

  private:
    // An array, gathered by an index; contiguous elements without an index.
    Scattered scattered(const std::string& name, const py::object& given, const py::object& index, bool output) const {
        Scattered found;
        if (given.is_none()) return found;
        const Strided<float> array(name, given, output);
        found.data = array.data, found.stride = array.stride;
        int64_t last = gradients_->elements() - 1;
        if (!index.is_none()) {
            const Seen& places = validate(index);
            last = places.largest;
            // consecutive indices need no gather
            if (places.consecutive)
                found.data += places.first * array.stride;
            else
                found.index = places.data, found.index_stride = places.stride;
        }
        if (last >= array.size)
            refuse(name + " of " + std::to_string(array.size) + " numbers", "at least " + std::to_string(last + 1));
        return found;
    }

    // Validated indices of one call. Most arrays share them, and their values may change between calls.
    struct Seen {
        PyObject* object;
        const uint32_t* data;
        int64_t stride, first, largest;
        bool consecutive;
    };
    const Seen& validate(const py::object& index) const {
        for (const Seen& one : seen_)
            if (one.object == index.ptr()) return one;
        const Strided<uint32_t> places("indices", index);
        if (places.size != gradients_->elements()) refuse("indices", "one per element");
        uint32_t largest = 0, differ = 0;
        const uint32_t first = places.data[0];
        for (int64_t k = 0; k < places.size; ++k) {
            const uint32_t at = places.data[k * places.stride];
            largest = std::max(largest, at), differ |= (at - first) ^ static_cast<uint32_t>(k);
        }
        seen_.push_back({index.ptr(), places.data, places.stride, first, largest, !differ});
        return seen_.back();
    }

    std::vector<Scattered> flat(const std::string& name, const std::vector<py::object>& given, int count,
                                bool output) const {
        if (static_cast<int>(given.size()) != count) refuse(name + "s", std::to_string(count));
        std::vector<Scattered> all;
        for (const py::object& one : given) all.push_back(scattered(name, one, py::none(), output));
        return all;
    }

    // network parameters, which must outlive the recorded steps
    std::vector<py::object> kept_;
    std::shared_ptr<Gradients> gradients_;
    // indices validated in this call
    mutable std::vector<Seen> seen_;
};

}  // namespace actuators
