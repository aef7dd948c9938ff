"""Seeds the corpora from the case files: one file for each text and each pair of names."""

import hashlib
import json
import pathlib
import random

HERE = pathlib.Path(__file__).parent
CASES = HERE.parent / "tests" / "cases"


def save(target, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def texts(row):
    """What a model wrote, wherever a case keeps it."""
    raw = row.get("raw", row.get("input"))
    for call in raw if isinstance(raw, list) else [raw]:
        if isinstance(call, dict):
            call = call.get("arguments")
        if isinstance(call, str):
            yield call


def spoken_names(row):
    """The emitted name and those of the tools, where a case has one of each."""
    raw = row.get("raw")
    emitted = row.get("emitted") or (raw.get("name") if isinstance(raw, dict) else None)
    if isinstance(emitted, str):
        yield emitted
        for tool in row.get("tools") or []:
            yield tool if isinstance(tool, str) else tool.get("function", tool).get("name", "")


# Schema, value and breakage are all made of the fuzzer's bytes: any will do, if there are enough.
dice = random.Random(1)
for _ in range(300):
    save("schema_value", dice.randbytes(dice.randrange(50, 1500)))

for file in sorted(CASES.rglob("*.jsonl")):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line) if line.strip() else {}
        if names := list(spoken_names(row)):
            save("names", "\n".join(names).encode("utf-8", "replace"))
        for text in texts(row):
            choice = bytes([number % 12, number % 3])
            save("text", choice + text.encode("utf-8", "replace"))
