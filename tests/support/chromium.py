"""A real browser for tests of pages."""

import shutil
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()


def chromium(profile: Path) -> Any:
    """A driver of Chromium with its own profile, which the caller quits; where there is none, the test is skipped."""
    pytest.importorskip("selenium", reason="no selenium; `pip install -e '.[test]'` brings it")
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    program, server = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if not program or not server:
        pytest.skip("no browser: chromium and chromedriver must be on the PATH")
    options = ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options, ChromeService(server))
