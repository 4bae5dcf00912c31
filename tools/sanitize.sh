#!/usr/bin/env bash
# Build a separate core with sanitizers and run its tests; any sanitizer finding is a failure.
#
#     tools/sanitize.sh [python]              addresses and undefined behavior: all core tests, all instruction sets
#     tools/sanitize.sh --quick [python]      the same for one instruction set: fast tests, some invalid arguments; for CI
#     tools/sanitize.sh --entries [python]    every entry point with many invalid arguments
#     tools/sanitize.sh --threads [python]    data races: several threads with shared and separate plans
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
form=all
case "${1:-}" in --quick | --entries | --threads) form=${1#--}; shift ;; esac
python=${1:-.venv/bin/python}

sanitizers=address,undefined library=libasan.so
if [ "$form" = threads ]; then sanitizers=thread library=libtsan.so; fi
if [ "$form" != all ]; then export ACTUATORS_VARIANTS=baseline; fi
place=build/sanitized-$form

"$python" -c "import pybind11, setuptools" 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check "setuptools>=77" "pybind11>=3"
rm -rf "$place"
mkdir -p "$place"
cp -r python/isaacsim "$place/"
find "$place" -name "core.*.so" -delete
start=$SECONDS
ACTUATORS_CORE=required ACTUATORS_SANITIZE=$sanitizers "$python" setup.py --quiet build_ext \
    --build-lib "$place" --build-temp "$place-objects"
echo "built with -fsanitize=$sanitizers in $((SECONDS - start)) s"

# the sanitizer's library has to come before Python; leaks are the interpreter's own
sanitized() {
    PYTHONPATH=$place LD_PRELOAD="$(gcc -print-file-name=$library) $(gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0:max_allocation_size_mb=2000 UBSAN_OPTIONS=print_stacktrace=1 \
        TSAN_OPTIONS=exitcode=66 "$python" "$@"
}

# what is tested is the core that was built here
core=$(sanitized -c "from isaacsim.core.experimental.actuators.base.native import core; print(core.__file__, *core.variants())")
case "$core" in *"/$place/"*) echo "$core" ;; *) echo "$core is not the core in $place" >&2; exit 1 ;; esac

tests="tests/engine/step/test_native.py tests/engine/step/test_networks.py tests/engine/step/test_same_bits.py
    tests/engine/test_calls.py tests/engine/gradients/test_actuator_gradients.py tests/native/test_entries.py
    tests/engine/test_gradients_of_networks.py tests/laws/networks/test_evaluator.py"
case "$form" in
    all)
        for isa in ${core#* }; do
            echo "sanitized, $isa:"
            ACTUATORS_ISA=$isa sanitized -m pytest -q -p no:cacheprovider $tests
        done
        ;;
    quick)
        sanitized -m pytest -q -p no:cacheprovider --durations=3 tests/engine/step/test_native.py tests/native/test_entries.py \
            tests/simulators/test_transfer.py
        sanitized tests/hardening/entries.py --count 400
        ;;
    entries)
        sanitized tests/hardening/entries.py --count 20000
        ;;
    threads)
        if sanitized tests/hardening/threads.py --race --seconds 2 >"$place/race" 2>&1; then
            cat "$place/race"
            echo "the thread sanitizer does not see a race that is there" >&2
            exit 1
        fi
        grep -m 1 "^SUMMARY: ThreadSanitizer: data race" "$place/race"
        echo "that race is made on purpose; no other may be there:"
        sanitized tests/hardening/threads.py --seconds 60
        ;;
esac
