"""Whether actuators make joints vibrate: told before, from gains, inertia and step; and seen in a recording."""
