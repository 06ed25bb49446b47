#!/opt/python/bin/python3 -IS
"""Carries tool requests from a unix socket to standard output, and answers from standard input back.

Standard library only; knows nothing of what the tools do. JSON lines of at most 64 KiB on both sides:
to the harness    {"id": 7, "tool": "score", "argv": [], "directory": "/home/coder"}
from the harness  {"id": 7, "stream": "stdout", "data": "<base64>"} ... {"id": 7, "exit": 0}
One request is served at a time, eight may wait, more are refused. Ends when standard input ends.
"""

import argparse
import collections
import json
import os
import selectors
import socket
import struct
import sys
import time

LINE = 64 * 1024
WAITING = 8
CONNECTIONS = 32
PATIENCE = 10.0
REFUSED = 75
MALFORMED = 64


class Client:
    """One connection of a shim, from its first byte to its last."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = b""
        self.unsent = b""
        self.since = time.monotonic()
        self.request: dict | None = None
        self.closing = False


def parse_request(line: bytes) -> dict | None:
    """The request of a line, or nothing when it is not exactly of the agreed form."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or set(request) != {"tool", "argv", "directory"}:
        return None
    tool, argv, directory = request["tool"], request["argv"], request["directory"]
    texts = isinstance(tool, str) and isinstance(directory, str) and isinstance(argv, list)
    if not texts or not all(isinstance(argument, str) for argument in argv):
        return None
    return request


class Relay:
    """The requests under way and those that wait."""

    def __init__(self, listener: socket.socket, accepted: int, first: int) -> None:
        self.listener = listener
        self.accepted = accepted
        self.next = first
        self.served: tuple[int, Client | None] | None = None
        self.waiting: collections.deque[Client] = collections.deque()
        self.clients: set[Client] = set()
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, None)
        os.set_blocking(0, False)
        self.selector.register(0, selectors.EVENT_READ, "harness")
        self.answers = b""

    def run(self) -> int:
        """Serves until the harness closes the stream."""
        while True:
            for key, events in self.selector.select(1.0):
                if key.data is None:
                    self.accept()
                elif key.data == "harness":
                    code = self.from_harness()
                    if code is not None:
                        return code
                elif key.data in self.clients:
                    self.from_client(key.data, events)
            now = time.monotonic()
            for client in list(self.clients):
                if client.request is None and now - client.since > PATIENCE:
                    self.drop(client)

    def accept(self) -> None:
        """Takes a connection of the accepted user only."""
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, uid, _ = struct.unpack("3i", credentials)
        if uid != self.accepted or len(self.clients) >= CONNECTIONS:
            connection.close()
            return
        connection.setblocking(False)
        client = Client(connection)
        self.clients.add(client)
        self.selector.register(connection, selectors.EVENT_READ, client)

    def from_client(self, client: Client, events: int) -> None:
        """Reads a request, or sends what is left to send."""
        if events & selectors.EVENT_WRITE:
            self.flush(client)
        if client not in self.clients or not events & selectors.EVENT_READ:
            return
        try:
            received = client.connection.recv(LINE)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self.drop(client)
            return
        if client.request is not None:
            return
        client.received += received
        line, newline, rest = client.received.partition(b"\n")
        if not newline and len(line) <= LINE:
            return
        request = parse_request(line) if newline and not rest and len(line) < LINE else None
        if request is None:
            self.finish(client, MALFORMED)
        elif len(self.waiting) >= WAITING and self.served is not None:
            self.finish(client, REFUSED)
        else:
            client.request = request
            self.waiting.append(client)
            self.serve()

    def serve(self) -> None:
        """Hands the next request to the harness when none is under way."""
        while self.served is None and self.waiting:
            client = self.waiting.popleft()
            line = (json.dumps({"id": self.next, **(client.request or {})}) + "\n").encode()
            if len(line) > LINE:
                self.finish(client, MALFORMED)
                continue
            self.served = (self.next, client)
            self.next += 1
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def from_harness(self) -> int | None:
        """Passes answers on; ends when the stream ends."""
        try:
            received = os.read(0, LINE)
        except BlockingIOError:
            return None
        if not received:
            return 0
        self.answers += received
        *lines, self.answers = self.answers.split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if self.served is None or answer.get("id") != self.served[0]:
                continue
            client = self.served[1]
            ends = "exit" in answer
            if ends:
                self.served = None
            if client is not None:
                client.closing = ends
                self.send(client, line + b"\n")
        self.serve()
        return None

    def finish(self, client: Client, code: int) -> None:
        """Ends a request that never reached the harness."""
        client.request = client.request or {}
        client.closing = True
        self.send(client, json.dumps({"id": 0, "exit": code}).encode() + b"\n")

    def send(self, client: Client, data: bytes) -> None:
        """Queues bytes for a shim; one that does not read holds back nobody but itself."""
        client.unsent += data
        self.flush(client)

    def flush(self, client: Client) -> None:
        """Sends what the connection takes."""
        try:
            sent = client.connection.send(client.unsent) if client.unsent else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self.drop(client)
            return
        client.unsent = client.unsent[sent:]
        if client.closing and not client.unsent:
            self.drop(client)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
        self.selector.modify(client.connection, wanted, client)

    def drop(self, client: Client) -> None:
        """Forgets a connection. A request under way goes on; its answer has no reader any more."""
        if client not in self.clients:
            return
        self.clients.remove(client)
        self.selector.unregister(client.connection)
        client.connection.close()
        if client in self.waiting:
            self.waiting.remove(client)
        if self.served is not None and self.served[1] is client:
            self.served = (self.served[0], None)


def main() -> int:
    """Listens on the socket until the harness goes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket", required=True)
    parser.add_argument("--uid", type=int, required=True)
    parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    if os.path.exists(arguments.socket):
        os.unlink(arguments.socket)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(arguments.socket)
        os.chmod(arguments.socket, 0o666)
        listener.listen(CONNECTIONS)
        listener.setblocking(False)
        print(json.dumps({"ready": True}), flush=True)
        return Relay(listener, arguments.uid, arguments.first).run()


if __name__ == "__main__":
    sys.exit(main())
