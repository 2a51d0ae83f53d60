def seconds(text):
    if not text.endswith("s"):
        raise ValueError(f"not a duration: {text}")
    return int(text[:-1])
