
def interventions(request):
    """Returns words for the agent, and the mildest rung: it never makes anything milder."""
    if request["issue"]["kind"] == "stuck_loop":
        return {
            "words": "Say what you expected of this call, and what you saw.",
            "rung": "context_reinforcement",
        }
    return {}
