
def patterns(request):
    """Returns the issues that stand. One that is named no more has ended."""
    failed = [action for action in request["actions"] if action["failed"]]
    if len(failed) < 5:
        return {"issues": []}
    return {
        "issues": [
            {
                "kind": "many_failures",
                "severity": "medium",
                "summary": f"{len(failed)} of the last {len(request['actions'])} calls failed",
                "advice": "read the last error before the next call",
                "actions": [action["number"] for action in failed],
            }
        ]
    }
