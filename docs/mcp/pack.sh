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
# Files alone: the unpacker of the format's own makers fails on a folder's entry.
(cd "$work" && python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    for name in sys.argv[2:]: z.write(name)' "$bundle" manifest.json server/psb)
mv "$work/$bundle" "$into/$bundle"
sum=$(sha256sum "$into/$bundle" | cut -d' ' -f1)
sed "s/@VERSION@/$version/g; s/@OWNER@/$owner/g; s/@SHA256@/$sum/g" "$here/server.json" > "$into/server.json"
echo "$into/$bundle"
