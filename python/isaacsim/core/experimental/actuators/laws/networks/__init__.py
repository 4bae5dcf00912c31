"""Networks as control laws: as plain data, evaluated in C++ and in Warp; `files/networks` reads them."""
