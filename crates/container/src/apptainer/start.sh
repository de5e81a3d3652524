#!/bin/sh
# An instance: its first process waits for this signal.
kill -CONT 1
for script in /.singularity.d/env/*.sh; do
    if [ -f "$script" ]; then
        . "$script"
    fi
done
if [ -x /.singularity.d/startscript ]; then
    exec /.singularity.d/startscript
fi
