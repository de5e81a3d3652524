#!/usr/bin/env bash
# Compares STUDY with the file INPUT_BASE. Says `status`, the exit status of the comparison, and
# `markdown`, a file with its table, to the steps that follow, which end the job.
set -euo pipefail

if [ -z "$STUDY" ] || [ -z "$INPUT_BASE" ]; then
    exit
fi
if [ ! -f "$INPUT_BASE" ]; then
    echo "::notice::$INPUT_BASE is missing: this run is the first, and nothing is compared"
    exit
fi
conditions=()
while read -r condition; do
    [ -z "$condition" ] || conditions+=(--fail-if "$condition")
done <<<"$INPUT_FAIL_IF"
markdown=$RUNNER_TEMP/coldpress.md
status=0
coldpress bench compare "$INPUT_BASE" "$STUDY" "${conditions[@]}" --markdown "$markdown" ||
    status=$?
echo "status=$status" >>"$GITHUB_OUTPUT"
if [ -f "$markdown" ]; then
    cat "$markdown" >>"$GITHUB_STEP_SUMMARY"
    echo "markdown=$markdown" >>"$GITHUB_OUTPUT"
fi
