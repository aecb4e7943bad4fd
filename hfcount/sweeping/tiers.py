"""The Hub's limits: requests in 5 minutes, by account, as its documentation gives them (Hub rate limits, 2026)."""

from collections.abc import Mapping
from typing import NamedTuple

WINDOW = 300
"""Seconds."""


class Tier(NamedTuple):
    """Requests that an account may make in a window: of the API, and of files."""

    api: int
    files: int


TIERS: Mapping[str, Tier] = {
    "anonymous": Tier(500, 3_000),
    "free": Tier(1_000, 5_000),
    "pro": Tier(2_500, 12_000),
    "team": Tier(3_000, 20_000),
    "enterprise": Tier(6_000, 50_000),
    "enterprise-plus": Tier(10_000, 100_000),
}
