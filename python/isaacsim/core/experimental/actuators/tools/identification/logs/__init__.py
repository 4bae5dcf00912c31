"""Logs of robots in files, a module per format; `read.read_logs` reads all of them."""
