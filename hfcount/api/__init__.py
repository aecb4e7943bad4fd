"""Offers what Python programs call: verify, what_ifs, verify_model, verify_tensors, diff, saves, VerifyCallback.

Work here on the Python functions and their arguments.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import product
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, get_args

from hfcount.api.arguments import check_choice, loaders_of, policy_of, request_of, saver_of, workload_of
from hfcount.checkpoints.inspect import examine, failed, inspect, report_of
from hfcount.checkpoints.inspect import what_ifs as _what_ifs
from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.settings import project_of
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.interface import early
from hfcount.mapper.whatif import QUANTIZATION, Changes
from hfcount.options import AskedDepth, AskedDtype, DerivedWith, Expected, Extra
from hfcount.report.model import Report
from hfcount.text import typed

if TYPE_CHECKING:
    from hfcount.diffing.model import Diff
    from hfcount.diffing.saves.model import Saves

__all__ = ["diff", "saves", "verify", "verify_model", "verify_tensors", "what_ifs"]


def verify(
    model: str | PathLike[str],
    *,
    revision: str | None = None,
    subfolder: str | None = None,
    fixtures: str | PathLike[str] | None = None,
    offline: bool = False,
    depth: AskedDepth = "auto",
    timeout: float = 300.0,
    cache: bool = True,
    allow: Collection[str] = (),
    strict: bool = False,
    context: int | None = None,
    batch: int = 1,
    kv_dtype: str | None = None,
    tp: Collection[int] = (),
    memory: int | str | None = None,
    engine: str = "vllm",
    formula: bool = False,
    tensors: bool = False,
    derive_with: DerivedWith | None = None,
    base: str | PathLike[str] | None = None,
    target: str | PathLike[str] | None = None,
    loaders: Collection[str] = (),
    settings: str | PathLike[str] | None = None,
) -> Report:
    """Verifies a checkpoint against its config.

    >>> report = verify(".github/examples/two-new-tokens")
    >>> report.ok, [finding.code for finding in report.findings]
    (False, ['HF301'])
    >>> report.findings[0].fix
    'Set vocab_size to 98.'
    >>> verify("Qwen/Qwen3-32B", fixtures="fixtures", context=32768).memory.kv_bytes
    8589934592

    Args:
        model: a local folder, a weight file in one or a config's own .json file if there is one, else a repo id, alone
            or as org/name@revision, hf://org/name or an address on the Hub; a Path is always local. With `fixtures`, a
            path below that folder.
        revision: branch, tag or commit of a repo.
        subfolder: a folder of the repo or of the local folder.
        fixtures: a folder of recorded checkpoints to read in place of the Hub.
        offline: read the standard cache only.
        depth: `config` counts; `index` compares names and totals; `headers` compares every tensor's header; `auto`
            reads headers where the index does not settle it.
        timeout: seconds for all that is asked of the Hub, and to the end of a search for causes.
        cache: whether what was read of a commit before is read again from disk, and what is read now is kept there.
        allow: errors to let through, by code or name, such as `HF201`; the report's verdict is then `allowed`.
        strict: whether notes are errors, but for those that say nothing against a checkpoint.
        context: tokens of a sequence, for the cache that serving takes.
        batch: sequences of that length.
        kv_dtype: what keys and values are cached in; the config's dtype if None.
        tp: numbers of ranks of tensor parallelism, such as `[2, 8]`: whether they can share the model (HF601 if
            not), and what each holds.
        memory: of each rank, in bytes or as `80GiB`, `H100` or `2xH100`, which is `H100` with two ranks: whether
            weights and cache fit (HF602 if not), and the largest context that does. The answers are the report's
            `serving`; they do not change its verdict.
        engine: whose share of that memory they have to fit in: `vllm`, `vllm:0.9` with that utilization, or `raw` for
            all of it.
        formula: whether the report has the closed form of the counts.
        tensors: whether it lists every tensor that the config describes, folded into rows.
        derive_with: `transformers` for names and shapes of a type that no family describes, as that library builds it
            (extra `transformers`).
        base: the model that an adapter or a GGUF file was made of: a folder, a config's own .json file or a repo.
        target: the model that a draft proposes tokens for, likewise: whether it fits.
        loaders: those whose verdict it is, such as `["transformers@4.57"]`; by default those that the checkpoint is
            made for. The report's `loaders` says what every known one makes of it.
        settings: a settings file (hfcount.toml or pyproject.toml), or `auto` for the nearest, as the command takes it;
            none by default. An argument that is given goes before it; `allow` is added to its waivers.

    Raises:
        FetchError: the documents could not be read, as of a repo that is not there; `report` of the exception is the
            report that the command shows then, with the verdict `unverified`.
        UnknownArchitecture: no family describes the config, and no `loaders` are named; `report` likewise.
        SettingsError: the settings file cannot be read, or is wrong.
        TypeError: an argument is of another type.
        ValueError: there is no such depth, rule, loader, dtype or timeout, a local folder with a revision, or two
            revisions.
    """
    request = request_of(model, revision, subfolder, fixtures, offline=offline, timeout=timeout, cache=cache)
    check_choice("depth", depth, get_args(AskedDepth))
    other = {"base": base, "target": target}
    for name, value in other.items():
        if not isinstance(value, str | PathLike | None):
            raise TypeError(f"{name} is {typed(value)}, but must be a str or a path, or None.")
    named = {name: None if value is None else fspath(value) for name, value in other.items()}
    request = request.replace(headers=early(depth), base=named["base"], target=named["target"])
    check_choice("derive_with", derive_with, (None, *get_args(DerivedWith)))
    extras: dict[Extra, bool] = {"tensors": tensors, "formula": formula, "layers": formula}
    options = Options(
        depth,
        policy_of(allow, strict),
        None,
        [name for name, wanted in extras.items() if wanted],
        workload_of(context, batch, kv_dtype, tp, memory, engine),
        derive_with=derive_with,
        loaders=loaders_of(loaders),
    )
    if (project := project_of(settings)) is not None:
        given = {"strict": strict, "depth": depth != "auto", "loaders": bool(loaders), "base": base is not None}
        request, options = project.applied(request, options, [name for name, is_given in given.items() if is_given])
    try:
        return inspect(request, options)
    except HfcountError as error:
        error.report = failed(request.model, error)
        raise


def what_ifs(
    model: str | PathLike[str],
    changes: Iterable[Changes] = (),
    *,
    quantize: Iterable[str] = (),
    revision: str | None = None,
    subfolder: str | None = None,
    fixtures: str | PathLike[str] | None = None,
    offline: bool = False,
    timeout: float = 300.0,
    cache: bool = True,
    context: int | None = None,
    batch: int = 1,
    kv_dtype: str | None = None,
    tp: Collection[int] = (),
    memory: int | str | None = None,
    engine: str = "vllm",
) -> list[Report]:
    """Counts a model as published, then with each of `changes`; nothing is compared.

    >>> reports = what_ifs("Qwen/Qwen3-32B", [{"num_key_value_heads": 1}], fixtures="fixtures")
    >>> [report.parameters.total for report in reports]
    [32762123264, 32174920704]
    >>> _, packed = what_ifs("Qwen/Qwen3-32B", quantize=["awq"], fixtures="fixtures")
    >>> packed.memory.weights_bytes
    19325298688

    Args:
        changes: values by config key, such as `{"num_key_value_heads": 1}`; a dotted key leads into a nested config.
        quantize: schemes to count each of them in, such as `awq`.
        others: as for `verify`.

    Raises:
        BadSetting: a key that neither the config has nor its family reads, or an impossible value.
        Others as `verify` does; ValueError also for an unknown scheme.
    """
    from hfcount.mapper.quantization_presets import PRESETS

    request = request_of(model, revision, subfolder, fixtures, offline=offline, timeout=timeout, cache=cache)
    for name, argument, wanted in (("changes", changes, Mapping), ("quantize", quantize, str)):
        if isinstance(argument, wanted):
            raise TypeError(f"{name} is {typed(argument)}, but must be a list, with an item for each what-if.")
    settings, schemes = [dict(change) for change in changes], [name.lower() for name in quantize]
    for name in schemes:
        check_choice("quantize", name, PRESETS)
    if schemes:
        packed = [{QUANTIZATION: dict(PRESETS[name])} for name in schemes]
        settings = [{**change, **scheme} for change, scheme in product(settings or [{}], packed)]
    return _what_ifs(request, Options(load=workload_of(context, batch, kv_dtype, tp, memory, engine)), settings)


def verify_tensors(
    config: Mapping[str, Any],
    tensors: Mapping[str, Any],
    *,
    allow: Collection[str] = (),
    strict: bool = False,
    derive_with: DerivedWith | None = None,
) -> Report:
    """Verifies tensors that are not saved yet, such as those of a state dict, against a config.

    >>> config = {"model_type": "llama", "vocab_size": 50, "hidden_size": 8, "intermediate_size": 16,
    ...           "num_hidden_layers": 1, "num_attention_heads": 2, "tie_word_embeddings": True, "dtype": "bfloat16"}
    >>> tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(config).tensors()}
    >>> verify_tensors(config, tensors).ok
    True
    >>> tensors["model.embed_tokens.weight"] = (52, 8), "BF16"
    >>> verify_tensors(config, tensors).raise_for_verdict()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hfcount.errors.NotVerified: tensors in memory: mismatch: 1 error (HF301 shape-differs): ... Set vocab_size to 52.

    Args:
        config: what config.json is to hold. Where it names no class, as that of a model which was not saved yet, the
            class of its type that has exactly these tensors is taken.
        tensors: by the name that each is to be saved under, a shape (elements) and a dtype, such as `(8, 4), "BF16"`,
            or anything that has a `shape` and a `dtype`: a torch tensor, on the meta device too, or an array.
        others: as for `verify`.

    Raises:
        UnknownArchitecture: no family describes the config.
        TypeError: an argument is of another type.
        ValueError: safetensors has no such dtype, or there is no such rule.
    """
    from hfcount.fetcher.memory import documents

    check_choice("derive_with", derive_with, (None, *get_args(DerivedWith)))
    options = Options("headers", policy_of(allow, strict), derive_with=derive_with)
    report = report_of(examine(documents(config, tensors), options))
    differs = report.verdict == "mismatch" or any(finding.code == "HF116" for finding in report.findings)
    if differs and config.get("architectures") in (None, []):
        return _of_fitting_class(config, tensors, options) or report
    return report


def _of_fitting_class(config: Mapping[str, Any], tensors: Mapping[str, Any], options: Options) -> Report | None:
    """The report by the first class of the config's type that has exactly these tensors, where the config names none.

    A config in memory names none until save_pretrained writes the class of the model into it.
    """
    from hfcount.fetcher.memory import documents
    from hfcount.mapper.classes import classes

    kind = config.get("model_type")
    for name in classes(kind) if isinstance(kind, str) else ():
        title = f"tensors in memory, as {name}"
        try:
            report = report_of(examine(documents({**config, "architectures": [name]}, tensors, title), options))
        except HfcountError:
            continue
        if report.ok and not any(finding.code == "HF209" for finding in report.findings):
            return report
    return None


def verify_model(
    model: Any,
    *,
    data: bool = False,
    allow: Collection[str] = (),
    strict: bool = False,
    derive_with: DerivedWith | None = None,
) -> Report:
    """Verifies a model of transformers that is in memory, as save_pretrained would write it.

    Its config need not have been saved: the class is the model's own, and so is the dtype. Of tied weights, which share
    their memory, one is compared. Names and shapes are enough, so the meta device will do.

    >>> model = transformers.AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B")  # doctest: +SKIP
    >>> verify_model(model).raise_for_verdict()  # doctest: +SKIP
    <Report Qwen3ForCausalLM in memory: verified>

    Args:
        model: the model; one compiled or wrapped for data parallelism is unwrapped.
        data: whether every value is looked at as well, for what is NaN, infinite or constant (extra `data`).
        others: as for `verify`.

    Raises:
        UnknownArchitecture: no family describes the config.
        TypeError: it is no model of transformers, or it is quantised, split between ranks or has an adapter, so that
            what it holds is not what it would save; or it is on the meta device, and has no `data`.
        ValueError: safetensors has no such dtype, or there is no such rule.
        ImportError: `data` is asked for, and there is no numpy.
    """
    from hfcount.fetcher.torch_model import opened, tensors_of

    check_choice("derive_with", derive_with, (None, *get_args(DerivedWith)))
    options = Options("headers", policy_of(allow, strict), derive_with=derive_with)
    documents = opened(model)
    inspection = examine(documents, options)
    if data:
        from hfcount.checkpoints.data.inspect import of_memory

        inspection = of_memory(inspection, tensors_of(documents))
    return report_of(inspection)


def diff(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    fixtures: str | PathLike[str] | None = None,
    offline: bool = False,
    depth: AskedDepth = "auto",
    timeout: float = 300.0,
    cache: bool = True,
    sample: bool = False,
    expect: Expected | None = None,
    adapter: str | PathLike[str] | None = None,
    derive_with: DerivedWith | None = None,
    structure: bool = False,
    allow_nan: bool = False,
    scale: float | None = None,
) -> "Diff":
    """Says what checkpoint `b` is to `a`, and what differs.

    >>> found = diff("Qwen/Qwen3-32B", "Qwen/Qwen3-32B", fixtures="fixtures")
    >>> found.same_structure, found.summary
    (True, "B has A's structure")

    Args:
        a, b: as `model` of `verify`; a revision is given as org/name@revision.
        depth: `data` compares all values of local files (extra `data`).
        sample: whether the first and last 64 KiB of each tensor are compared, where they can be read by ranges.
        expect: what `b` has to be: the report is then `ok` if it is.
        adapter: the adapter of PEFT that was merged into `a`, for `expect="merge"`.
        structure: whether the report is `ok` by the structure alone, although `depth="data"` compares values.
        allow_nan: whether what is expected may hold NaN and infinite values that `a` does not have.
        scale: how many times the adapter's delta was added on purpose; without it, more than 0 and at most 4 times.
        others: as for `verify`.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no such depth, expectation or timeout, a local folder with a revision, or one of
            `expect="merge"` and `adapter` without the other.

    A side that cannot be looked at is no exception: its `error` says why, and `same_structure` is None.
    """
    from hfcount.diffing.run import DiffOptions
    from hfcount.diffing.run import diff as differing

    check_choice("depth", depth, get_args(AskedDepth))
    check_choice("expect", expect, (None, *get_args(Expected)))
    check_choice("derive_with", derive_with, (None, *get_args(DerivedWith)))
    if (adapter is None) is (expect == "merge"):
        raise ValueError("expect='merge' needs adapter, and adapter needs expect='merge'. Give both or neither.")
    if scale is not None and expect != "merge":
        raise ValueError("scale is for expect='merge'")
    sides: list[Request | HfcountError] = []
    for name, model in (("a", a), ("b", b)):
        try:
            request = request_of(
                model, None, None, fixtures, offline=offline, timeout=timeout, cache=cache, called=name
            )
            sides.append(request.replace(headers=early(depth)))
        except HfcountError as error:
            sides.append(error)
    wanted = DiffOptions(
        sample, expect, None if adapter is None else fspath(adapter), None, structure, allow_nan, scale
    )
    return differing(sides[0], sides[1], Options(depth, derive_with=derive_with), wanted)


def saves(
    model: str | PathLike[str],
    *,
    loader: str = "transformers",
    dtype: AskedDtype | None = None,
    revision: str | None = None,
    subfolder: str | None = None,
    fixtures: str | PathLike[str] | None = None,
    offline: bool = False,
    timeout: float = 300.0,
    cache: bool = True,
) -> "Saves":
    """Says what from_pretrained followed by save_pretrained writes of a checkpoint, and what it loses.

    >>> result = saves(".github/examples/two-new-tokens")
    >>> result.refuses, result.exit_code
    ('refuses it for HF301, which `hfcount verify` explains', 1)

    Args:
        loader: transformers, or a recorded version of it, such as `transformers@4.57`.
        dtype: the argument of from_pretrained: `auto`, `float32`, `bfloat16` or `float16`; None if it is given none.
        others: as for `verify`.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no such loader, dtype or timeout, a local folder with a revision, or two revisions.

    A checkpoint that cannot be looked at is no exception: `error` says why, and `loses` is None.
    """
    from hfcount.diffing.saves.run import saves as saving

    check_choice("dtype", dtype, (None, *get_args(AskedDtype)))
    request: Request | HfcountError
    try:
        request = request_of(model, revision, subfolder, fixtures, offline=offline, timeout=timeout, cache=cache)
        request = request.replace(headers="all")
    except HfcountError as error:
        request = error
    return saving(request, saver_of(loader), dtype, Options("headers"))
