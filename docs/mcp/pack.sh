#!/bin/sh
# Makes what is published of psb mcp: sh docs/mcp/pack.sh BINARY VERSION OWNER INTO
# INTO/psb-mcp-VERSION.mcpb, which desktop clients open, and INTO/server.json for the registry, with its hash.
set -eu
here=$(dirname "$0") binary=$1 version=$2 owner=$3 into=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$into" "$work/server"
install -m 0755 "$binary" "$work/server/psb"
sed "s/@VERSION@/$version/g" "$here/manifest.json" > "$work/manifest.json"
bundle=psb-mcp-$version.mcpb
(cd "$work" && python3 -m zipfile -c "$bundle" manifest.json server)
mv "$work/$bundle" "$into/$bundle"
sum=$(sha256sum "$into/$bundle" | cut -d' ' -f1)
sed "s/@VERSION@/$version/g; s/@OWNER@/$owner/g; s/@SHA256@/$sum/g" "$here/server.json" > "$into/server.json"
echo "$into/$bundle"
