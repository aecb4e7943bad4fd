"""The tutorials tell the truth: each command prints what they show, for a reader of each role."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Hub
from tutorials import BLOCK, PAGES, READERS, hosting, written


@pytest.fixture(scope="module")
def hub_of_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with hosting(tmp_path_factory.mktemp("hosted")) as hub:
        yield hub


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.stem == "fine-tune" else pytest.mark.long, id=page.stem) for page in PAGES],
)
def test_every_command_prints_what_is_shown(tmp_path: Path, hub_of_models: Hub, page: Path) -> None:
    text = page.read_text()
    assert text.count("```console") == len(BLOCK.findall(text)) > 0
    assert written(page, hub_of_models, tmp_path) == text, "run `python tests/tools/update.py`"


def test_there_is_one_for_each_role() -> None:
    assert [page.name for page in PAGES] == [*READERS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_says_for_whom_it_is_and_what_comes_next(page: Path) -> None:
    text = page.read_text()
    assert text.startswith("# Tutorial: ")
    assert "\nFor people who " in text
    assert "\n## What next\n\n- " in text
