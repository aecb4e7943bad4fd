"""A Dask cluster as an executor (extra `dask`: distributed)."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec

from hfcount.errors import SweepError
from hfcount.version import missing


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """The executor of the cluster whose scheduler is at an address, or of one on this machine, and its workers.

    Raises:
        SweepError: distributed is not installed, or there is no such scheduler.
    """
    if find_spec("distributed") is None:
        raise SweepError(missing("--engine dask", "distributed"))
    distributed, dask = import_module("distributed"), import_module("dask")
    with ExitStack() as stack:
        # The first death of a worker fails its batch, and the driver finds out which checkpoint it was.
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
        try:
            if address is None:
                local = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
                stack.enter_context(local)
            client = stack.enter_context(distributed.Client(address or local))
        except (OSError, TimeoutError, ValueError) as error:
            raise SweepError(f"there is no Dask scheduler at {address}: {error}") from None
        count = workers or max(1, sum(client.ncores().values()))
        with client.get_executor(pure=False, retries=0) as executor:
            yield executor, count
