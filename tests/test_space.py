"""The Space: what a visitor may ask, what a run answers, and the page in a browser."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from blocks import ROOT
from chromium import chromium
from loopback import Hub, write_checkpoint
from tutorials import hosting

SPACE = ROOT / ".github" / "space"
sys.path.append(str(SPACE))
from runs import MOST, VISITS, WINDOW, Asked, Limits, Refused, answer  # noqa: E402 - lies in a folder of its own


@pytest.mark.parametrize(
    "models",
    [
        *("", "  \n ", "./here", "/etc/passwd", "../up", "a/b/c", "-q", "--help", "org/name@../main", "a b/../c", "~"),
        *("https://evil.example/org/name", "file:///etc/passwd", "hf://hf://org/name", "org//name"),
        "\n".join(f"org/name-{number}" for number in range(MOST + 1)),
    ],
)
def test_only_repos_of_the_hub_are_looked_at(models: str) -> None:
    with pytest.raises(Refused):
        Asked(models).names()


def test_a_repo_is_named_in_every_usual_way() -> None:
    text = "org/name, gpt2\nhttps://huggingface.co/org/other hf://org/name@refs/pr/1"
    assert Asked(text).names() == ["hf://org/name", "hf://gpt2", "hf://org/other", "hf://org/name@refs/pr/1"]


@pytest.mark.parametrize(
    "asked",
    [
        Asked("org/name", depth="deeper"),
        Asked("org/name", settings="--save=/tmp"),
        Asked("org/name", settings="vocab_size"),
        Asked("org/name", schemes=["fp8", "fp9"]),
        Asked("org/name", context="32 k"),
    ],
)
def test_other_options_are_refused(asked: Asked) -> None:
    with pytest.raises(Refused):
        list(asked.options())


def test_each_value_stays_in_its_option() -> None:
    asked = Asked("org/name", settings="a=1\nb.c=[1, 2]", schemes=["fp8"], context="32k", memory="--save=here")
    given = ["--set=a=1", "--set=b.c=[1, 2]", "--quantize=fp8", "--context=32k", "--memory=--save=here"]
    assert list(asked.options()) == given


def test_a_visitor_waits_after_too_many() -> None:
    limits = Limits()
    limits.take("one", VISITS, now=100.0)
    limits.take("another", 1, now=100.0)
    with pytest.raises(Refused, match="try again in 590 s"):
        limits.take("one", 1, now=110.0)
    limits.take("one", 1, now=101.0 + WINDOW)
    assert limits.seen.keys() == {"one"}  # who has gone is forgotten


@pytest.fixture
def environment(hub: Hub) -> dict[str, str]:
    secrets = {"HF_TOKEN": hub.token, "SOME_SECRET": "hidden"}
    return os.environ | {"HF_ENDPOINT": hub.url, "PYTHONPATH": str(ROOT)} | secrets


def test_a_run_answers_with_verdicts_and_one_page(hub: Hub, environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    config = json.loads((ROOT / "fixtures" / "Qwen" / "Qwen3-8B" / "config.json").read_text())
    hub.publish("org/name", write_checkpoint(tmp_path / "name", config))
    hub.publish("org/private", tmp_path / "name", access="private")
    found = answer(Asked("org/name org/private"), environment)
    first, second, _ = found.verdict.splitlines()
    assert first.startswith("org/name: verified: 8,190,735,360 parameters")
    assert second.startswith("org/private: unverified: ")
    assert "2 checkpoints" in found.page
    assert [json.loads(line)["verdict"] for line in found.report.splitlines()] == ["verified", "unverified"]
    assert not [seen for seen in hub.requests if seen.headers["Authorization"]]  # no token leaves the Space


def test_what_is_wrong_is_said_without_usage(environment: dict[str, str]) -> None:
    with pytest.raises(Refused) as reason:
        answer(Asked("org/name", memory="80"), environment)
    assert "80" in str(reason.value)
    assert "Usage" not in str(reason.value)


def test_the_card_is_one_of_spaces() -> None:
    _, head, text = (SPACE / "README.md").read_text().split("---\n", 2)
    values: dict[str, Any] = yaml.safe_load(head)
    assert (values["sdk"], values["app_file"]) == ("gradio", "app.py")
    assert len(values["short_description"]) <= 60  # the Hub's limit
    assert f"gradio>={values['sdk_version'].rpartition('.')[0]}" in (SPACE / "requirements.txt").read_text()
    assert "four at a time" in text and (MOST, VISITS) == (4, 20)


# In a browser


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The Space's address, against a Hub on this machine."""
    if find_spec("gradio") is None:
        pytest.skip("gradio is not installed: pip install '.[space]'")
    with hosting(tmp_path / "hosted") as hub:
        environment = os.environ | {
            "HF_ENDPOINT": hub.url,
            "PYTHONPATH": str(ROOT),
            "GRADIO_ANALYTICS_ENABLED": "False",
        }
        command = [sys.executable, "-u", "-W", "ignore", "app.py"]
        with subprocess.Popen(command, cwd=SPACE, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            line = next(line for line in process.stdout if "URL:" in line)
            yield line.partition("URL:")[2].strip()
            process.terminate()


@pytest.mark.long
def test_a_name_goes_in_and_the_page_comes_out(served: str, tmp_path: Path) -> None:
    driver = chromium(tmp_path / "profile")
    try:
        for width, scheme in itertools.product((360, 768, 1280), ("light", "dark")):
            _viewed(driver, width, scheme)
            driver.get(served)
            _typed(driver, "Qwen/Qwen3-8B\nQwen/Qwen3-32B" if width > 360 else "Qwen/Qwen3-8B")
            said = _verdict(driver)
            assert "Qwen/Qwen3-8B: verified: 8,190,735,360 parameters" in said
            assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
            frame = driver.find_element("css selector", "#page iframe")
            assert frame.get_attribute("sandbox") == "allow-scripts"
            driver.switch_to.frame(frame)
            assert "8,190,735,360" in driver.find_element("tag name", "body").text
            driver.switch_to.default_content()
        driver.get(served)
        _typed(driver, "./here")
        assert "is not a repo of the Hub" in _verdict(driver)
        assert not driver.find_elements("css selector", "#page iframe")
    finally:
        driver.quit()


def _viewed(driver: Any, width: int, scheme: str) -> None:
    """Makes the window as wide as a phone, a tablet or a desk's screen, in light or dark."""
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def _typed(driver: Any, models: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    box = WebDriverWait(driver, 600).until(lambda one: one.find_element("css selector", "#models textarea"))
    box.send_keys(models)
    driver.find_element("css selector", "#verify").click()


def _verdict(driver: Any) -> str:
    from selenium.webdriver.support.ui import WebDriverWait

    def said(one: Any) -> str:
        value: str = one.find_element("css selector", "#verdict textarea, #verdict input").get_attribute("value")
        return value

    return str(WebDriverWait(driver, 600).until(said))
