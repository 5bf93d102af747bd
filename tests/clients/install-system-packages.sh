#!/bin/sh
# Installs the Debian packages that `make test-clients` needs to compile clients in Go and Java, if this
# user may. Without them the tests of these clients are skipped, and say why.
set -eu
missing=
command -v go >/dev/null || missing="$missing golang-go"
command -v javac >/dev/null || missing="$missing default-jdk-headless"
[ -f /usr/share/java/jackson-databind.jar ] || missing="$missing libjackson2-databind-java"
[ -n "$missing" ] && command -v apt-get >/dev/null || exit 0
run=
[ "$(id -u)" = 0 ] || run="sudo --non-interactive"
# shellcheck disable=SC2086 - a list of words
{ $run apt-get update --quiet && $run apt-get install -y --no-install-recommends $missing; } ||
    echo "Install by hand:$missing" >&2
