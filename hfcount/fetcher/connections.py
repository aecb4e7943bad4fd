"""Connections that a deadline may end, and how many of them to open."""

from ssl import SSLContext
from threading import Lock
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from hfcount.fetcher.retry import Deadline, HubRetry

FEWEST, MOST = 8, 32
"""Connections to one host at a time: to one that is near, and to any. Beyond 32 nothing is gained at 80 ms."""

_EACH = 0.0025  # seconds of this process's time that a request takes


def workers(round_trip: float) -> int:
    """How many requests at once keep one process busy while it waits `round_trip` seconds for each answer."""
    return int(max(FEWEST, min(MOST, round_trip / _EACH)))


class DeadlineAdapter(HTTPAdapter):
    """An adapter whose connections end when the time is up, whatever a server trickles."""

    def __init__(self, deadline: Deadline) -> None:
        self._pools = _pools(deadline)
        super().__init__(pool_connections=4, pool_maxsize=MOST, max_retries=HubRetry(deadline))

    def init_poolmanager(self, *args: Any, **settings: Any) -> None:
        """Makes the pools for hosts that are asked directly."""
        super().init_poolmanager(*args, **settings)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        """Makes the pools for hosts behind a proxy."""
        manager = super().proxy_manager_for(proxy, **settings)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(deadline: Deadline) -> dict[str, type[HTTPConnectionPool]]:
    """Connection pools whose sockets the deadline may shut down, and which read the trusted certificates once."""
    trusted = _Trusted()

    class Plain(HTTPConnection):
        def _new_conn(self) -> Any:
            return deadline.watched(super()._new_conn())

    class Secure(HTTPSConnection):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **trusted.shared(settings))

        def _new_conn(self) -> Any:
            return deadline.watched(super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


class _Trusted:
    """Certificates that are trusted, read once for all connections: each would take 65 ms to read them."""

    def __init__(self) -> None:
        self._contexts: dict[tuple[str | None, str | None], SSLContext] = {}
        self._lock = Lock()

    def shared(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings of a connection, with a context that holds the certificates they name in place of the names.

        A connection that has a context or a certificate of its own, or trusts whoever answers, keeps its settings, and
        so does one through a proxy that is itself met over TLS: the names are for both.
        """
        places = settings.get("ca_certs"), settings.get("ca_cert_dir")
        custom = settings.get("ssl_context") or settings.get("cert_file")
        custom = custom or getattr(settings.get("proxy"), "scheme", None) == "https"
        if custom or not any(places) or settings.get("cert_reqs") != "CERT_REQUIRED":
            return settings
        with self._lock:
            if places not in self._contexts:
                context = create_urllib3_context()
                context.load_verify_locations(*places)
                self._contexts[places] = context
        return settings | {"ssl_context": self._contexts[places], "ca_certs": None, "ca_cert_dir": None}
