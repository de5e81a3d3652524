#!/usr/bin/env bash
# Measures with `coldpress bench INPUT_BENCH`, and writes that, or else what press measured, to the
# file INPUT_STUDY. Says `study=FILE` to the steps that follow, or nothing if nothing was measured.
set -euo pipefail

declare -a bench="($INPUT_BENCH)"
history=$RUNNER_TEMP/coldpress-press.sqlite
run=(env)
[ "$(id -u)" = 0 ] || ! sudo -n true 2>/dev/null || run=(sudo env "PATH=$PATH")
if [ ${#bench[@]} != 0 ]; then
    history=$RUNNER_TEMP/coldpress-bench.sqlite
    # A job may use the action several times; one study is compared.
    "${run[@]}" rm -f "$history" "$history"-*
    "${run[@]}" "COLDPRESS_HISTORY=$history" coldpress bench "${bench[@]}"
elif [ -z "$INPUT_COMMAND" ]; then
    exit
fi
# The history is root's if root measured.
"${run[@]}" "COLDPRESS_HISTORY=$history" \
    coldpress history export --quiet --format json >"$INPUT_STUDY"
echo "study=$INPUT_STUDY" >>"$GITHUB_OUTPUT"
