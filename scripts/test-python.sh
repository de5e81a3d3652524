#!/usr/bin/env bash
# The tests of the Python package, as it is when it is installed into an environment of its own.
#
#   scripts/test-python.sh            what cargo compiled for the tests: test.sh does this
#   scripts/test-python.sh WHEEL...   wheels, with the python3 of the variable PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
need_python ruff mypy pytest fsspec || exit 2

environment=$PWD/target/python-environment
rm -rf "$environment"
"${PYTHON:-python3}" -m venv "$environment"
pip() { "$environment/bin/pip" install --quiet --disable-pip-version-check "$@"; }
site=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if [ $# -gt 0 ]; then
    pip "$@" pytest fsspec
else
    pip pytest fsspec
    # The same unit of compilation as the tests of the workspace, so little is compiled again.
    # Python's own functions are those of the interpreter that loads it.
    PYO3_BUILD_EXTENSION_MODULE=1 cargo build --quiet --workspace --lib \
        --features coldpress-cli/http,coldpress-python/http
    cp -r python/coldpress "$site/"
    cp target/debug/lib_native.so "$site/coldpress/_native.abi3.so"
    export COLDPRESS_PROGRAM=$PWD/target/debug/coldpress
    # What pip writes of a wheel: fsspec finds the file system by it.
    "$environment/bin/python" - "$site" <<'PYTHON'
import pathlib, sys, tomllib
project = tomllib.loads(pathlib.Path("python/pyproject.toml").read_text())["project"]
about = pathlib.Path(sys.argv[1], "coldpress-0.dist-info")
about.mkdir()
(about / "METADATA").write_text("Metadata-Version: 2.1\nName: coldpress\nVersion: 0\n")
lines = []
for group, entries in project["entry-points"].items():
    lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
(about / "entry_points.txt").write_text("\n".join(lines) + "\n")
PYTHON
fi

cd python
"$PYTHON_TOOLS/bin/ruff" check --quiet .
"$PYTHON_TOOLS/bin/ruff" format --quiet --check .
"$PYTHON_TOOLS/bin/mypy"
# Not the sources but what was installed; the examples in its documentation are run.
"$environment/bin/pytest" -q -p no:cacheprovider tests "$site/coldpress"
