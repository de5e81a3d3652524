#!/bin/sh
# What the image, or the app of it that is asked for, is made for.
for script in /.singularity.d/env/*.sh; do
    if [ -f "$script" ]; then
        . "$script"
    fi
done
SCIF_APPNAME=${APPTAINER_APPNAME:-${SINGULARITY_APPNAME:-}}
if [ -n "$SCIF_APPNAME" ]; then
    if [ -x "/scif/apps/$SCIF_APPNAME/scif/runscript" ]; then
        exec "/scif/apps/$SCIF_APPNAME/scif/runscript" "$@"
    fi
    echo "the app $SCIF_APPNAME has no runscript" >&2
    exit 1
fi
if [ -x /.singularity.d/runscript ]; then
    exec /.singularity.d/runscript "$@"
fi
exec /bin/sh "$@"
