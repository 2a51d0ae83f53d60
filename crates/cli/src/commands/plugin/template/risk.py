
def risk(request):
    """Returns the factors that raise the risk of the calls that come."""
    failed = [action for action in request["actions"] if action["failed"]]
    if any("terraform" in action["programs"] for action in failed):
        return {
            "factors": [
                {
                    "amount": 0.2,
                    "reason": "terraform failed in this session",
                    "programs": ["terraform"],
                }
            ]
        }
    return {"factors": []}
