"""A proxy before a registry that does what networks and registries do wrong."""

import dataclasses
import http.client
import http.server
import json
import random
import socket
import struct
import threading
import time

PIECE_BYTES = 1 << 14
# Where blobs are when the registry leads elsewhere: another name of this machine.
ELSEWHERE = "127.0.0.2"


@dataclasses.dataclass
class Faults:
    """What goes wrong during one pull, and how often it did."""

    rng: random.Random
    # Bytes of answers, all together, after which a connection ends.
    cuts: list[int] = dataclasses.field(default_factory=list)
    # Requests that a token is good for; 0 if none is wanted.
    token_uses: int = 0
    # Part of the requests that are answered with 429.
    busy_part: float = 0.0
    redirects: bool = False
    knows_ranges: bool = True
    bytes_per_s: int = 0
    sent_bytes: int = 0
    tokens: dict[str, int] = dataclasses.field(default_factory=dict)
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    # What the client must not do, but did.
    wrong: list[str] = dataclasses.field(default_factory=list)
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def before_cut(self, wanted: int) -> tuple[int, bool]:
        """Bytes that may be sent of those wanted, and whether the connection ends then."""
        with self.lock:
            left = self.cuts[0] - self.sent_bytes if self.cuts else wanted + 1
            allowed = max(0, min(wanted, left))
            self.sent_bytes += allowed
            is_cut = bool(self.cuts) and left <= wanted
            if is_cut:
                self.cuts.pop(0)
            return allowed, is_cut

    def new_token(self) -> str:
        with self.lock:
            token = f"token{len(self.tokens)}"
            self.tokens[f"Bearer {token}"] = self.rng.randint(1, self.token_uses)
            return token

    def takes(self, authorization: str) -> bool:
        """Whether a token is good; uses it once."""
        with self.lock:
            left = self.tokens.get(authorization, 0)
            self.tokens[authorization] = left - 1
            return left > 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        faults, proxy = self.server.proxy.faults, self.server.proxy
        authorization = self.headers.get("Authorization", "")
        if self.server.is_elsewhere:
            if authorization:
                faults.wrong.append("credentials are sent to another host")
            return self.forward()
        if self.path.startswith("/token"):
            faults.count("tokens")
            return self.answer(200, json.dumps({"token": faults.new_token()}).encode())
        if faults.rng.random() < faults.busy_part:
            faults.count("429")
            after = str(faults.rng.choice((0, 0, 0, 1)))
            return self.answer(429, b"", ("Retry-After", after))
        if faults.token_uses and not faults.takes(authorization):
            faults.count("401")
            realm = f'Bearer realm="http://{proxy.host}/token",service="proxy"'
            return self.answer(401, b"", ("WWW-Authenticate", realm))
        if faults.redirects and "/blobs/" in self.path:
            faults.count("redirects")
            return self.answer(307, b"", ("Location", f"http://{proxy.elsewhere}{self.path}"))
        return self.forward()

    def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send(body)

    def forward(self) -> None:
        """Asks the registry, and gives its answer."""
        faults = self.server.proxy.faults
        upstream = http.client.HTTPConnection(self.server.proxy.upstream)
        wanted = {name: self.headers[name] for name in ("Accept", "Range") if name in self.headers}
        if not faults.knows_ranges:
            wanted.pop("Range", None)
        if "Range" in wanted:
            faults.count("ranges")
        try:
            upstream.request("GET", self.path, headers=wanted)
            response = upstream.getresponse()
            self.send_response(response.status)
            for name in ("Content-Type", "Content-Length", "Content-Range",
                         "Docker-Content-Digest"):
                if value := response.headers.get(name):
                    self.send_header(name, value)
            self.end_headers()
            while piece := response.read(PIECE_BYTES):
                if not self.send(piece):
                    break
        finally:
            upstream.close()

    def send(self, body: bytes) -> bool:
        """Sends bytes unless the connection is to end before; false then."""
        faults = self.server.proxy.faults
        allowed, is_cut = faults.before_cut(len(body))
        try:
            self.wfile.write(body[:allowed])
        except OSError:
            is_cut = True
        else:
            if is_cut:
                faults.count("cuts")
        if is_cut:
            self.close_connection = True
            if faults.rng.random() < 0.5:
                # A reset instead of an end.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        elif faults.bytes_per_s:
            time.sleep(allowed / faults.bytes_per_s)
        return not is_cut


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: str, proxy: "Proxy", is_elsewhere: bool) -> None:
        super().__init__((address, 0), Handler)
        self.proxy, self.is_elsewhere = proxy, is_elsewhere
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        """Clients that are killed end connections; that is no news."""


class Proxy:
    """Listens at `host`, and at `elsewhere`, until the process ends."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.faults = Faults(random.Random(0))
        self.host = f"127.0.0.1:{Server('127.0.0.1', self, False).server_address[1]}"
        self.elsewhere = f"{ELSEWHERE}:{Server(ELSEWHERE, self, True).server_address[1]}"
