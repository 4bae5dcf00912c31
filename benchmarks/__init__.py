"""Side-by-side measurements against other libraries; run them with `./python.sh -m benchmarks`."""
