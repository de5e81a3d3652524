#!/bin/sh
# Where the app is that is asked for (scientific file system).
SCIF_APPNAME=${APPTAINER_APPNAME:-${SINGULARITY_APPNAME:-}}
if [ -n "$SCIF_APPNAME" ]; then
    if [ ! -d "/scif/apps/$SCIF_APPNAME" ]; then
        echo "the container has no app $SCIF_APPNAME" >&2
        exit 1
    fi
    SCIF_APPS=/scif/apps
    SCIF_APPROOT=/scif/apps/$SCIF_APPNAME
    export SCIF_APPS SCIF_APPROOT SCIF_APPNAME
    PATH=$SCIF_APPROOT:$PATH
    if [ -d "$SCIF_APPROOT/bin" ]; then
        PATH=$SCIF_APPROOT/bin:$PATH
    fi
    export PATH
    if [ -d "$SCIF_APPROOT/lib" ]; then
        LD_LIBRARY_PATH=$SCIF_APPROOT/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        export LD_LIBRARY_PATH
    fi
    for script in "$SCIF_APPROOT"/scif/env/*.sh; do
        if [ -f "$script" ]; then
            . "$script"
        fi
    done
else
    unset SCIF_APPNAME
fi
