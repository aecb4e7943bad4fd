"""What a visitor asks, held against the limits, and the run of hfcount that answers it.

Every run is a process of its own, without any token, that can read no file of this machine: a model is always handed on
as hf://org/name, and every value as --option=value.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

MOST = 4
"""Models of one run."""

SECONDS = 60
"""Time for each model."""

VISITS, WINDOW = 20, 600
"""Models that a visitor may ask for, in so many seconds."""

SCHEMES = ("fp8", "awq", "gptq", "nvfp4", "mxfp4", "nf4", "mlx-4")
DEPTHS = ("auto", "headers", "config")

_ID = re.compile(
    r"(?:https://(?:huggingface\.co|hf\.co)/|hf://)?([\w][\w.-]{0,95}(?:/[\w][\w.-]{0,95})?)(@[\w./-]{1,99})?/?",
    re.ASCII,
)
_SETTING = re.compile(r"[A-Za-z_][\w.]{0,99}=[^\n\r\0]{1,200}")
_CONTEXT = re.compile(r"\d{1,9}[kKmM]?")
_LARGEST = 1 << 31  # bytes of memory for a run
_SECRET = re.compile(r"TOKEN|SECRET|KEY|PASSWORD")


class Refused(Exception):
    """What was asked is not understood, or too much; its text is for the visitor."""


@dataclass(frozen=True)
class Asked:
    """What a visitor has typed: models and keys to change, one a line, and what serving is to be counted for."""

    models: str
    depth: str = "auto"
    settings: str = ""
    schemes: Sequence[str] = ()
    context: str = ""
    memory: str = ""

    def names(self) -> list[str]:
        """The models, as hf://org/name or with a revision.

        Raises:
            Refused: none, too many, or one that is no repo of the Hub.
        """
        words = re.split(r"[\s,]+", self.models.strip())
        names = [f"hf://{_matched(_ID, word, 'a repo of the Hub, such as org/name')}" for word in words if word]
        if not names:
            raise Refused("Name a model of the Hub, such as Qwen/Qwen3-32B.")
        if len(names) > MOST:
            raise Refused(f"{len(names)} models were named; {MOST} at a time are looked at here.")
        return list(dict.fromkeys(names))

    def options(self) -> Iterator[str]:
        """The options of the command, each with its value in one word.

        Raises:
            Refused: a value is not understood.
        """
        settings = [line.strip() for line in self.settings.splitlines() if line.strip()]
        for line in settings:
            yield f"--set={_matched(_SETTING, line, 'KEY=VALUE, such as num_hidden_layers=40')}"
        for scheme in self.schemes:
            yield f"--quantize={_chosen(scheme, SCHEMES)}"
        if not (settings or self.schemes):
            yield f"--depth={_chosen(self.depth, DEPTHS)}"
        if context := self.context.strip():
            yield f"--context={_matched(_CONTEXT, context, 'a number of tokens, such as 32k')}"
        if memory := self.memory.strip():
            yield f"--memory={memory[:40]}"


@dataclass(frozen=True)
class Answer:
    """The verdict's line for each model, the page, and the JSON."""

    verdict: str
    page: str
    report: str


@dataclass
class Limits:
    """How much each visitor has asked for within the last minutes."""

    seen: dict[str, deque[float]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def take(self, visitor: str, models: int, now: float | None = None) -> None:
        """Counts what a visitor asks for.

        Raises:
            Refused: it is more than one visitor may.
        """
        now = monotonic() if now is None else now
        with self.lock:
            self.seen = {one: times for one, times in self.seen.items() if times and times[-1] > now - WINDOW}
            times = self.seen.setdefault(visitor, deque())
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if len(times) + models > VISITS:
                wait = WINDOW - (now - times[0]) if times else WINDOW
                raise Refused(
                    f"{VISITS} models in {WINDOW // 60} minutes is the limit here; try again in {wait:.0f} s."
                )
            times.extend([now] * models)


def answer(asked: Asked, environment: Mapping[str, str] | None = None) -> Answer:
    """Runs hfcount for what was asked.

    Raises:
        Refused: the command was not understood, or has not ended in time; the text says why.
    """
    names, options = asked.names(), list(asked.options())
    with tempfile.TemporaryDirectory() as folder:
        page, report = Path(folder, "page.html"), Path(folder, "report.json")
        outputs = [f"--html={page}", f"--output=json:{report}", "--quiet", "--no-cache", f"--timeout={SECONDS}"]
        command = [sys.executable, "-m", "hfcount", *outputs, *options, *names]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=_clean(environment or os.environ, folder),
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS * len(names) + 30,
                preexec_fn=_bounded if sys.platform == "linux" else None,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Refused("The Hub has not answered in time. Try again, or one model at a time.") from None
        if done.returncode not in (0, 1, 3) or not page.exists():
            raise Refused(_last(done.stderr))
        return Answer(done.stdout.replace("hf://", "").strip(), page.read_text("utf-8"), report.read_text("utf-8"))


def _matched(pattern: re.Pattern[str], text: str, wanted: str) -> str:
    found = pattern.fullmatch(text)
    if not found or ".." in text:
        raise Refused(f"{text[:100]!r} is not {wanted}.")
    return "".join(part or "" for part in found.groups()) if found.groups() else text


def _chosen(text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise Refused(f"{text[:100]!r} is none of {', '.join(choices)}.")
    return text


def _clean(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment without what is secret, and with nothing of this machine's cache."""
    kept = {name: value for name, value in environment.items() if not _SECRET.search(name.upper())}
    return kept | {"HF_HOME": folder, "HOME": folder, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "NO_COLOR": "1"}


def _bounded() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_LARGEST, _LARGEST))


def _last(text: str) -> str:
    """What a command says is wrong with it, without how it is used."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ") if lines else "hfcount has ended without an answer."
