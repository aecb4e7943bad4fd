"""Models of several stacks: towers alone and within a model, the symbols of their sizes, and what is no tower."""

import json
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.spec.nesting import symbol_within
from hfcount.spec.tree.indices import Indices

Json = dict[str, Any]


def recorded(name: str) -> Json:
    config: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return config


@pytest.mark.parametrize(
    ("outer", "key", "inner", "prefix"),
    [
        ("llava", "vision_config", "clip_vision_model", "vision_tower."),
        ("gemma3", "vision_config", "siglip_vision_model", "vision_tower."),
        ("lfm2_vl", "vision_config", "siglip2_vision_model", "model.vision_tower."),
        ("mistral3", "vision_config", "pixtral", "vision_tower."),
        ("mllama", "vision_config", "mllama_vision_model", "vision_model."),
        ("qwen2_vl", "vision_config", "qwen2_vl_vision", "visual."),
        ("qwen3_vl", "vision_config", "qwen3_vl_vision", "model.visual."),
        ("glm4v", "vision_config", "glm4v_vision", "model.visual."),
        ("qwen2_audio", "audio_config", "qwen2_audio_encoder", "audio_tower."),
        ("voxtral", "audio_config", "voxtral_encoder", "audio_tower."),
    ],
)
def test_a_tower_alone_has_the_tensors_that_it_has_within_a_model(
    outer: str, key: str, inner: str, prefix: str
) -> None:
    values = recorded(outer)
    alone = hfcount.blueprint(values[key] | {"model_type": inner})
    within = hfcount.blueprint(values)
    own = {tensor.name: tensor for tensor in within.tensors() if tensor.name.startswith(prefix)}
    assert {prefix + tensor.name: tensor.shape for tensor in alone.tensors()} == {
        name: tensor.shape for name, tensor in own.items()
    }
    assert {tensor.component for tensor in own.values()} == {key.removesuffix("_config")}
    assert {"attention", "mlp", "norm"} <= set(alone.by_component)


def test_the_symbols_of_a_tower_say_that_they_are_its_own() -> None:
    vision = hfcount.blueprint(recorded("llava")).formula().keys
    assert {vision[symbol] for symbol in ("d", "d_v", "d_vf", "N_v")} == {
        "text_config.hidden_size",
        "vision_config.hidden_size",
        "vision_config.intermediate_size",
        "vision_config.num_hidden_layers",
    }
    audio = hfcount.blueprint(recorded("qwen2_audio")).formula().keys
    assert {audio[symbol] for symbol in ("d_a", "d_af", "N_a")} == {
        "audio_config.d_model",
        "audio_config.encoder_ffn_dim",
        "audio_config.encoder_layers",
    }
    alone = hfcount.blueprint(recorded("clip_vision_model")).formula().keys
    assert (alone["d"], alone["N"]) == ("hidden_size", "num_hidden_layers")


def test_a_size_that_two_stacks_read_from_one_key_has_one_symbol() -> None:
    values = recorded("whisper") | {"architectures": ["WhisperForConditionalGeneration"]}
    keys = hfcount.blueprint(values).formula().keys
    assert (keys["d"], keys["d_ff"], keys["d_ef"]) == ("d_model", "decoder_ffn_dim", "encoder_ffn_dim")
    assert "d_e" not in keys


@pytest.mark.parametrize(
    ("symbol", "within"),
    [("d", "d_v"), ("d_ff", "d_vf"), ("n_p", "n_v"), ("N", "N_v"), ("h_kv", "h_vkv"), ("|V|", "|V_v|"), ("key", "key")],
)
def test_symbols_within_a_part(symbol: str, within: str) -> None:
    assert symbol_within(symbol, "v") == within


def _stack(d: int, layers: int, **more: Any) -> Spec:
    layer = Layer(mixer=GQA(heads=2, kv_heads=2, head_dim=d // 2), ffn=Dense(width=4 * d))
    return Spec(family="llama", hidden=d, layers=(Layers(indices=Indices.below(layers), layer=layer),), **more)


def test_a_model_may_have_any_number_of_stacks() -> None:
    patcher, encoder = _stack(4, 5), _stack(6, 7, parts={"audio": _stack(8, 9)})
    whole = _stack(10, 11, parts={"patcher": patcher, "encoder": encoder, "text": _stack(10, 11)})
    found = {}
    for name, part in {**whole.parts, **whole.parts["encoder"].parts}.items():
        ((size, count),) = ((part.hidden, one.indices.count) for one in part.layers)
        found[name] = (part.place, size.symbol, int(size), count.symbol, int(count))
    assert found == {
        "patcher": ("patcher", "d_p", 4, "N_p", 5),
        "encoder": ("encoder", "d_e", 6, "N_e", 7),
        "text": ("text", "d", 10, "N", 11),
        "audio": ("audio", "d_a", 8, "N_a", 9),
    }
    assert whole.replace(head="causal_lm").parts == whole.parts
    assert set(whole.without("encoder").parts) == {"patcher", "text"}


@pytest.mark.parametrize("model_type", ["no_such_tower", "qwen2"])
def test_what_is_no_tower_is_not_taken_for_one(model_type: str) -> None:
    values = recorded("llava")
    values["vision_config"] = recorded("qwen2") | {"model_type": model_type}
    with pytest.raises(hfcount.UnknownArchitecture, match=f"vision_config.*{model_type}"):
        hfcount.blueprint(values)


def test_keys_of_a_part_that_nobody_reads_are_named_with_the_way_to_them() -> None:
    values = recorded("llava")
    values["vision_config"] |= {"more_layers": 3}
    assert hfcount.blueprint(values).unread == ("vision_config.more_layers",)


def test_a_class_that_the_tower_does_not_have_is_unknown_alone_and_does_not_matter_within() -> None:
    named = {"architectures": ["CLIPVisionModelWithRegisters"]}
    with pytest.raises(hfcount.UnknownArchitecture, match="CLIPVisionModelWithRegisters"):
        hfcount.blueprint(recorded("clip_vision_model") | named)
    values = recorded("llava")
    assert hfcount.blueprint(values | {"vision_config": values["vision_config"] | named}).total


def test_the_encoder_of_whisper_alone() -> None:
    values = recorded("whisper")
    whole = hfcount.blueprint(values | {"architectures": ["WhisperModel"]})
    alone = hfcount.blueprint(values | {"architectures": ["WhisperEncoder"]})
    assert {f"encoder.{tensor.name}" for tensor in alone.tensors()} == {
        tensor.name for tensor in whole.tensors() if tensor.name.startswith("encoder.")
    }


@pytest.mark.parametrize("name", ["clip", "xclip", "bridgetower", "llava"])
def test_numbers_of_positions_that_earlier_versions_stored_are_skipped(name: str) -> None:
    known = {one.name: one.kind for one in hfcount.blueprint(recorded(name)).tensors(stored=False)}
    towers = [
        one.rpartition(".embeddings.")[0] for one in known if one.endswith("embeddings.position_embedding.weight")
    ]
    assert towers
    assert {known.get(f"{one}.embeddings.position_ids") for one in towers} == {"legacy"}
