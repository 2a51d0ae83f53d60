
def approvals(request):
    """Posts a notice to a server on this machine, such as ntfy. A question brings a link."""
    import urllib.request

    notice = request["notice"]
    if not notice.get("text"):
        return {"error": "the notice has no text"}
    post = urllib.request.Request(
        "http://127.0.0.1:2586/checkrein",
        data=notice["text"].encode(),
        headers={"Title": notice["title"]},
    )
    urllib.request.urlopen(post, timeout=5).close()
    return {"told": True}
