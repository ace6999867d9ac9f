#!/usr/bin/env bash
# Measures what checking costs; `bench/run.sh --help` lists the options.
exec python3 "$(dirname "$0")/run.py" "$@"
