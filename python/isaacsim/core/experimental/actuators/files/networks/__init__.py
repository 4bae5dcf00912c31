"""Networks as control laws: checkpoints of any format read as data, and what is computed from them."""
