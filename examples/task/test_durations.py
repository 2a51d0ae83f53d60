from durations import seconds


def test_seconds():
    assert seconds("90s") == 90


def test_minutes():
    assert seconds("2m") == 120
