"""Parts that have to fit each other."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.finding import Finding


def misfits(kind: str, configs: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> Iterator[Finding]:
    yield from ()
