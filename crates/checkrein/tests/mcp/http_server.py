"""A scripted MCP server at an address: streamable HTTP with answers as `json` or as `events`; `closed` lets nobody in. What it hears goes to
its second argument. Prints its port."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FORM, HEARD = sys.argv[1], sys.argv[2]
TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


def result(message):
    method, parameters = message["method"], message.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "echo"}, {"name": "get_secret"}, {"name": "send_message"}]}
    if method == "tools/call":
        words = "the token is " + TOKEN if parameters["name"] == "get_secret" else "done: " + parameters["name"]
        return {"content": [{"type": "text", "text": words}]}
    return {} if method == "ping" else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def hear(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open(HEARD, "a") as file:
            file.write(json.dumps({"method": self.command, "headers": headers, "body": body}) + "\n")
        return body

    def say(self, status, kind=None, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, messages, **headers):
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, message in enumerate(messages):
            text = json.dumps(message, indent=1)
            lines = "".join("data: " + line + "\r\n" for line in text.split("\n"))
            self.wfile.write((": x\r\nid: " + str(number) + "\r\n" + lines + "\r\n").encode())
            self.wfile.flush()
        self.close_connection = True

    def do_POST(self):
        body = self.hear()
        if FORM == "closed":
            return self.say(401)
        message = json.loads(body)
        if "id" not in message or "method" not in message:
            return self.say(202)
        found = result(message)
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if found is None:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        else:
            answer["result"] = found
        session = {"Mcp_Session_Id": "s-1"} if message["method"] == "initialize" else {}
        if FORM == "json":
            self.say(200, "application/json", json.dumps(answer, indent=1).encode(), **session)
        else:
            self.stream([answer], **session)

    def do_GET(self):
        self.hear()
        if FORM != "events":
            return self.say(405)
        self.stream([{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}}])
        time.sleep(30)

    def do_DELETE(self):
        self.hear()
        self.say(200)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
