#!/usr/bin/env python3
"""Ask checkrein before acting, over ACGP: `checkrein serve` must run.

    CHECKREIN_TOKEN=$(cat ~/.local/state/checkrein/server/checkrein-view.token) \\
        python3 ask.py --people 'rm -rf build'

With `--people` a command that is asked about is put to a person, who answers in the console, by `checkrein approval`, or by the API.

The key of the viewer is enough: a question changes nothing. Exit status, as that of `checkrein check`: 0 act, 2 do not, 3 ask a person
first, 1 nothing is known. Only the standard library is used.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone

STATUSES = {"ok": 0, "nudge": 0, "escalate": 3, "block": 2, "halt": 2}


def send(url, token, kind, payload):
    """Returns the payload of the answer to a message."""
    message = {
        "protocol": "acgp",
        "protocol_version": "1.0.0",
        "message_type": kind,
        "message_id": str(uuid.uuid4()),
        "timestamp": datetime.now(timezone.utc).isoformat(),
        "sender_id": "urn:acgp:agent:example",
        "receiver_id": "urn:acgp:steward:checkrein",
        "payload": payload,
    }
    request = urllib.request.Request(
        url + "/acgp/v1/messages",
        data=json.dumps(message).encode(),
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["payload"]


def trace(command, cwd, reasoning):
    """Returns what is asked about."""
    return {
        "trace_id": str(uuid.uuid4()),
        "reasoning": reasoning,
        "action": {"name": "Bash", "parameters": {"command": command, "cwd": cwd}},
    }


def ask_people(url, token, asked, timeout):
    """Puts a question to people and waits for its answer. The yes is good for one action: act on it at once, and once."""
    stands = send(url, token, "HITL", {**asked, "timeout_seconds": timeout, "wait_seconds": 1})
    while stands["intervention"] == "escalate":
        # With the action, so that the answer to anything else is refused.
        stands = send(url, token, "HITL", {**asked, "hitl_id": stands["hitl_id"], "wait_seconds": 20})
    return stands


def main():
    parser = argparse.ArgumentParser(description="Ask checkrein before acting.")
    parser.add_argument("--url", default="http://127.0.0.1:7717")
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("--reasoning", default="")
    parser.add_argument("--people", action="store_true", help="put what is asked about to a person")
    parser.add_argument("--timeout", type=int, default=300, help="seconds after which the answer is no")
    parser.add_argument("command")
    wanted = parser.parse_args()
    asked = trace(wanted.command, wanted.cwd, wanted.reasoning)
    try:
        token = os.environ["CHECKREIN_TOKEN"]
        verdict = send(wanted.url, token, "EVAL", asked)
        if wanted.people and verdict["intervention"] == "escalate":
            verdict = ask_people(wanted.url, token, asked, wanted.timeout)
    except KeyError:
        print("set CHECKREIN_TOKEN to the key of the server", file=sys.stderr)
        return 1
    except (urllib.error.URLError, ValueError) as error:
        # What was not answered is not allowed.
        print(f"not answered: {error}", file=sys.stderr)
        return 1
    print(json.dumps(verdict, indent=2))
    return STATUSES.get(verdict["intervention"], 1)


if __name__ == "__main__":
    sys.exit(main())
