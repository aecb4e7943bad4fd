"""Every file of fixtures/architectures: what a config's facts give, as a judge that shares no code has confirmed it."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record import rows

import hfcount
from hfcount import families

FOLDER = Path(__file__).parent.parent / "fixtures" / "architectures"
RECORDED: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}

ODD = (None, 0, -1, 1, 2**40, 10**30, 1.5, True, "5120", [], [1], ["full_attention"], {}, {"a": 1})
"""What a key may hold that it should not."""


@pytest.mark.parametrize("name", RECORDED)
def test_the_facts_give_the_rows(name: str) -> None:
    recorded = RECORDED[name]
    blueprint = hfcount.blueprint(recorded["config"])
    assert rows(blueprint) == recorded["rows"]
    assert dict(blueprint.reasons) == recorded["asides"]
    if not blueprint.asides:
        assert (blueprint.total, blueprint.active) == (recorded["total"], recorded["active"])


@pytest.mark.parametrize("name", RECORDED)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_config_makes_a_family_raise_anything_else(name: str, data: st.DataObject) -> None:
    config = json.loads(json.dumps(RECORDED[name]["config"]))
    for _ in range(data.draw(st.integers(1, 2))):
        part = config
        while True:
            key = data.draw(st.sampled_from(sorted(part)))
            if isinstance(part[key], dict) and part[key] and data.draw(st.booleans()):
                part = part[key]
                continue
            break
        if data.draw(st.booleans()):
            part[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            del part[key]
        if not part:
            break
    try:
        blueprint = hfcount.blueprint(config)
    except (hfcount.ConfigError, hfcount.UnknownArchitecture):
        return
    assert blueprint.total >= 0
    assert all(str(row.name) for row in blueprint.rows())


def test_every_family_is_recorded() -> None:
    recorded = {entry["config"]["model_type"] for entry in RECORDED.values()}
    assert [family.MODEL_TYPES for family in families.everyone() if recorded.isdisjoint(family.MODEL_TYPES)] == []
