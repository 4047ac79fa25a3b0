#!/bin/bash
# The action's step: unpacks WIRETAPE_ARCHIVE (a path or an address) below RUNNER_TEMP once its digest is WIRETAPE_SHA256, and
# tells the runner where the program is.
set -euo pipefail

fail() {
    echo "::error::wiretape: $*" >&2
    exit 1
}

: "${RUNNER_TEMP:?is set by the runner}" "${GITHUB_PATH:?is set by the runner}" "${GITHUB_OUTPUT:?is set by the runner}"
archive=${WIRETAPE_ARCHIVE:-}
[ -n "$archive" ] || fail "the input 'archive' names no tarball"
folder=$RUNNER_TEMP/wiretape
rm -rf "$folder"
mkdir -p "$folder"

case $archive in
https://* | http://127.0.0.1:*)
    curl --fail --silent --show-error --location --retry 3 --output "$folder.tar.gz" "$archive" ||
        fail "$archive cannot be fetched"
    archive=$folder.tar.gz
    ;;
*://*) fail "$archive: only https addresses are fetched" ;;
*) [ -f "$archive" ] || fail "there is no file $archive" ;;
esac

if [ -n "${WIRETAPE_SHA256:-}" ]; then
    digest=$(sha256sum "$archive" | cut -d ' ' -f 1)
    [ "$digest" = "$WIRETAPE_SHA256" ] || fail "the digest of $archive is $digest, and has to be $WIRETAPE_SHA256"
fi
tar -xzf "$archive" -C "$folder" --strip-components=1 || fail "$archive is no tarball of wiretape"
program=$folder/bin/wiretape
said=$("$program" version) || fail "the program of $archive does not run on this machine"

echo "$folder/bin" >>"$GITHUB_PATH"
{
    echo "version=${said#wiretape }"
    echo "path=$program"
} >>"$GITHUB_OUTPUT"
echo "$said is on PATH"
