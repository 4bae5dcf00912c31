"""Random numbers of laws, and random values of parameters."""
