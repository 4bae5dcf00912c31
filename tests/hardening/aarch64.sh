#!/usr/bin/env bash
# The core for aarch64 on another machine: all of it is cross-compiled, and every law and every function of networks
# runs under qemu and here; both give the same bits. About a minute.
#
#     tests/hardening/aarch64.sh [python]
#
# On Debian and Ubuntu: apt install g++-aarch64-linux-gnu qemu-user-static
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${1:-.venv/bin/python}
place=build/aarch64
flags=(-O3 -std=c++17 -ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden -Wall -Inative)
cross=aarch64-linux-gnu-g++
for tool in "$cross" qemu-aarch64-static; do
    command -v "$tool" >/dev/null || { echo "$tool: not found. apt install g++-aarch64-linux-gnu qemu-user-static"; exit 1; }
done
mkdir -p "$place"

# as setup.py does it; Python's headers are those of any 64-bit Linux
mapfile -t headers < <("$python" -c "
import pybind11, sysconfig
print('-I' + pybind11.get_include(), '-I' + sysconfig.get_path('include'), sep='\n')")
objects=()
for source in step network gradients network_gradients module plan; do
    extra=()
    case $source in step | network | *gradients) extra=(-DACTUATORS_VARIANT=baseline -DACTUATORS_SYMBOL=kBaseline '-DACTUATORS_NAME="baseline"') ;; esac
    "$cross" "${flags[@]}" "${headers[@]}" "${extra[@]}" -fPIC -c "native/$source.cpp" -o "$place/$source.o"
    objects+=("$place/$source.o")
done
"$cross" -shared "${objects[@]}" -o "$place/core.so"
echo "built: $(file -b "$place/core.so" 2>/dev/null | cut -d, -f1,2), $(stat -c %s "$place/core.so") bytes"

"$cross" "${flags[@]}" -static tests/hardening/aarch64.cpp -o "$place/self_test"
qemu-aarch64-static "$place/self_test" | tee "$place/there.txt"
here=(baseline)
if [ "$(uname -m)" = x86_64 ]; then here+=(avx2); fi
for name in "${here[@]}"; do
    extra=()
    [ "$name" = avx2 ] && extra=(-mavx2 -mfma)
    g++ "${flags[@]}" "${extra[@]}" tests/hardening/aarch64.cpp -o "$place/self_test_here"
    "$place/self_test_here" >"$place/here.txt"
    diff "$place/there.txt" "$place/here.txt" && echo "the same bits as here, $name"
done
