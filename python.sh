#!/usr/bin/env bash
# Runs Python with what the examples and the tests need:  ./python.sh script.py …   or   ./python.sh -m pytest
#
# The first run makes a virtual environment in .venv and installs the project into it, editable; later runs start at
# once and need no network. It is made anew when pyproject.toml changes, or when the native core is missing and a
# compiler has arrived; where only the native code has changed, the core alone is built, without network. Python is the
# first of $PYTHON, python3.13, python3.12, python3.11 and python3 that is recent enough. ACTUATORS_EXTRA names another extra than "test" to install.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv="$root/.venv"
stamp="$venv/installed"
log="$venv/install.log"

say() { printf '%s\n' "python.sh: $*" >&2; }
fail() { say "$1"; say "$2"; exit 1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
            printf '%s' "$candidate"
            return
        fi
    done
    fail "no Python 3.11, 3.12 or 3.13 found." "Install one, or name it: PYTHON=/path/to/python3.12 ./python.sh …"
}

# one line that keeps changing on a terminal, one line per package elsewhere
show_progress() {
    local line
    while IFS= read -r line; do
        case "$line" in
            Collecting* | Downloading* | Installing* | Building*)
                line=${line%% \(from*}
                if [ -t 2 ]; then printf '\r\033[K  %.100s' "$line" >&2; else printf '  %.100s\n' "$line" >&2; fi
                ;;
        esac
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

compile_core() { (cd "$root" && exec "$venv/bin/python" setup.py --quiet build_ext --inplace); }

# the core is compiled while pip downloads and unpacks the rest
install_all() {
    local compiling installed=0
    "$venv/bin/python" -c '
import subprocess, sys, tomllib
needed = tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "pip"]
sys.exit(subprocess.call([*pip, *needed]))' "$root/pyproject.toml" || return 1
    compile_core &
    compiling=$!
    # modules are compiled when they are first imported
    ACTUATORS_CORE=off "$venv/bin/python" -m pip install --disable-pip-version-check --no-compile \
        --editable "$root[${ACTUATORS_EXTRA:-test}]" || installed=1
    wait "$compiling" && [ "$installed" = 0 ]
}

# what imports may not keep is compiled once, behind the first run
compile_modules() {
    [ -n "${PYTHONDONTWRITEBYTECODE:-}" ] || return 0
    nice "$venv/bin/python" -m compileall -q "$venv"/lib/python*/site-packages </dev/null >/dev/null 2>&1 9>&- &
}

install() {
    local python steps=install_all
    if [ -x "$venv/bin/python" ] && [[ "$(cat "$stamp" 2>/dev/null)" =~ ^"$packages core "[0-9\ ]+$ ]]; then
        say "building the native core, which has changed; this takes one to two minutes."
        steps=compile_core
    else
        python=$(find_python) || exit 1
        say "setting up .venv with $("$python" --version), once; this takes one to four minutes."
        # without pip where the run before was interrupted
        if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 && ! "$python" -m venv "$venv"; then
            rm -rf "$venv"
            fail "'$python -m venv' failed." "On Debian and Ubuntu: apt install python3-venv. Then run this again."
        fi
    fi
    "$steps" 2>&1 | tee "$log" | show_progress
    if [ "${PIPESTATUS[0]}" -ne 0 ]; then
        grep -E '^ *(ERROR|error)|: (fatal )?error:' "$log" | tail -n 5 >&2
        fail "installing failed; all of pip's output is in .venv/install.log." \
            "Check the network and the message above, then run this again; it continues where it stopped."
    fi
    if "$venv/bin/python" -c "import isaacsim.core.experimental.actuators.base.native.core" 2>>"$log"; then
        printf '%s' "$wanted" >"$stamp"
        compile_modules
        say "ready."
    else
        printf '%s' "$wanted without the core: $(list_compilers)" >"$stamp"
        say "ready, without the native core: Warp computes on the CPU, slower. Install g++ or clang++ (and python3-dev); the next run uses it."
    fi
}

# holds file 9 until this shell is gone; macOS has no flock, and what Python locks stays locked
lock() {
    if command -v flock >/dev/null; then
        flock 9
    else
        "$(find_python)" -c "import fcntl; fcntl.flock(9, fcntl.LOCK_EX)" >/dev/null 2>&1
    fi
}

list_compilers() { command -v "${CXX:-c++}" g++ clang++; printf '%s\n' /usr/include/python3*/Python.h; }

is_ready() {
    local found
    found=$(cat "$stamp" 2>/dev/null)
    [ -x "$venv/bin/python" ] &&
        { [ "$found" = "$wanted" ] || [ "$found" = "$wanted without the core: $(list_compilers)" ]; }
}

packages=$(cksum <"$root/pyproject.toml")
wanted="$packages core $(cat "$root/setup.py" "$root"/native/*.h "$root"/native/*.cpp 2>/dev/null | cksum)"
if ! is_ready; then
    if ! { mkdir -p "$venv" && [ -w "$venv" ] && : >>"$venv/lock"; } 2>/dev/null; then
        fail "$venv cannot be written, and must be once, to set it up." \
            "Copy the clone to a folder of yours, and run it there."
    fi
    # two first runs at once wait for each other
    (
        lock
        is_ready || install
    ) 9>>"$venv/lock" || exit 1
fi
exec "$venv/bin/python" "$@"
