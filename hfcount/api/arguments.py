"""The arguments of the functions that Python programs call, checked and put together."""

from collections.abc import Collection, Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path

from hfcount.fetcher import Request
from hfcount.fetcher.model_names import understood
from hfcount.options import CACHE_ALIASES, CACHE_DTYPES
from hfcount.serving.cost import Workload
from hfcount.serving.devices import devices_in, ranks_on, why_not
from hfcount.serving.engines import engine_share
from hfcount.text import typed
from hfcount.verifier.loaders.catalogue import loader
from hfcount.verifier.loaders.facts import LIBRARY, versions
from hfcount.verifier.loaders.loader import Loader
from hfcount.verifier.policy import Policy
from hfcount.verifier.rules import lookup


def request_of(
    model: str | PathLike[str],
    revision: str | None,
    subfolder: str | None,
    fixtures: str | PathLike[str] | None,
    *,
    offline: bool,
    timeout: float,
    cache: bool,
    called: str = "model",
) -> Request:
    """What is to be looked at; `called` is the name of the argument that says so.

    Raises:
        TypeError: an argument is of another type, as all of these do.
    """
    if not isinstance(model, str | PathLike):
        raise TypeError(
            f"{called} is {typed(model)}, but must be a str or a path: a folder, a config's .json file or a repo id."
        )
    for name, value in (("revision", revision), ("subfolder", subfolder)):
        if not isinstance(value, str | None):
            raise TypeError(f"{name} is {typed(value)}, but must be a str or None.")
    if not isinstance(fixtures, str | PathLike | None):
        raise TypeError(f"fixtures is {typed(fixtures)}, but must be a str or a path (a folder) or None.")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise TypeError(f"timeout is {typed(timeout)}, but must be a number of seconds.")
    where = Path(fixtures) if fixtures is not None else None
    text = fspath(model)
    if not isinstance(model, str) and where is None and not Path(text).is_absolute():
        text = f"./{text}"  # so that it is no repo id
    return understood(Request(text, revision, subfolder, where, offline, timeout, cache))


def policy_of(allow: Collection[str], strict: bool) -> Policy:
    """Which findings do not count. Raises ValueError for a rule that there is not."""
    if isinstance(allow, str):
        raise TypeError(f"allow is {typed(allow)}, but must be a list of codes or names of rules.")
    rules = {name: lookup(name) for name in allow}
    for name, rule in rules.items():
        if rule is None:
            raise ValueError(f"allow names {name!r}, and no rule is called that. `hfcount rules` lists them.")
    return Policy(frozenset(rule.code for rule in rules.values() if rule), strict)


def loaders_of(names: Collection[str]) -> tuple[Loader, ...]:
    """Loaders by library, or by library and version. Raises ValueError for one that is not known."""
    if isinstance(names, str):
        raise TypeError(f"loaders is {typed(names)}, but must be a list of names such as 'transformers@4.57'.")
    return tuple(dict.fromkeys(map(loader, names)))


def saver_of(name: str) -> Loader:
    """transformers in the version that is named. Raises ValueError for one that is not known, or another library."""
    if not isinstance(name, str):
        raise TypeError(f"loader is {typed(name)}, but must be a name such as 'transformers@4.57'.")
    known = loader(name)
    if known.library != LIBRARY:
        raise ValueError(f"only transformers saves models. Known are its versions {', '.join(versions()[::-1])}.")
    return known


def workload_of(
    context: int | None,
    batch: int,
    kv_dtype: str | None,
    tp: Collection[int],
    memory: int | str | None,
    engine: str,
) -> Workload:
    """What is to be served, by how many devices of which memory (bytes). Raises ValueError for what cannot be."""
    if not isinstance(engine, str):
        raise TypeError(f"engine is {typed(engine)}, but must be a str, such as 'vllm' or 'raw'.")
    devices, size = (devices_in(memory) or (1, None)) if isinstance(memory, str) else (1, memory)
    if isinstance(memory, str) and size is None:
        raise ValueError(f"memory: {why_not(memory)}")
    for name, count in (("context", context), ("batch", batch), ("memory", size), *(("tp", ranks) for ranks in tp)):
        if count is not None and (type(count) is not int or count < 1):
            raise ValueError(f"{name} is {count!r}, but must be a whole number above 0.")
    kv_dtype = CACHE_ALIASES.get(kv_dtype, kv_dtype) if kv_dtype else None
    check_choice("kv_dtype", kv_dtype, (None, *CACHE_DTYPES))
    engine_share(engine)
    return Workload(context, batch, kv_dtype, ranks_on(devices, tuple(tp)), size, engine)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raises ValueError for a value that is none of the choices."""
    known: Sequence[object] = list(choices)
    if value not in known:
        raise ValueError(f"{name} is {value!r}, but must be one of {', '.join(map(str, known))}.")
