// Signals of a joint or motor, in the order of all arrays.
#pragma once

namespace actuators {

enum Signal { kPosition, kVelocity, kPositionTarget, kVelocityTarget, kFeedforward, kSignals };

}  // namespace actuators
