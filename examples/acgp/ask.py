#!/usr/bin/env python3
"""Ask checkrein before acting, over ACGP: `checkrein serve` must run.

    CHECKREIN_TOKEN=$(cat ~/.local/state/checkrein/server/checkrein-view.token) \\
        python3 ask.py 'rm -rf build'

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


def evaluate(url, token, command, cwd, reasoning=""):
    """Returns the payload of the INTERVENTION that answers an EVAL about a shell command."""
    message = {
        "protocol": "acgp",
        "protocol_version": "1.0.0",
        "message_type": "EVAL",
        "message_id": str(uuid.uuid4()),
        "timestamp": datetime.now(timezone.utc).isoformat(),
        "sender_id": "urn:acgp:agent:example",
        "receiver_id": "urn:acgp:steward:checkrein",
        "payload": {
            "trace_id": str(uuid.uuid4()),
            "reasoning": reasoning,
            "action": {"name": "Bash", "parameters": {"command": command, "cwd": cwd}},
        },
    }
    request = urllib.request.Request(
        url + "/acgp/v1/messages",
        data=json.dumps(message).encode(),
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["payload"]


def main():
    parser = argparse.ArgumentParser(description="Ask checkrein before acting.")
    parser.add_argument("--url", default="http://127.0.0.1:7717")
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("command")
    wanted = parser.parse_args()
    try:
        verdict = evaluate(wanted.url, os.environ["CHECKREIN_TOKEN"], wanted.command, wanted.cwd)
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
