#!/bin/sh
# The README's first two minutes: learn the bundled example in a throw-away copy, show the policy, enforce it, show one denial.
set -eu
psb=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
example=$(cd "$(dirname "$0")/example" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM
mkdir "$dir/report"
cp -R "$example/." "$dir/report"
cd "$dir/report"
export XDG_CONFIG_HOME="$dir/.config" XDG_STATE_HOME="$dir/.state"

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

step psb --learn report.py
"$psb" --learn report.py
step cat .py-sandboxes
cat .py-sandboxes
step psb report.py
"$psb" report.py
step psb report.py eu
status=0
"$psb" report.py eu 2>denied || status=$?
cat denied >&2
if [ "$status" = 0 ] || ! grep -q '^psb: denied: read data/eu.csv' denied || ! grep -q '^psb: hint: psb policy add read data/eu.csv' denied; then
  echo 'try: data/eu.csv was not refused as it should be' >&2
  exit 1
fi
step psb policy add read data/eu.csv
"$psb" policy add read data/eu.csv
step psb report.py eu
"$psb" report.py eu
printf '\npsb works here. Next: psb doctor, README.md, docs/policy.md\n'
