"""{NAME}: a plugin of Checkrein.

Each line on standard input is a request, each line on standard output the answer to one.
What it prints on standard error is shown when it fails.
"""

import json
import sys


{FUNCTIONS}


ANSWERS = {
{ROWS}}

print(json.dumps({"protocol": 1, "name": "{NAME}", "kinds": [{KINDS}]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = ANSWERS[request["kind"]](request)
    except OSError as error:
        answer = {"error": str(error)}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
