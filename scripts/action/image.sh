#!/usr/bin/env bash
# Makes the image: pressed by the start of INPUT_COMMAND, else built, by INPUT_PROFILE if there is
# one. What press measures is kept in a history of this job.
set -euo pipefail

# Words with quotes, as in a shell; they come from whoever wrote the workflow.
declare -a options="($INPUT_OPTIONS)" command="($INPUT_COMMAND)"
[ -z "$INPUT_PROFILE" ] || options+=(--profile "$INPUT_PROFILE")
if [ ${#command[@]} = 0 ]; then
    exec coldpress build "${options[@]}" "$INPUT_SOURCE" "$INPUT_IMAGE"
fi
# Cold starts are measured by root alone.
run=(env)
[ "$(id -u)" = 0 ] || run=(sudo env "PATH=$PATH")
history=$RUNNER_TEMP/coldpress-press.sqlite
"${run[@]}" rm -f "$history" "$history"-*
"${run[@]}" "COLDPRESS_HISTORY=$history" \
    coldpress press "${options[@]}" "$INPUT_SOURCE" -o "$INPUT_IMAGE" -- "${command[@]}"
