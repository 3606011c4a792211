"""The real program: its files, its server, and a client of the protocol."""

import json
import os
import shlex
import signal
import struct
import subprocess
from pathlib import Path

from websockets.sync.client import connect

PROGRAM = os.environ.get("HOLOTONE_PROGRAM", "")


def holotone(folder: Path, line: str) -> str:
    """Runs `holotone LINE` in a folder; returns its standard output."""
    done = subprocess.run([PROGRAM, *shlex.split(line)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Viewing:
    """`holotone view`, running. `url` is the page's."""

    def __init__(self, folder: Path, line: str, environment: dict | None = None):
        self.folder = folder
        words = [PROGRAM, "view", *shlex.split(line), "--port", "0", "--no-browser", "--json"]
        self.process = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
            # A shell starts what runs in the background with SIGINT ignored, which programs inherit.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        self.url = json.loads("".join(lines))["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(10) == 0, self.process.stderr.read()

    def client(self):
        return Client(self.url)


class Client:
    """Speaks the protocol of web/server."""

    def __init__(self, url: str):
        origin = "/".join(url.split("/")[:3])
        self.socket = connect(url.replace("http:", "ws:") + "socket", origin=origin, max_size=None, legacy=True)
        self.number = 0
        self.notices = []
        self.documents = self.ask({"type": "open"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self, seconds: float = 60):
        """A message: (header, payload) or (text message, None)."""
        message = self.socket.recv(seconds)
        if isinstance(message, str):
            return json.loads(message), None
        length = struct.unpack_from("<I", message)[0]
        return json.loads(message[4 : 4 + length]), message[4 + length :]

    def ask(self, message: dict) -> dict:
        self.socket.send(json.dumps(message))
        while True:
            header, _ = self.receive()
            if header["type"] == "documents":
                return header
            self.notices.append(header)

    def show(self, view: str, state: dict | None = None, document=0, moving=False, size=(1920, 1080), pane="a"):
        """The answer to a "show" at rest: (header, payload)."""
        self.number += 1
        self.socket.send(
            json.dumps(
                {
                    "type": "show",
                    "pane": pane,
                    "id": self.number,
                    "document": document,
                    "view": view,
                    "state": state or {},
                    "moving": moving,
                    "size": size,
                }
            )
        )
        while True:
            header, payload = self.receive()
            if header["type"] in ("shown", "error") and header.get("id") == self.number:
                return header, payload
            if header["type"] == "documents":
                self.documents = header
            else:
                self.notices.append(header)
