#!/bin/sh
# A shell: the one that is asked for, or the best that the image has.
for script in /.singularity.d/env/*.sh; do
    if [ -f "$script" ]; then
        . "$script"
    fi
done
for SHELL in "${APPTAINER_SHELL:-}" "${SINGULARITY_SHELL:-}"; do
    if [ -n "$SHELL" ] && [ -x "$SHELL" ]; then
        export SHELL
        exec "$SHELL" "$@"
    fi
done
if [ -x /bin/bash ]; then
    SHELL=/bin/bash
    export SHELL
    exec /bin/bash --norc "$@"
fi
SHELL=/bin/sh
export SHELL
exec /bin/sh "$@"
