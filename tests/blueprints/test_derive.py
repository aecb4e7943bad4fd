"""Names and shapes by transformers, where no family describes a type."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from transformers_oracle import RECORDED, Json, torch, transformers

import hfcount
from hfcount.blueprints.build import build
from hfcount.blueprints.derive_transformers import MOST_LAYERS, MOST_MODULES, derive
from hfcount.cli.main import main

KINDS = ("bert", "deepseek_v3", "jamba", "mamba", "mixtral", "qwen2_vl", "swin", "t5", "wav2vec2", "whisper", "xlnet")


class Odd(transformers.PreTrainedConfig):
    model_type = "odd_one"
    vocab_size: int = 8
    hidden_size: int = 4
    num_hidden_layers: int = 3
    tie_word_embeddings: bool = True


class OddModel(transformers.PreTrainedModel):
    config_class = Odd
    base_model_prefix = "odd"
    _tied_weights_keys = {"out.weight": "embed.weight"}  # noqa: RUF012 - transformers reads a plain class attribute

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        d = config.hidden_size
        self.embed = torch.nn.Embedding(config.vocab_size, d)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(d, d) for _ in range(config.num_hidden_layers))
        self.out = torch.nn.Linear(d, config.vocab_size, bias=False)
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("places", torch.arange(4), persistent=False)
        self.post_init()

    def get_input_embeddings(self) -> Any:
        return self.embed


ODD: Json = {"model_type": "odd_one", "vocab_size": 8, "hidden_size": 4, "num_hidden_layers": 3, "dtype": "float32"}


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    transformers.AutoConfig.register("odd_one", Odd, exist_ok=True)
    transformers.AutoModel.register(Odd, OddModel, exist_ok=True)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of a type that no family describes, as transformers saves it."""
    OddModel(Odd(**{key: value for key, value in ODD.items() if key != "model_type"})).save_pretrained(tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps({key: one for key, one in values.items() if key != "architectures"})
    )
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_the_tensors_are_those_of_a_family(kind: str) -> None:
    found, known = derive(RECORDED[kind], "config.json"), build(hfcount.mapper.Config(RECORDED[kind]))
    assert {(one.name, one.shape) for one in found.tensors()} == {(one.name, one.shape) for one in known.tensors()}
    assert found.total == known.total
    assert len(found.leaves) <= 3 * len(known.leaves)  # folded, too


def test_a_checkpoint_is_verified_and_the_verdict_says_by_what(checkpoint: Path) -> None:
    with pytest.raises(hfcount.UnknownArchitecture, match="hfcount does not know model_type odd_one"):
        hfcount.verify(str(checkpoint))
    report = hfcount.verify(str(checkpoint), derive_with="transformers")
    assert (report.verdict, report.derived_with) == ("verified", f"transformers {transformers.__version__}")
    assert report.parameters is not None
    assert (report.parameters.total, report.parameters.active) == (8 * 4 + 3 * (16 + 4), None)
    shown = CliRunner().invoke(main, [str(checkpoint), "--derive-with", "transformers"], standalone_mode=False).output
    assert f"(names and shapes by transformers {transformers.__version__})" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("name", "shape", "codes"),
    [
        ("out.weight", (8, 4), ["HF203"]),  # the second name of the embedding
        ("places", (4,), ["HF204"]),
        ("layers.0.weight", (3, 4), ["HF301"]),
        ("layers.3.weight", (4, 4), ["HF202"]),
    ],
)
def test_what_is_stored_besides_is_judged(
    checkpoint: Path, name: str, shape: tuple[int, ...], codes: list[str]
) -> None:
    from safetensors.torch import load_file, save_file

    state = load_file(checkpoint / "model.safetensors")
    value = torch.arange(4) if name == "places" else torch.zeros(shape)
    state[name] = state["embed.weight"].clone() if name == "out.weight" else value
    save_file(state, checkpoint / "model.safetensors", {"format": "pt"})
    report = hfcount.verify(str(checkpoint), derive_with="transformers")
    assert [finding.code for finding in report.findings] == codes


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        (
            {"model_type": "no_such_type"},
            hfcount.UnknownArchitecture,
            "neither hfcount nor .* knows model_type no_such",
        ),
        (ODD | {"architectures": ["OddForever"]}, hfcount.UnknownArchitecture, "code that a repo brings is not run"),
        (ODD | {"hidden_size": "wide"}, hfcount.UnknownArchitecture, "builds no model of it"),
        (ODD | {"num_hidden_layers": 10**9}, hfcount.ConfigError, f"at most {MOST_LAYERS:,} are"),
        (ODD | {"text_config": {"n_layers": 10**9}}, hfcount.ConfigError, "n_layers is 1,000,000,000"),
    ],
)
def test_what_cannot_be_built_is_refused(values: Json, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        derive(values, "config.json")


def test_more_modules_than_can_be_built_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_MODULES > 1_000_000
    monkeypatch.setattr("hfcount.blueprints.derive_transformers.MOST_MODULES", 2)
    with pytest.raises(hfcount.ConfigError, match="more than 2 modules"):
        derive(ODD, "config.json")


def test_nothing_is_derived_where_a_family_is_whole(checkpoint: Path) -> None:
    (checkpoint / "config.json").write_text(json.dumps(RECORDED["llama"]))
    report = hfcount.verify(str(checkpoint), depth="config", derive_with="transformers")
    assert (report.family, report.derived_with) == ("llama", None)


def test_an_option_that_does_not_exist_is_refused(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="derive_with is 'torch'"):
        hfcount.verify(str(checkpoint), derive_with="torch")  # type: ignore[arg-type] - a wrong argument is the test
