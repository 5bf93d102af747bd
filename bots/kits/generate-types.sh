#!/bin/sh
# Generates the TypeScript kit's types from openapi.yaml. Usage: generate-types.sh [FILE.d.ts]
set -eu
cd "$(dirname "$0")/../.."
npx --yes openapi-typescript@7.13.0 openapi.yaml -o "${1:-bots/kits/typescript/src/api.d.ts}"
