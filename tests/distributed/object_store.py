"""A real S3 server on loopback, and a proxy before it that misbehaves on purpose."""

import http.client
import http.server
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECRET = "secret-that-no-one-may-see"  # noqa: S105 - of a server of our own
_OWN_VARIABLES = ("AWS_", "GOOGLE_", "AZURE_")


def environment(endpoint: str, cache: Path) -> dict[str, str]:
    """What a user sets to reach the server; nothing of the machine's own settings is left."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)}
    return own | {
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "MIXLE_CACHE": str(cache),
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def run_moto(log: Path, *, knows_nobody: bool = False) -> Iterator[str]:
    """Start moto's S3 server, make the bucket ``corpora``, and end the server after the block.

    A server that knows nobody refuses everybody's credentials once the bucket is there.
    """
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | ({"INITIAL_NO_AUTH_ACTION_COUNT": "1"} if knows_nobody else {}),
        )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("PUT", "/corpora")
                assert connection.getresponse().status == 200
                connection.close()
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
        yield endpoint
    finally:
        server.kill()
        server.wait()


class FailingProxy(http.server.ThreadingHTTPServer):
    """Hands requests on, but answers every n-th with 500 instead, and takes its time over each.

    Attributes:
        num_failed: Requests that were answered with 500.
        num_requests: All requests.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, endpoint: str, every: int, delay_in_seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = endpoint.removeprefix("http://")
        self.every = every
        self.delay_in_seconds = delay_in_seconds
        self.num_failed = 0
        self.num_requests = 0
        self._numbers = itertools.count(1)

    def count(self) -> int:
        """Return the number of this request, counted from 1."""
        self.num_requests = next(self._numbers)
        return self.num_requests

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FailingProxy

    def _hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(self.server.delay_in_seconds)
        if self.server.count() % self.server.every == 0:
            self.server.num_failed += 1
            status, headers, content = 500, [], b"<Error><Code>InternalError</Code></Error>"
        else:
            behind = http.client.HTTPConnection(self.server.behind, timeout=120)
            behind.request(self.command, self.path, body, dict(self.headers.items()))
            answer = behind.getresponse()
            status, headers, content = answer.status, answer.getheaders(), answer.read()
            behind.close()
        self.send_response_only(status)
        length = str(len(content))
        for name, value in headers:
            if name.lower() == "content-length":
                length = value  # that of a HEAD is not that of its body
            elif name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _hand_on  # noqa: N815


@contextmanager
def failing_proxy(
    endpoint: str, every: int = 10**9, *, delay_in_seconds: float = 0.0
) -> Iterator[FailingProxy]:
    proxy = FailingProxy(endpoint, every, delay_in_seconds)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
