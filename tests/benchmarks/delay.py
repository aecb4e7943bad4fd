"""A proxy in front of a loopback server, which holds back requests and new connections as long as a round trip takes.

As a script, `delay.py PORT SECONDS`, it forwards to that port until its standard input closes, and prints its own port.
"""

import socket
import sys
import time
from contextlib import suppress
from threading import Thread

_PIECE = 1 << 16


def forward(port: int, seconds: float) -> int:
    """Starts the proxy in the background; its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    Thread(target=_accept, args=(listener, port, seconds), daemon=True).start()
    return int(listener.getsockname()[1])


def _accept(listener: socket.socket, port: int, seconds: float) -> None:
    while True:
        client, _ = listener.accept()
        Thread(target=_connect, args=(client, port, seconds), daemon=True).start()


def _connect(client: socket.socket, port: int, seconds: float) -> None:
    time.sleep(seconds)
    server = socket.create_connection(("127.0.0.1", port))
    for source, target, wait in ((client, server, seconds), (server, client, 0.0)):
        source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Thread(target=_copy, args=(source, target, wait), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket, wait: float) -> None:
    """A request is one piece, since clients send its head at once and it has no body."""
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            time.sleep(wait)
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    print(forward(int(sys.argv[1]), float(sys.argv[2])), flush=True)
    sys.stdin.read()
