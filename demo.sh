#!/usr/bin/env bash
# Builds coldpress, takes this machine's python3 with its standard library as the application, and
# presses it: what a start from a slow stick costs with mksquashfs's image, and with the pressed one.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh
need_compilers
have python3 || apt_install python3 || { echo "$0: install python3" >&2; exit 2; }
have mksquashfs || apt_install squashfs-tools || echo "mksquashfs is not installed, so not compared" >&2

cargo build --release --quiet -p coldpress-cli

# The interpreter and its library, laid out as a relocatable Python: bin/python3, lib/python3.N.
app=target/demo/python
rm -rf "$app"
mkdir -p "$app/bin" "$app/lib"
python3 - "$app" <<'PYTHON'
import os, shutil, sys, sysconfig
app = sys.argv[1]
shutil.copy2(os.path.realpath(sys.executable), f"{app}/bin/python3")
# Not what is installed beside the standard library. Times are kept: compiled modules depend on them.
leave_out = shutil.ignore_patterns("site-packages", "dist-packages")
stdlib = sysconfig.get_path("stdlib")
shutil.copytree(stdlib, f"{app}/lib/{os.path.basename(stdlib)}", symlinks=True, ignore=leave_out)
PYTHON

run=()
[ "$(id -u)" = 0 ] || { sudo -n true 2>/dev/null && run=(sudo -n); }
"${run[@]}" target/release/coldpress press "$app" -o target/demo/python.sqfs \
    --device usb2 --report target/demo/report.html -- \
    "$app/bin/python3" -I -S -B -c \
    'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config'
