"""A server that speaks the protocol of the page, for tests of the page. `python fake_server.py` serves it for a look."""

import asyncio
import json
import struct
import threading
import time

from aiohttp import WSMsgType, web

from documents import DOCUMENTS, answer, documents_message, hologram
from store import PAGE

TOKEN = "0123456789abcdef0123456789abcdef"
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:",
}


def binary(header: dict, payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + payload


class FakeServer:
    """Runs in a thread of its own. `log` holds the messages that came; `delay_s` slows each answer."""

    def __init__(self, documents: list[dict] | None = None, port: int = 0):
        self.documents = list(DOCUMENTS if documents is None else documents)
        self.port = port
        self.log: list[dict] = []
        self.delay_s = 0.0
        self.sockets: set[web.WebSocketResponse] = set()
        self.accepts = True
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> "FakeServer":
        ready = threading.Event()
        self.ready = ready
        self.thread.start()
        if not ready.wait(10):
            raise RuntimeError("fake server: no start within 10 s")
        return self

    def __exit__(self, *_):
        self.call(self.runner.cleanup())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def shows(self, pane: str | None = None) -> list[dict]:
        return [m for m in list(self.log) if m["type"] == "show" and (pane is None or m["pane"] == pane)]

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def send_all(self, message: dict | bytes):
        async def send():
            for socket in list(self.sockets):
                await (
                    socket.send_bytes(message) if isinstance(message, bytes) else socket.send_str(json.dumps(message))
                )

        self.call(send())

    def drop_connections(self):
        async def drop():
            for socket in list(self.sockets):
                await socket.close()

        self.call(drop())

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.start())
        self.ready.set()
        self.loop.run_forever()

    async def start(self):
        app = web.Application()
        app.router.add_get(f"/{TOKEN}/socket", self.socket)
        app.router.add_get(f"/{TOKEN}/{{name:[a-z0-9_.]*}}", self.file)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self.runner.addresses[0][1]

    async def file(self, request: web.Request) -> web.StreamResponse:
        path = PAGE / (request.match_info["name"] or "index.html")
        if not path.is_file():
            return web.Response(status=404, headers=HEADERS)
        return web.FileResponse(path, headers=HEADERS)

    async def socket(self, request: web.Request) -> web.StreamResponse:
        if not self.accepts:
            return web.Response(status=503)
        socket = web.WebSocketResponse(max_msg_size=65536)
        await socket.prepare(request)
        self.sockets.add(socket)
        waiting: dict[str, dict] = {}  # the newest request of each pane
        news = asyncio.Event()
        worker = asyncio.create_task(self.work(socket, waiting, news))
        async for frame in socket:
            if frame.type != WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            self.log.append({**message, "at": time.monotonic()})
            if message["type"] == "open":
                await socket.send_str(json.dumps(documents_message(self.documents)))
            elif message["type"] == "show":
                waiting[message["pane"]] = message
                news.set()
            elif message["type"] == "close":
                waiting.pop(message["pane"], None)
        worker.cancel()
        self.sockets.discard(socket)
        return socket

    async def work(self, socket: web.WebSocketResponse, waiting: dict[str, dict], news: asyncio.Event):
        while True:
            await news.wait()
            news.clear()
            while waiting:
                message = waiting.pop(next(iter(waiting)))
                try:
                    await self.reply(socket, message)
                except ConnectionResetError:
                    return

    async def reply(self, socket: web.WebSocketResponse, message: dict):
        if message["view"] == "entry":
            self.documents.append(hologram(message["state"]["entry"]))
            await socket.send_str(json.dumps(documents_message(self.documents)))
            key = {"pane": message["pane"], "id": message["id"], "moving": False}
            header = {"type": "shown", **key, "media": "application/json", "opened": len(self.documents) - 1}
            await socket.send_bytes(binary(header, b"{}"))
            return
        started = time.perf_counter()
        await asyncio.sleep(self.delay_s)
        key = {"pane": message["pane"], "id": message["id"]}
        try:
            header, payload = await asyncio.to_thread(answer, self.documents, message)
        except ValueError as error:
            await socket.send_str(json.dumps({"type": "error", **key, "message": str(error)}))
            return
        header = {
            "type": "shown",
            **key,
            "moving": message["moving"],
            **header,
            "compute_ms": round(1000 * (time.perf_counter() - started), 3),
        }
        await socket.send_bytes(binary(header, payload))


if __name__ == "__main__":
    with FakeServer(port=8700) as server:
        print(server.url)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
