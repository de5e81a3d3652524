#!/usr/bin/env bash
# Unpacks a release and puts it into PATH for the steps that follow.
#
# INPUT_RELEASE    a tarball, a path or a URL; empty for that of INPUT_VERSION
# INPUT_VERSION    empty for the version of ACTION_REF, the tag of the action
set -euo pipefail

directory=$RUNNER_TEMP/coldpress
mkdir -p "$directory"
release=$INPUT_RELEASE
if [ -z "$release" ]; then
    version=${INPUT_VERSION:-$ACTION_REF}
    version=${version#v}
    case $version in
        [0-9]*) ;;
        *)
            echo "::error::the action is used at '$version', which is no release: give a version"
            exit 1
            ;;
    esac
    release=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/v$version
    release+=/coldpress-$version-$(uname -m)-linux.tar.gz
fi

name=${release##*/}
case $release in
    http://* | https://*)
        curl --fail --silent --show-error --location -o "$directory/$name" "$release"
        curl --fail --silent --show-error --location -o "$directory/SHA256SUMS" \
            "${release%/*}/SHA256SUMS"
        ;;
    *)
        cp "$release" "$directory/$name"
        # Who hands a file over may leave the checksums out.
        sums=$(dirname "$release")/SHA256SUMS
        [ ! -f "$sums" ] || cp "$sums" "$directory"
        ;;
esac
if [ -f "$directory/SHA256SUMS" ]; then
    (cd "$directory" && grep -F "  $name" SHA256SUMS | sha256sum --check --strict --quiet)
fi
tar -xzf "$directory/$name" --strip-components=1 -C "$directory"
"$directory/bin/coldpress" --version
echo "$directory/bin" >>"$GITHUB_PATH"
