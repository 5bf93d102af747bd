#!/bin/sh
# Installs the toolchains of all starter kits from Debian packages, as kits.toml names them.
# Skips what is already installed, from Debian or elsewhere. Needs root, or sudo.
set -eu
cd "$(dirname "$0")/../.."
packages=$(${PYTHON:-python3} -m bots.kits)
if [ -z "$packages" ]; then
    echo "Every toolchain is installed."
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "This needs apt-get. Install the equivalent of these packages by hand:" $packages >&2
    exit 1
fi
run=
[ "$(id -u)" = 0 ] || run=sudo
# A stale package list is the usual cause of a failure: update it, then retry.
$run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages || {
    $run apt-get update
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}
