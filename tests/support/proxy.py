"""A TCP proxy that can be told to break off in the middle of what it passes on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable


class Proxy:
    """Passes on what comes to `port`, which is its own, to another port of this machine."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._left: int | None = None
        self._then: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def break_after(self, size_bytes: int, then: Callable[[], None]) -> None:
        """After so many more bytes to clients: calls `then`, once, and passes nothing on any
        more.
        """
        with self._lock:
            self._left, self._then = size_bytes, then

    @property
    def is_broken(self) -> bool:
        return self._left is not None and self._left < 0

    def mend(self) -> None:
        with self._lock:
            self._left = None

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", self._target_port))
            except ConnectionRefusedError:
                client.close()
                continue
            except OSError:
                return
            threading.Thread(
                target=self._pass_on, args=(client, broker, False), daemon=True
            ).start()
            threading.Thread(target=self._pass_on, args=(broker, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        try:
            while data := source.recv(1 << 12):
                if is_answer and self._spend(len(data)):
                    break
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            each.close()

    def _spend(self, size_bytes: int) -> bool:
        """Whether the connection has to break."""
        with self._lock:
            if self._left is None:
                return False
            breaks = self._left >= 0 > self._left - size_bytes
            self._left -= size_bytes
        if breaks:
            self._then()
        return self._left < 0
