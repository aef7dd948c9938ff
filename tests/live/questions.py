"""Asks a model the questions of a case file, its tools offered natively, and counts what can be used.

usage: questions.py BASE_URL CASES TOOLMEND
Prints three shares: usable as received, usable after `toolmend repair`, and right.
Usable: every call names a declared tool and validates. Right: the calls are an accepted answer.
"""
import json
import subprocess
import sys
import urllib.request

base_url, cases, toolmend = sys.argv[1:]


def ask(question):
    body = {"messages": question["question"], "tools": question["tools"], "temperature": 0, "max_tokens": 512}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]


def request_line(question, choice):
    message = choice["message"]
    native = message.get("tool_calls")
    line = {"id": question["id"], "tools": question["tools"], "finish_reason": choice.get("finish_reason")}
    if native:
        return line | {"mode": "native", "raw": [call["function"] for call in native]}
    return line | {"mode": "text", "raw": message.get("content") or ""}


def same(value, accepted):
    if isinstance(value, bool) or isinstance(accepted, bool):
        return value is accepted
    if isinstance(value, str) and isinstance(accepted, str):
        letters = lambda text: "".join(c for c in text.lower() if c.isalnum())
        return letters(value) == letters(accepted)
    if isinstance(value, list) and isinstance(accepted, list):
        return len(value) == len(accepted) and all(map(same, value, accepted))
    if isinstance(value, dict) and isinstance(accepted, dict):
        return fits(value, accepted)
    return value == accepted


def fits(arguments, accepted):
    """Every property has one of its accepted values; "" among them means that it may be left out."""
    if not set(arguments) <= set(accepted):
        return False
    return all(
        any(same(arguments[name], value) for value in values) if name in arguments else "" in values
        for name, values in accepted.items()
    )


def right(calls, accepted):
    left = list(accepted)
    for call in calls:
        match = next((a for a in left if call["name"] in a and fits(call["arguments"], a[call["name"]])), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def main():
    with open(cases, encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    requests = []
    for number, question in enumerate(questions, 1):
        choice = ask(question)
        requests.append(request_line(question, choice))
        print(f"\r{number} of {len(questions)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    answers = subprocess.run([toolmend, "repair"], input=lines, capture_output=True, text=True, check=True).stdout
    received = usable = correct = 0
    for question, request, line in zip(questions, requests, answers.splitlines(), strict=True):
        answer = json.loads(line)
        received += request["mode"] == "native" and answer["outcome"] == "unchanged"
        if answer["outcome"] in ("unchanged", "repaired"):
            usable += 1
            correct += right(answer["calls"], question["accepted"])
    print("| the 0.5B, tools offered natively | of", len(questions), "|")
    print("|---|---|")
    print(f"| usable as received | {received} |")
    print(f"| usable after `toolmend repair` | {usable} |")
    print(f"| right | {correct} |")


main()
