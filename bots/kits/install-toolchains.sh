#!/bin/sh
# Installs the toolchains of all starter kits from Debian's packages (what kits.toml names).
# What is there already, from Debian or elsewhere, is left alone. Needs root, or sudo.
set -eu
cd "$(dirname "$0")/../.."
packages=$(${PYTHON:-python3} -m bots.kits)
if [ -z "$packages" ]; then
    echo "Every toolchain is there."
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "This needs apt-get. Install by hand what brings:" $packages >&2
    exit 1
fi
run=
[ "$(id -u)" = 0 ] || run=sudo
# A stale list of packages is the usual cause of a failure: ask for a new one, then try again.
$run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages || {
    $run apt-get update
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}
