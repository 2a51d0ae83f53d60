
def exporter(request):
    """Sends records as JSON Lines to a collector on this machine, such as Fluent Bit."""
    import socket

    records = request["records"]
    if not records:
        return {"taken": 0}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    with socket.create_connection(("127.0.0.1", 5170), timeout=5) as connection:
        connection.sendall(lines.encode())
    return {"taken": records[-1]["seq"]}
