"""Models of sentence-transformers whose root holds no model of transformers, as 6.2 loads or refuses them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from defects import DENSE, POOLING, Checkpoint, boxed, nested, raw, single
from loopback import Hub

import hfcount
from hfcount.checkpoints.inspect import Options, what_ifs
from hfcount.errors import BadSetting, FetchError
from hfcount.fetcher.find_checkpoints import checkpoints
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.report.renderers import table
from hfcount.sweeping.prefilter import screened

KIND = "config_sentence_transformers.json"
STATIC, LINEAR = {"embedding.weight": ("F32", (9, 12))}, {"linear.weight": ("F32", (4, 12))}
ROUTES = {"query": ["query_0_StaticEmbedding"], "document": ["document_0_Transformer", "document_1_Pooling"]}
Files = dict[str, Any]


def _kind(name: str) -> str:
    return f"sentence_transformers.models.{name}"


def _listed(**kinds: str) -> list[dict[str, str]]:
    """The modules by folder; a kind is a class of sentence-transformers, or the path of one."""
    return [
        {"name": path.strip(".") or "root", "path": path.strip("."), "type": kind if "." in kind else _kind(kind)}
        for path, kind in kinds.items()
    ]


def _static(folder: str = "", weights: Mapping[str, Any] = STATIC) -> Files:
    return {f"{folder}tokenizer.json": {}, f"{folder}model.safetensors": raw(dict(weights))}


def _alone() -> Files:
    """A table of embeddings at the root."""
    return {"modules.json": _listed(**{".": "StaticEmbedding", "1_Normalize": "Normalize"}), **_static()}


def _old() -> Files:
    """All modules in folders, as old versions wrote them, the second with pickled weights."""
    listed = _listed(**{"0_Transformer": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"})
    modules = {"modules.json": listed, "1_Pooling/config.json": POOLING, "2_Dense/config.json": DENSE}
    return {**modules, "0_Transformer": single(), "2_Dense/pytorch_model.bin": boxed(LINEAR)}


def _routed(config: str = "router_config.json") -> Files:
    """A Router at the root, whose routes are a table of embeddings and a transformer."""
    types = {name: _kind(name.rpartition("_")[2]) for names in ROUTES.values() for name in names}
    router = {"types": types, "structure": {**ROUTES}, "parameters": {}}
    files = {"modules.json": _listed(**{".": "Router"}), config: router, "document_1_Pooling/config.json": POOLING}
    return {**files, "document_0_Transformer": single(), **_static("query_0_StaticEmbedding/")}


def _two() -> Files:
    """A Router whose routes each run a transformer."""
    files = {name: held for name, held in _routed().items() if not name.startswith("query_0")}
    router = files["router_config.json"]
    router["types"]["query_0_StaticEmbedding"] = _kind("Transformer")
    router["structure"]["query"] = ["query_0_StaticEmbedding", "document_1_Pooling"]
    return {**files, "query_0_StaticEmbedding": single(num_hidden_layers=2)}


def _write(files: Files, folder: Path) -> Path:
    for name, held in sorted(files.items(), key=lambda file: not isinstance(file[1], Checkpoint)):
        place = folder / name
        if isinstance(held, Checkpoint):
            held.write(place)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(held if isinstance(held, bytes) else json.dumps(held).encode())
    return folder


MADE: dict[str, Callable[[], Files]] = {
    "alone": _alone,
    "old": _old,
    "routed": _routed,
    "legacy": lambda: _routed("config.json"),
    "two": _two,
    "model2vec": lambda: {
        **_alone(),
        **_static(weights={"embeddings": ("F16", (9, 12))}),
        "config.json": {"model_type": "model2vec"},
    },
    "words": lambda: {
        "modules.json": _listed(**{".": "WordEmbeddings", "1_Pooling": "Pooling"}),
        "wordembedding_config.json": {"tokenizer_class": "sentence_transformers.models.tokenizer.WhitespaceTokenizer"},
        "model.safetensors": raw({"emb_layer.weight": ("F32", (9, 12))}),
        "1_Pooling/config.json": POOLING,
    },
}


@pytest.mark.parametrize("made", MADE)
def test_a_folder_and_a_repo(hub: Hub, run: Run, tmp_path: Path, made: str) -> None:
    folder = _write(MADE[made](), tmp_path / "m")
    report = hfcount.verify(str(folder))
    assert (report.verdict, report.error) == ("verified", None)
    assert {one.kind for one in report.not_looked_at} <= {"no tokenizer"}
    assert {one.verdict for one in report.modules or ()} == {"verified"}
    hub.publish("org/m", folder)
    online = run("org/m")
    hub.requests.clear()
    again, offline = run("org/m"), run("org/m", "--offline")
    assert [one.report["verdict"] for one in (online, again, offline)] == ["verified"] * 3
    assert len(hub.requests) == 1


def test_what_is_counted(tmp_path: Path) -> None:
    alone, old, two = (hfcount.verify(str(_write(made(), tmp_path / made.__name__))) for made in (_alone, _old, _two))
    assert alone.parameters and alone.parameters.total == 108
    assert "names, shapes, dtypes and sizes of 1 file" in table.render([alone])
    assert (old.family, [one.parameters for one in old.modules or ()][1:]) == ("llama", [0, 48])
    totals = [one.parameters for one in two.modules or () if one.kind == "Transformer"]
    assert two.parameters and two.parameters.total == sum(filter(None, totals))
    assert [one.width for one in two.modules or ()] == [12, 12, 12]
    counted = hfcount.verify(str(tmp_path / "_two"), depth="config")
    assert (counted.verdict, counted.exit_code) == ("unverified", 0)


def _changed(made: Callable[[], Files], **files: Any) -> Files:
    changed = made() | {name.replace("__", "/"): held for name, held in files.items()}
    return {name: held for name, held in changed.items() if held is not None}


def _without(made: Callable[[], Files], *names: str) -> Files:
    return {name: held for name, held in made().items() if name not in names}


@pytest.mark.parametrize(
    "files",
    [
        {"1_Pooling/config.json": POOLING | {"word_embedding_dimension": 12, "embedding_dimension": 12}},
        {"1_Pooling/config.json": {"word_embedding_dimension": 5, "embedding_dimension": 12}},
        *(
            {"2_Dense/config.json": DENSE | {"activation_function": path}}
            for path in ("torch.nn.modules.linear.Identity", "torch.nn.GELU", "torch.nn.modules.SiLU", "odd.Tanh")
        ),
        {KIND: {"default_prompt_name": "query", "prompts": {"a": "b"}}},
        {KIND: {"default_prompt_name": "a", "prompts": {"a": "b"}}},
        {KIND: {"default_prompt_name": None}},
    ],
    ids=str,
)
def test_settings_that_are_taken(tmp_path: Path, files: Files) -> None:
    report = hfcount.verify(str(_write(_old() | files, tmp_path)))
    assert (report.verdict, report.findings) == ("verified", ()), str(report)


def _renamed(number: int, **changes: str) -> list[dict[str, str]]:
    """One of the modules in folders, with changes."""
    return [_old()["modules.json"][number] | changes]


def _typed(kind: str) -> Files:
    """The last of the modules in folders with another class."""
    return _old() | {"modules.json": [*_old()["modules.json"][:2], *_renamed(2, type=kind)]}


@pytest.mark.parametrize(
    ("files", "verdict"),
    [
        (_typed("sentence_transformers.base.modules.dense.Dense"), "verified"),
        (_typed("sentence_transformers.sentence_transformer.modules.Dense"), "verified"),
        (_old() | {"modules.json": [*_old()["modules.json"], *_renamed(2)]}, "verified"),
        (_old() | {KIND: {"truncate_dim": 8}}, "verified"),
        (_typed("sentence_transformers.models.Thick"), "unverified"),
        (
            _typed("sentence_transformers.models.Dens") | {KIND: {"__version__": {"sentence_transformers": "7.1.0"}}},
            "unverified",
        ),
    ],
    ids=str,
)
def test_paths_of_classes(tmp_path: Path, files: Files, verdict: str) -> None:
    """Those by which 6.2 imports its classes, and those that a newer version may have."""
    report = hfcount.verify(str(_write(files, tmp_path)))
    assert (report.verdict, [one.severity for one in report.findings]) == (
        verdict,
        ["note"] * (verdict == "unverified"),
    ), str(report)


INNER = single(num_hidden_layers=4)
INNER.shards = single().shards
ROUTER = _routed()["router_config.json"]


@pytest.mark.parametrize(
    ("files", "codes", "text"),
    [
        (_without(_alone, "tokenizer.json"), ["HF009"], "tokenizer.json is missing"),
        (_without(_alone, "model.safetensors"), ["HF009"], "model.safetensors is missing"),
        (_alone() | _static(weights={"weight": ("F32", (9, 12))}), ["HF802"], "embedding.weight"),
        (_alone() | {"model.safetensors": raw(STATIC)[:-4]}, ["HF004"], "model.safetensors"),
        (_alone() | {"modules.json": []}, ["HF001"], "names no module"),
        (_without(_old, "2_Dense/pytorch_model.bin"), ["HF009"], "2_Dense/model.safetensors is missing"),
        (_old() | {"2_Dense/pytorch_model.bin": boxed({"x": ("F32", (4, 12))})}, ["HF802"], "linear.weight"),
        (_old() | {"2_Dense/pytorch_model.bin": boxed({"linear.weight": ("F32", (4, 11))})}, ["HF803"], "4×11"),
        (_old() | {"2_Dense/pytorch_model.bin": nested(LINEAR)}, ["HF802"], "linear.weight"),
        (_old() | {"2_Dense/pytorch_model.bin": b"x"}, ["HF003"], "2_Dense/pytorch_model.bin"),
        (_old() | {"0_Transformer": INNER}, ["HF201"], "0_Transformer: "),
        (_without(_old, "0_Transformer"), ["HF009"], "0_Transformer is missing"),
        (
            _old() | {"1_Pooling/config.json": POOLING | {"pooling_mode_max_tokens": True}},
            ["HF804"],
            "1_Pooling writes 24",
        ),
        (_without(_routed, "router_config.json"), ["HF009"], "router_config.json is missing"),
        (_routed() | {"router_config.json": {**ROUTER, "parameters": None}}, ["HF001"], "parameters"),
        (_routed() | {"document_0_Transformer": INNER}, ["HF201"], "document_0_Transformer: "),
        (_routed() | {"document_0_Transformer/sentence_bert_config.json": {"odd": 1}}, ["HF801"], "odd"),
        (
            _routed() | {"document_0_Transformer/sentence_bert_config.json": {"transformer_task": "odd"}},
            ["HF801"],
            "feature-extraction",
        ),
        (
            _routed() | {"document_0_Transformer/sentence_bert_config.json": {"modality_config": {"text": {}}}},
            ["HF801"],
            "module_output_name",
        ),
        (_two() | {"query_0_StaticEmbedding": INNER}, ["HF201"], "query_0_StaticEmbedding: "),
        (
            _old() | {"2_Dense/config.json": DENSE | {"activation_function": "torch.nn.Odd"}},
            ["HF801"],
            "torch.nn.Odd",
        ),
        (
            _old() | {"2_Dense/config.json": DENSE | {"activation_function": "torch.nn.modules.linear.Tanh"}},
            ["HF801"],
            "",
        ),
        (_old() | {"2_Dense/config.json": DENSE | {"activation_function": "torch.relu"}}, ["HF801"], "torch.relu"),
        (_old() | {"2_Dense/config.json": DENSE | {"activation_function": "torch.nn.PReLU"}}, ["HF802"], "activation"),
        (_old() | {KIND: {"prompts": {"a": ""}, "default_prompt_name": "b"}}, ["HF801"], "for default_prompt_name"),
        (_old() | {KIND: {"prompts": None}}, ["HF801"], "null for prompts"),
        (_old() | {KIND: {"model_type": "CrossEncoder", "default_prompt_name": "query"}}, ["HF801"], "query"),
        (MADE["words"]() | {"wordembedding_config.json": {"tokenizer_class": "odd"}}, ["HF801"], "tokenizer_class"),
        (_old() | {KIND: {"truncate_dim": "8"}}, ["HF801"], "for truncate_dim"),
        (
            _old() | {KIND: {"model_type": "SparseEncoder", "max_active_dims": 8.5}},
            ["HF801"],
            "max_active_dims",
        ),
        *((_typed(kind), ["HF807"], f'the class "{kind}"') for kind in ("", "Dense", "sentence_transformers.Dense")),
        (_typed("sentence_transformers.models.Dens"), ["HF807"], "cannot import"),
        (_old() | {"modules.json": [*_old()["modules.json"], *_renamed(1, name="2_Dense")]}, ["HF001"], "several"),
    ],
)
def test_what_is_refused(tmp_path: Path, files: Files, codes: list[str], text: str) -> None:
    report = hfcount.verify(str(_write(files, tmp_path / "m")))
    assert ([one.code for one in report.findings if one.severity == "error"], report.verdict) == (codes, "mismatch")
    assert text in report.findings[0].message


def test_lengths_come_from_tables_of_words(tmp_path: Path) -> None:
    config = {"embedding_dimension": 12, "hidden_dim": 6}
    tensors = {
        f"encoder.{name}_l0{end}": ("F32", (24, *side))
        for name, side in {"weight_ih": (12,), "weight_hh": (6,), "bias_ih": (), "bias_hh": ()}.items()
        for end in ("", "_reverse")
    }
    lstm = {
        "1_LSTM/lstm_config.json": config,
        "1_LSTM/model.safetensors": raw(tensors),
        "2_Pooling/config.json": POOLING,
    }
    for first, code in {"WordEmbeddings": [], "Transformer": ["HF805"]}.items():
        made = MADE["words"]() if code == [] else {"0": single()}
        listed = _listed(**{"." if code == [] else "0": first, "1_LSTM": "LSTM", "2_Pooling": "Pooling"})
        report = hfcount.verify(str(_write(made | lstm | {"modules.json": listed}, tmp_path / first)))
        assert [one.code for one in report.findings] == code


def test_what_cannot_be_told(tmp_path: Path) -> None:
    odd = _write(_old() | {"0_Transformer/config.json": {"model_type": "odd"}}, tmp_path / "odd")
    report = hfcount.verify(str(odd))
    assert (report.verdict, report.error and report.error.kind) == ("unverified", "UnknownArchitecture")
    lost = _write(_without(_old, "0_Transformer") | {"modules.json": _listed(**{".": "Transformer"})}, tmp_path / "l")
    with pytest.raises(FetchError, match="is read from"):
        hfcount.verify(str(lost))
    request = hfcount.fetcher.Request(str(odd))
    with pytest.raises(BadSetting, match=r"no config\.json"):
        what_ifs(request, Options(), [{"hidden_size": 8}])


def test_trees_hold_models_and_not_their_modules(tmp_path: Path) -> None:
    for name, made in MADE.items():
        _write(made(), tmp_path / name)
    (tmp_path / "nf").mkdir()
    (tmp_path / "nf" / "modules.json").write_text('{"repos": {}}')
    assert [Path(one).name for one in checkpoints(tmp_path)] == sorted(MADE)
    assert {"old", "routed"} <= set(all_fixtures(tmp_path))
    assert not any("/" in one for one in all_fixtures(tmp_path))


@pytest.mark.parametrize("made", MADE)
def test_a_sweep_looks_at_them(tmp_path: Path, made: str) -> None:
    folder = _write(MADE[made](), tmp_path / "m")
    files = [one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()]
    assert screened({"config": {"model_type": "model2vec"}}, files, signed=False) is None
    assert screened({}, [*filter("modules.json".__ne__, files)], signed=False) or "config.json" in files


def test_a_recording(run: Run, tmp_path: Path) -> None:
    folder, kept = _write(_two(), tmp_path / "two"), tmp_path / "kept"
    assert run(folder, "--save", kept).report["verdict"] == "verified"
    assert run("--fixtures", kept, "two").report["verdict"] == "verified"
