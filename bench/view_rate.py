#!/usr/bin/env python3
"""Rates of `holotone view`: from a control's event until the picture is there, as a page on this machine gets it.

view_rate.py PROGRAM FILE [--device D] [--view NAME] [--control NAME] [--frames N]: starts the server, moves one control
over its range, waits for each picture, and prints for moving (JPEG at the canvas's size) and resting (PNG, all pixels)
pictures the median and the 95 % time in ms, and the pictures a second. Needs the standard library alone.
"""

import argparse
import base64
import json
import os
import socket
import statistics
import struct
import subprocess
import time


class WebSocket:
    """A client of RFC 6455, enough for a server that sends whole messages."""

    def __init__(self, url: str):
        host, path = url.removeprefix("http://").split("/", 1)
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET /{path}socket HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\n"
                f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.stream = self.socket.makefile("rb", buffering=1 << 20)
        assert b"101" in self.stream.readline(), "the server refused the socket"
        while self.stream.readline().strip():
            pass

    def send(self, message: dict):
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        head = b"\x81" + (bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data)))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def frame(self):
        first, second = self.stream.read(2)
        length = second & 127
        if length == 126:
            length = struct.unpack(">H", self.stream.read(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.stream.read(8))[0]
        return first & 128, first & 15, self.stream.read(length)

    def receive(self) -> dict:
        """A message's JSON: all of a text message, or the header of a binary one with the payload's length."""
        parts, kind = [], 0
        while True:
            final, code, data = self.frame()
            if code == 9:
                self.socket.sendall(b"\x8a\x80\0\0\0\0")
                continue
            assert code != 8, "the server closed the socket"
            kind = kind or code
            parts.append(data)
            if final:
                break
        message = b"".join(parts)
        if kind == 1:
            return json.loads(message)
        length = struct.unpack_from("<I", message)[0]
        return json.loads(message[4 : 4 + length]) | {"bytes": len(message) - 4 - length}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--view")
    parser.add_argument("--control", default="distance")
    parser.add_argument("--with", dest="state", default="{}", help="other controls, as JSON")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--size", default="1920x1080", help="the page's canvas")
    arguments = parser.parse_args()
    words = [arguments.program, "view", arguments.file, "--port", "0", "--no-browser", "--json", "--device", arguments.device]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        web = WebSocket(json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["url"])
        web.send({"type": "open"})
        document = web.receive()["documents"][0]
        view = arguments.view or document["views"][0]["name"]
        control = document["controls"][arguments.control]
        size = [int(side) for side in arguments.size.split("x")]
        low, high = control["min"], control["max"]

        def value(i: int):
            part = (i % arguments.frames + 0.5) / arguments.frames
            if control["kind"] == "place":
                return [a + (b - a) * (0.3 + 0.4 * part) for a, b in zip(low, high)]
            return low + (high - low) * (0.3 + 0.4 * part)

        print(f"{document['name']}: {dict(document['facts']).get('pixels')} pixels, {arguments.control} on {arguments.device}")
        for moving in (True, False):
            times, computed = [], []
            for i in range(arguments.frames + 3):
                state = json.loads(arguments.state) | {arguments.control: value(i)}
                started = time.perf_counter()
                web.send({"type": "show", "pane": "a", "id": i + 1 + (0 if moving else 10**6), "document": 0, "view": view,
                          "state": state, "moving": moving, "size": size})
                answer = web.receive()
                assert answer["type"] == "shown", answer
                if i >= 3:
                    times.append(1e3 * (time.perf_counter() - started))
                    computed.append(answer["compute_ms"])
            times.sort()
            middle = statistics.median(times)
            print(f"  {'moving' if moving else 'resting'}: {middle:.1f} ms (95 %: {times[int(0.95 * len(times))]:.1f}), "
                  f"{1e3 / statistics.mean(times):.1f} a second, compute {statistics.median(computed):.1f} ms, "
                  f"{answer['bytes'] / 1e3:.0f} kB {answer['media']}")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
