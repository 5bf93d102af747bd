#!/bin/sh
# Fills a folder with links to the programs on PATH, except those that a bare machine lacks. Used as
# PATH, the folder shows whether the tests need more than Python, git and make.
# Node.js stays, for the tests of the JavaScript in the pages.
# Usage: bare_path.sh FOLDER
set -eu
mkdir -p "$1"
IFS=:
for folder in $PATH; do
    for program in "$folder"/*; do
        name=${program##*/}
        case $name in
            bwrap | curl | wget | chromium* | chromedriver | google-chrome* | nginx) ;;
            pg_* | psql | postgres | initdb | systemctl | systemd-* | loginctl | openssl) ;;
            npm | npx | go | gofmt | cargo* | rustc | rustup | java | javac | dotnet | gcc* | g++* | cc | c++ | clang*) ;;
            *) [ ! -x "$program" ] || [ -e "$1/$name" ] || ln -s "$program" "$1/$name" ;;
        esac
    done
done
