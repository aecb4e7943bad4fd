"""Connections that a deadline may end."""

from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from hfcount.fetcher.retry import Deadline, HubRetry

WORKERS = 8
"""Connections to one host at a time."""


class Adapter(HTTPAdapter):
    """An adapter whose connections end when the time is up, whatever a server trickles."""

    def __init__(self, deadline: Deadline) -> None:
        self._pools = _pools(deadline)
        super().__init__(pool_connections=4, pool_maxsize=WORKERS, max_retries=HubRetry(deadline))

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
    """Connection pools whose sockets the deadline may shut down."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> Any:
            return deadline.watched(super()._new_conn())

    class Secure(HTTPSConnection):
        def _new_conn(self) -> Any:
            return deadline.watched(super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}
