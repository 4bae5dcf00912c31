#!/usr/bin/env bash
# Build the core with address and undefined-behaviour sanitizers, beside the one in use, and run its tests:
#
#     tools/sanitize.sh [python]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:-.venv/bin/python}
place=build/sanitized

"$python" -m pip install --quiet --disable-pip-version-check "setuptools>=77" "pybind11>=3"
rm -rf "$place"
mkdir -p "$place"
cp -r python/isaacsim "$place/"
find "$place" -name "core.*.so" -delete
ACTUATORS_SANITIZE=1 "$python" setup.py --quiet build_ext --build-lib "$place" --build-temp build/sanitized-objects

# leaks are the interpreter's own; the sanitizer's library has to come before Python
for isa in $(PYTHONPATH=$place LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 "$python" -c \
    "from isaacsim.core.experimental.actuators.native import core; print(core.__file__, file=__import__('sys').stderr); print(*core.variants())"); do
    echo "sanitized, $isa:"
    PYTHONPATH=$place ACTUATORS_ISA=$isa ASAN_OPTIONS=detect_leaks=0 \
        LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
        "$python" -m pytest -q -p no:cacheprovider tests/pipeline/step/test_native.py \
        tests/pipeline/step/test_networks.py tests/pipeline/step/test_same_bits.py tests/pipeline/test_calls.py \
        tests/networks/test_evaluator.py tests/pipeline/test_gradients.py tests/pipeline/test_gradients_of_networks.py
done
