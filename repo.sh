#!/usr/bin/env bash
# What a Kit repository offers under this name, as far as it needs none of NVIDIA's tools:
#   ./repo.sh package    one zip that Kit loads as it is, in _build/packages
#   ./repo.sh docs       the documentation as web pages, in _build/docs
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"

case "${1:-}" in
    package) shift && exec ./python.sh tools/package.py "$@" ;;
    docs)
        ./python.sh -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
        exec ./python.sh -m sphinx --builder html --fail-on-warning --keep-going --nitpicky docs _build/docs
        ;;
    *)
        sed -n '2,4s/^# \{0,1\}//p' repo.sh >&2
        exit 2
        ;;
esac
