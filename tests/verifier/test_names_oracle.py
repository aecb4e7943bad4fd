"""Which names and layouts are taken, against transformers, which loads small checkpoints that have them."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.verifier.names import match

OF_VERSIONS = {"HF106", "HF113"}
"""Notes about keys that a config leaves to the defaults of the version that reads it."""

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)
modeling = pytest.importorskip("transformers.modeling_utils", reason=_EXTRA)
safetensors = pytest.importorskip("safetensors.torch", reason=_EXTRA)

Json = dict[str, Any]
Shapes = dict[str, tuple[int, ...]]
Edit = tuple[str, str]
"""A regular expression and its replacement."""

RECORDED = {path.stem: json.loads(path.read_text()) for path in sorted(ARCHITECTURES.glob("*.json"))}
_HALVED = ("ernie4_5_vl_moe",)  # stores in one tensor, or one list, what transformers holds in two
_HELD_OTHERWISE = {
    "inkling2": "transformers 5.24 gives the queries of its layers other numbers",
    "inkling2_loop": "transformers 5.24 gives the queries of its layers other numbers",
    "inkling2_loop_text": "transformers 5.24 gives the queries of its layers other numbers",
    "lara_mini": "transformers 5.24 splits in_proj into parts of unequal widths",
}
"""What keeps the names in memory from being those of a checkpoint, by type."""

JUDGED = [name for name, one in RECORDED.items() if one["judge"].startswith("transformers")]


def _class(values: Json) -> Any:
    from transformers_oracle import class_of

    return class_of(values)


def _config(architecture: str, **changes: Any) -> Json:
    return RECORDED[architecture]["config"] | changes


def _in_memory(values: Json) -> Shapes:
    """Names and shapes as transformers holds them, each of a tied pair once."""
    with torch.device("meta"):
        model = _class(values)._from_config(transformers.CONFIG_MAPPING[values["model_type"]].from_dict(dict(values)))
    ignored = set(model._keys_to_ignore_on_save or ())
    state = modeling.remove_tied_weights_from_state_dict(dict(model.state_dict()), model)
    return {name: tuple(tensor.shape) for name, tensor in state.items() if name not in ignored}


@pytest.mark.parametrize("name", [name for name in JUDGED if name not in _HALVED])
def test_names_that_transformers_holds_are_names_that_it_takes(name: str) -> None:
    """Without the renaming and repacking of its save path, in every architecture."""
    if name in _HELD_OTHERWISE:
        pytest.skip(_HELD_OTHERWISE[name])  # names that no checkpoint has, and that hfcount does not describe
    values = _config(name)
    blueprint, held = hfcount.blueprint(values), _in_memory(values)
    found = match(blueprint.leaves, held, blueprint.unmodeled, lambda: blueprint.spellings)
    assert (found.missing, found.unexpected, found.wrapped, found.unfinished) == ([], [], None, None)
    stored = {
        found.spelling.get(own, own): tuple(map(int, leaf.shape))
        for leaf, count in found.listed
        if count
        for own in found.names(leaf)
    }
    assert {one: shape for one, shape in stored.items() if one in held} == {
        one: held[one] for one in stored if one in held
    }


@pytest.mark.parametrize("name", JUDGED)
def test_the_base_models_prefix_is_the_one_that_transformers_adds_and_removes(name: str) -> None:
    values = _config(name)
    assert hfcount.blueprint(values).spellings.prefix.removesuffix(".") == _class(values).base_model_prefix


def _loads(folder: Path, values: Json) -> bool:
    """Whether transformers loads a checkpoint whole: nothing missing, nothing beside, no other shape."""
    try:
        _, told = _class(values).from_pretrained(folder, output_loading_info=True)
    except (RuntimeError, OSError, ValueError):
        return False
    return not any(told[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))


def _save(folder: Path, values: Json, tensors: Shapes) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values | {"dtype": "bfloat16"}))
    zeros = {name: torch.zeros(shape, dtype=torch.bfloat16) for name, shape in tensors.items()}
    safetensors.save_file(zeros, folder / "model.safetensors", metadata={"format": "pt"})


def _described(values: Json) -> Shapes:
    return {tensor.name: tuple(map(int, tensor.shape)) for tensor in hfcount.blueprint(values).tensors()}


def _edited(tensors: Shapes, edits: Iterable[Edit]) -> Shapes:
    for pattern, replacement in edits:
        tensors = {re.sub(pattern, replacement, name): shape for name, shape in tensors.items()}
    return tensors


LLAMA, BERT, GPT2 = _config("llama"), _config("bert"), _config("gpt2")
BARE = LLAMA | {"architectures": ["LlamaModel"]}
VISION_NAMES = [
    (r"^language_model\.model\.", "model.language_model."),
    (r"^language_model\.lm_head\.", "lm_head."),
    (r"^(vision_tower|multi_modal_projector)\.", r"model.\1."),
]
GAMMA = [(r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta")]
ONE_HEAD = [(r"^depth_head\.convs\.", "neck.convs."), (r"^depth_head\.project\.", "decoder.project.")]
UNTIED = {"tie_word_embeddings": False}

TAKEN: dict[str, tuple[Json, list[Edit]]] = {
    "as described": (LLAMA, []),
    "Llama without model.": (LLAMA, [(r"^model\.", "")]),
    "Llama, model. twice": (LLAMA, [(r"^model\.", "model.model.")]),
    "Llama, model. once more before all": (LLAMA | UNTIED, [(r"^", "model.")]),
    "Llama's head under model.": (LLAMA | UNTIED, [(r"^lm_head\.", "model.lm_head.")]),
    "Llama, one layer without model.": (LLAMA, [(r"^model\.(layers\.1)\.", r"\1.")]),
    "Llama, one tensor with model. twice": (LLAMA, [(r"^model\.norm\.", "model.model.norm.")]),
    "Mixtral without model.": (_config("mixtral"), [(r"^model\.", "")]),
    "Qwen3-VL's base model under model.": (
        _config("qwen3_vl", architectures=["Qwen3VLModel"]),
        [(r"^", "model.")],
    ),
    "a bare Llama under model.": (BARE, [(r"^", "model.")]),
    "GPT-2 without transformer.": (GPT2, [(r"^transformer\.", "")]),
    "BERT without bert.": (BERT, [(r"^bert\.", "")]),
    "BERT, gamma and beta": (BERT, GAMMA),
    "BERT, one gamma": (BERT, [(r"(layer\.0\.output\.LayerNorm)\.weight$", r"\1.gamma")]),
    "RoBERTa, gamma and beta, no roberta.": (_config("roberta"), [*GAMMA, (r"^roberta\.", "")]),
    "Gemma 3's newer names": (_config("gemma3"), VISION_NAMES),
    "Gemma 3, its language model alone": (_config("gemma3"), VISION_NAMES[:1]),
    "Gemma 3, the tower in its wrapper": (_config("gemma3"), [(r"^vision_tower\.", "vision_tower.vision_model.")]),
    "Gemma 3, a doubled model": (_config("gemma3"), [(r"^language_model\.model\.", "language_model.model.model.")]),
    "Fuyu's newer names": (
        _config("fuyu"),
        [*VISION_NAMES[:2], (r"^vision_embed_tokens\.", "model.vision_embed_tokens.")],
    ),
    "Qwen3.5's text in the multimodal class's names": (
        _config("qwen3_5_text"),
        [(r"^model\.", "model.language_model.")],
    ),
    "Llama 4's text in the multimodal class's names": (_config("llama4_text"), [(r"^", "language_model.")]),
    "SigLIP in its wrapper": (_config("siglip_vision_model"), [(r"^", "vision_model.")]),
    "GPT-NeoX's head": (_config("gpt_neox"), [(r"^embed_out\.", "lm_head.")]),
    "ViT's newer layers": (_config("vit"), [(r"encoder\.layer\.", "layers.")]),
    "T5 under its base model's name": (_config("t5"), [(r"^", "transformer.")]),
    "T5's classifier without it": (
        _config("t5", architectures=["T5ForTokenClassification"]),
        [(r"^transformer\.", "")],
    ),
    "Granite's newer router": (_config("granitemoe"), [(r"router\.layer\.", "router.")]),
    "TIPS v2's one head": (_config("tipsv2_dpt", architectures=["Tipsv2DptForDepthEstimation"]), ONE_HEAD),
}

BARE_MIXTRAL = _config("mixtral", architectures=["MixtralModel"])
EXPERTS = {
    "all of them": (r"^", "whole"),
    "none of them": (r"^x", "whole"),
    "one layer's": (r"^(?=layers\.1\.)", "whole"),
    "the last": (r"^(?=layers\.\d+\.block_sparse_moe\.experts\.[^01]\.)", "whole"),
    "one of them": (r"^(?=layers\.1\.block_sparse_moe\.experts\.0\.w2)", "mixed up"),
    "every second": (r"^(?=layers\.\d+\.block_sparse_moe\.experts\.\d*[02468]\.)", "mixed up"),
}


@pytest.mark.parametrize("name", EXPERTS)
def test_experts_keep_their_order_only_where_their_names_have_it(name: str, tmp_path: Path) -> None:
    """transformers stacks them in the order of the names in the file, and removes a prefix only then."""
    pattern, how = EXPERTS[name]
    tensors = {one: torch.randn(shape) for one, shape in _described(BARE_MIXTRAL).items()}

    def loaded(folder: Path, prefix: str, where: str) -> Any:
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(BARE_MIXTRAL | {"dtype": "float32"}))
        stored = {re.sub(where, prefix, one): tensor for one, tensor in tensors.items()}
        safetensors.save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
        return _class(BARE_MIXTRAL).from_pretrained(folder).state_dict()

    right, found = loaded(tmp_path / "right", "", "^"), loaded(tmp_path / "m", "model.", pattern)
    alike = all(torch.equal(found[one], tensor) for one, tensor in right.items())
    assert alike == (how == "whole")
    assert (hfcount.verify(str(tmp_path / "m")).verdict != "mismatch") == alike


REFUSED: dict[str, tuple[Json, list[Edit]]] = {
    "Llama under transformer.": (LLAMA, [(r"^model\.", "transformer.")]),
    "Llama under language_model.": (LLAMA, [(r"^", "language_model.")]),
    "Llama under language_model.model.": (LLAMA, [(r"^model\.", "language_model.model.")]),
    "Llama under model.language_model.": (LLAMA, [(r"^model\.", "model.language_model.")]),
    "Llama, model. three times": (LLAMA, [(r"^model\.", "model.model.model.")]),
    "GPT-2 under model.": (GPT2, [(r"^transformer\.", "model.")]),
    "an RMSNorm called gamma": (LLAMA, [(r"^model\.norm\.weight$", "model.norm.gamma")]),
    "a head called gamma": (LLAMA | UNTIED, [(r"^lm_head\.weight$", "lm_head.gamma")]),
    "a head under language_model.": (LLAMA | UNTIED, [(r"^lm_head\.", "language_model.lm_head.")]),
    "a query called gamma": (BERT, [(r"query\.weight$", "query.gamma")]),
    "GPT-2's LayerNorms called gamma": (GPT2, [(r"ln_1\.weight$", "ln_1.gamma")]),
    "Gemma 3's text in the multimodal class's names": (
        _config("gemma3_text"),
        [(r"^model\.", "language_model.model.")],
    ),
    "Llama 4's text without model.": (_config("llama4_text"), [(r"^model\.", "")]),
    "one of TIPS v2's heads called as if it were alone": (_config("tipsv2_dpt"), ONE_HEAD),
    "DDP": (LLAMA, [(r"^", "module.")]),
    "torch.compile": (LLAMA, [(r"^", "_orig_mod.")]),
    "PEFT": (LLAMA, [(r"^", "base_model.model."), (r"q_proj\.", "q_proj.base_layer.")]),
}


@pytest.mark.parametrize(
    ("values", "edits", "taken"),
    [
        *(pytest.param(*one, True, id=name) for name, one in TAKEN.items()),
        *(pytest.param(*one, False, id=name) for name, one in REFUSED.items()),
    ],
)
def test_a_spelling_is_taken_where_transformers_takes_it(
    values: Json, edits: list[Edit], taken: bool, tmp_path: Path
) -> None:
    _save(tmp_path, values, _edited(_described(values), edits))
    assert _loads(tmp_path, values) == taken
    report = hfcount.verify(str(tmp_path))
    assert (report.verdict in ("verified", "explained")) == taken
    codes = {finding.code for finding in report.findings if finding.code not in OF_VERSIONS}
    assert codes == ({"HF209"} if edits else set()) if taken else codes & {"HF201", "HF202", "HF211"}


def _packed(values: Json) -> Shapes:
    """The tensors as transformers holds them."""
    return _in_memory(values)


def _without_table(values: Json) -> Shapes:
    """Only the head of a tied pair."""
    tensors = _described(values)
    head = next(leaf for leaf in hfcount.blueprint(values).leaves if leaf.tied_to in tensors)
    return {name: shape for name, shape in tensors.items() if name != head.tied_to} | {
        head.name: tensors[head.tied_to or ""]
    }


LAYOUTS: dict[str, tuple[Json, Shapes]] = {
    **{f"{name} as held": (_config(name), _packed(_config(name))) for name in ("mixtral", "qwen3_moe", "hrm_text")},
    **{
        f"only the head of {name}": (
            _config(name, tie_word_embeddings=True),
            _without_table(_config(name, tie_word_embeddings=True)),
        )
        for name in ("llama", "gpt2", "bert", "bart", "t5", "gemma3")
    },
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_converted_where_transformers_converts_it(name: str, tmp_path: Path) -> None:
    values, tensors = LAYOUTS[name]
    _save(tmp_path, values, tensors)
    assert _loads(tmp_path, values)
    report = hfcount.verify(str(tmp_path))
    assert report.verdict == "explained"
    assert "HF212" in {finding.code for finding in report.findings} <= {"HF212", "HF209", "HF203", *OF_VERSIONS}


SEEING: Json = {
    "architectures": ["Qwen3VLMoeForConditionalGeneration"],
    "model_type": "qwen3_vl_moe",
    "tie_word_embeddings": False,
    "text_config": {
        "model_type": "qwen3_vl_moe_text",
        "vocab_size": 32,
        "hidden_size": 16,
        "intermediate_size": 20,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 6,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
    },
    "vision_config": {
        "model_type": "qwen3_vl_moe",
        "depth": 2,
        "hidden_size": 8,
        "intermediate_size": 12,
        "num_heads": 2,
        "in_channels": 3,
        "patch_size": 2,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 16,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [1],
    },
}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"gate_up_proj": (4, 16, 12), "down_proj": (4, 6, 16)}, "HF212"),
        ({"gate_up_proj": (4, 16, 12)}, "HF212"),
        ({}, ""),
        ({"gate_up_proj": (4, 12, 14)}, "HF301"),
    ],
    ids=["as published", "one of two", "as held", "of another size"],
)
def test_experts_with_their_dimensions_swapped(changes: Shapes, code: str, tmp_path: Path) -> None:
    tensors = _described(SEEING)
    others = {f"model.language_model.layers.0.mlp.experts.{end}": shape for end, shape in changes.items()}
    assert others.keys() <= tensors.keys()
    _save(tmp_path, SEEING, tensors | others)
    assert _loads(tmp_path, SEEING) == (code != "HF301")
    assert "".join({finding.code for finding in hfcount.verify(str(tmp_path)).findings} - OF_VERSIONS) == code
