"""Common basis of all rooms: errors, extras, arrays of users, shared memory, and the compiled core."""
