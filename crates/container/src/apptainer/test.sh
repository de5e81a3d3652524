#!/bin/sh
# The tests of the image, or of the app of it that is asked for.
for script in /.singularity.d/env/*.sh; do
    if [ -f "$script" ]; then
        . "$script"
    fi
done
SCIF_APPNAME=${APPTAINER_APPNAME:-${SINGULARITY_APPNAME:-}}
if [ -n "$SCIF_APPNAME" ]; then
    if [ -x "/scif/apps/$SCIF_APPNAME/scif/test" ]; then
        exec "/scif/apps/$SCIF_APPNAME/scif/test" "$@"
    fi
    echo "the app $SCIF_APPNAME has no tests" >&2
    exit 1
fi
if [ -x /.singularity.d/test ]; then
    exec /.singularity.d/test "$@"
fi
echo "the container has no tests"
