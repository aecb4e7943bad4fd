"""A callback for trainers that verifies each checkpoint as soon as it is written."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, get_args

from hfcount.api import saves, verify, verify_model
from hfcount.errors import HfcountError, NotVerified
from hfcount.fetcher.torch_model import base_of

if TYPE_CHECKING:
    from hfcount.report.model import Report

OnMismatch = Literal["warn", "stop", "raise"]

_log = logging.getLogger("hfcount")


class VerifyCallback:
    """Verifies the model before the first step of a Trainer of transformers, and each checkpoint after it is written.

    It looks on the main process alone, leaves nothing behind and logs what it finds as `hfcount`. What cannot be looked
    at, such as the shards of FSDP or DeepSpeed, is logged as well, and never ends a training. Every process needs it:
    they stop together. What was stored where the model is from, and is not saved again, is logged once, before the
    first step. An adapter is held against the model in memory that it is on, unless `base` is given.

    >>> trainer = Trainer(model, args, train_dataset=data, callbacks=[VerifyCallback()])  # doctest: +SKIP

    Args:
        on_mismatch: what follows where a checkpoint is wrong: `warn` logs it, `stop` also ends the training after this
            step in all processes, and `raise` raises NotVerified.
        on_report: called with the folder (None: the model in memory) and its report, whatever its verdict is.
        first: whether the model is verified before the first step.
        options: of `verify`; `depth` is `data` unless another one is given, so that every value is read.

    Raises:
        TypeError: `verify` has no such option.
        ValueError: there is no such `on_mismatch`.
    """

    def __init__(
        self,
        on_mismatch: OnMismatch = "warn",
        *,
        on_report: "Callable[[Path | None, Report], object] | None" = None,
        first: bool = True,
        **options: Any,
    ) -> None:
        if on_mismatch not in get_args(OnMismatch):
            raise ValueError(f"on_mismatch is {on_mismatch!r}, but must be one of {', '.join(get_args(OnMismatch))}.")
        signature(verify).bind("", **options)
        self.on_mismatch, self.on_report, self.first = on_mismatch, on_report, first
        self.options: dict[str, Any] = {"depth": "data", **options}

    def __getattr__(self, event: str) -> Callable[..., None]:
        """What does nothing, for the events of a trainer that are of no interest here."""
        if event.startswith("on_"):
            return lambda *_, **__: None
        raise AttributeError(event)

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Verifies the model in memory: its names, shapes and dtypes."""
        if self.first and model is not None and _is_main(state):
            policy = {name: self.options[name] for name in ("allow", "strict", "derive_with") if name in self.options}
            self._look("the model", None, lambda: verify_model(model, **policy), control)
            _say_what_is_lost(model)
        if self.first:
            self._share(args, control)

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Verifies the folder that was just written; an adapter with the model in memory that it is on."""
        if _is_main(state):
            folder = _written(Path(args.output_dir), f"checkpoint-{state.global_step}")

            def look() -> "Report":
                with _base(model) as base:
                    return verify(folder, **base | self.options)

            self._look(str(folder), folder, look, control)
        self._share(args, control)

    def _share(self, args: Any, control: Any) -> None:
        """Ends the training of all processes where the main one does: one that went on would wait for it forever."""
        torch = sys.modules.get("torch")
        if self.on_mismatch != "stop" or torch is None or not torch.distributed.is_available():
            return
        if torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            stop = torch.tensor(int(control.should_training_stop), device=getattr(args, "device", None))
            torch.distributed.all_reduce(stop, torch.distributed.ReduceOp.MAX)
            control.should_training_stop = bool(stop)

    def _look(self, what: str, folder: Path | None, look: "Callable[[], Report]", control: Any) -> None:
        try:
            report = look()
        except (HfcountError, ImportError, TypeError) as error:  # the last says why a model in memory cannot be seen
            _log.log(logging.INFO if folder is None else logging.WARNING, "%s was not verified: %s", what, error)
            return
        except Exception:  # a mistake of hfcount's own, or a full disk, for which no training has to end
            _log.warning("%s was not verified, for hfcount crashed.", what, exc_info=True)
            return
        if self.on_report:
            self.on_report(folder, report)
        if report.ok:
            _log.info("%s: %s", what, report.verdict)
        elif report.verdict != "mismatch":
            _log.warning("%s was not verified: %s", what, report.error.message if report.error else _reasons(report))
        elif self.on_mismatch == "raise":
            report.raise_for_verdict()
        else:
            control.should_training_stop |= self.on_mismatch == "stop"
            _log.warning("%s", _reasons(report))


def _say_what_is_lost(model: Any) -> None:
    """Logs what the checkpoint that a model is from stores, and the installed transformers will not save again."""
    config, library = getattr(model, "config", None), sys.modules.get("transformers")
    origin, version = getattr(config, "name_or_path", None), getattr(library, "__version__", "")
    if not isinstance(origin, str) or not origin or not isinstance(version, str):
        return
    revision = None if Path(origin).is_dir() else getattr(config, "_commit_hash", None)
    try:
        result = saves(
            origin, loader=f"transformers@{'.'.join(version.split('.')[:2])}", revision=revision, offline=True
        )
    except (HfcountError, ValueError, TypeError) as error:  # such as of a version that is not recorded
        _log.info("what saving %s loses was not looked at: %s", origin, error)
        return
    except Exception:  # as below
        _log.warning("what saving %s loses was not looked at, for hfcount crashed.", origin, exc_info=True)
        return
    if result.loses and result.class_name == type(model).__name__:
        _log.warning("%s `hfcount saves %s` lists them.", result.answer, origin)


def _is_main(state: Any) -> bool:
    return bool(getattr(state, "is_world_process_zero", True))


@contextmanager
def _base(model: Any) -> Iterator[dict[str, Any]]:
    """The option that says where the config is of the model that an adapter is on; none for other models."""
    config = None if model is None else base_of(model)
    if config is None:
        yield {}
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(config, default=str), encoding="utf-8")
        yield {"base": file}


def _written(output: Path, name: str) -> Path:
    """The folder of a step; the runs of a search for hyperparameters have folders of their own."""
    folders = [folder for folder in (output / name, *output.glob(f"*/{name}")) if folder.is_dir()]
    return max(folders, key=lambda folder: folder.stat().st_mtime, default=output / name)


def _reasons(report: "Report") -> str:
    try:
        report.raise_for_verdict()
    except NotVerified as error:
        return str(error)
    return report.verdict
