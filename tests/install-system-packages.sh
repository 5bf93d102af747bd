#!/bin/sh
# Installs the Debian packages that `make test-all` needs: the sandbox, a database server, a browser,
# and the toolchains of the starter kits. Needs root, or sudo.
set -eu
cd "$(dirname "$0")/.."
run=
[ "$(id -u)" = 0 ] || run=sudo
missing=
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
command -v systemd-analyze >/dev/null || missing="$missing systemd"
command -v bwrap >/dev/null || missing="$missing bubblewrap"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
command -v chromium >/dev/null || missing="$missing chromium"
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
kits='from bots.kits import catalogue; print(*{p for kit in catalogue().values() for p in kit.missing()})'
missing="$missing $(${PYTHON:-python3} -c "$kits")"
if [ -n "${missing# }" ]; then
    command -v apt-get >/dev/null || { echo "This needs apt-get. Install by hand:$missing" >&2; exit 1; }
    $run apt-get update --quiet
    # shellcheck disable=SC2086 - a list of words
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
fi
