"""The cause of a difference is named where it is proven, and the cure that is named with it does cure."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from build import Json, config
from conftest import Run
from defects import FIRST, SECOND, Checkpoint, Tensors, stored
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount.mapper.classes import HEAD, classes
from hfcount.mapper.whatif import changed


def recorded(name: str, **changes: Any) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return changed(values, {key.replace("__", "."): value for key, value in changes.items()})


@dataclass
class Case:
    """A checkpoint that was saved by one config, and has another.

    Args:
        saved: the config that it was saved by.
        says: the config that it has; None if it is that one.
        spoil: damages the tensors.
        codes: of the findings.
        cause: what the message must say of the cause.
        fix: what to do.
    """

    saved: Json
    says: Json | None = None
    spoil: Callable[[Tensors], Tensors] = lambda tensors: tensors
    codes: str = "HF301"
    cause: str = ""
    fix: str | None = None


def without(*parts: str) -> Callable[[Tensors], Tensors]:
    """Tensors with one of these in their names are lost."""
    return lambda tensors: {name: one for name, one in tensors.items() if not any(part in name for part in parts)}


def renamed(old: str, new: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {name.replace(old, new): one for name, one in tensors.items()}


def reshaped(**shapes: tuple[int, ...]) -> Callable[[Tensors], Tensors]:
    """Tensors have other shapes; `__` stands for a dot, and the key for the end of a name."""
    ends = {key.replace("__", ".") + ".weight": shape for key, shape in shapes.items()}

    def spoil(tensors: Tensors) -> Tensors:
        return {
            name: (dtype, next((new for end, new in ends.items() if name.endswith(end)), shape))
            for name, (dtype, shape) in tensors.items()
        }

    return spoil


def fused(*parts: str) -> Callable[[Tensors], Tensors]:
    """Projections in one; the last part is its name."""

    def spoil(tensors: Tensors) -> Tensors:
        found, (*apart, whole) = dict[str, Any](), parts
        for name, (dtype, shape) in tensors.items():
            own = next((part for part in apart if part in name), None)
            if own is not None:
                name = name.replace(own, whole)
                shape = (found[name][1][0] + shape[0], *shape[1:]) if name in found else shape
            found[name] = dtype, shape
        return found

    return spoil


def transposed(*parts: str) -> Callable[[Tensors], Tensors]:
    def spoil(tensors: Tensors) -> Tensors:
        return {
            name: (dtype, shape[::-1] if any(part in name for part in parts) else shape)
            for name, (dtype, shape) in tensors.items()
        }

    return spoil


def experts(*counts: int) -> Callable[[Tensors], Tensors]:
    """Each layer keeps so many experts, and its router as many rows."""

    def spoil(tensors: Tensors) -> Tensors:
        kept = {}
        for name, (dtype, shape) in tensors.items():
            if found := re.search(r"layers\.(\d+)\.mlp\.(?:experts\.(\d+)|gate\.)", name):
                count = counts[int(found[1])]
                if found[2] and int(found[2]) >= count:
                    continue
                shape = shape if found[2] else (count, *shape[1:])
            kept[name] = dtype, shape
        return kept

    return spoil


def packed(tensors: Tensors) -> Tensors:
    """Every projection of the layers is stored as FP8 in one block, with its scale."""
    names = [name for name in tensors if name.endswith("_proj.weight")]
    scales = {f"{name}_scale_inv": ("F32", (1, 1)) for name in names}
    return tensors | {name: ("F8_E4M3", tensors[name][1]) for name in names} | scales


def both(first: Callable[[Tensors], Tensors], second: Callable[[Tensors], Tensors]) -> Callable[[Tensors], Tensors]:
    return lambda tensors: second(first(tensors))


METAS = {
    "post_attention_layernorm": "ffn_norm",
    "input_layernorm": "attention_norm",
    "embed_tokens": "tok_embeddings",
    "gate_proj": "w1",
    "down_proj": "w2",
    "up_proj": "w3",
    "mlp": "feed_forward",
    "self_attn": "attention",
} | {f"{one}_proj": f"w{one}" for one in "qkvo"}
"""What transformers calls otherwise than Meta, but for the head."""

FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
LLAMA, MOE = config("llama"), config("qwen3_moe")
GEMMA, LLAVA = recorded("gemma3"), recorded("llava")
T5, QWEN2 = recorded("t5"), config("qwen2", hidden_size=14, num_attention_heads=2, num_key_value_heads=1)

CASES = {
    # Sizes
    "a resized vocabulary": Case(
        config("llama", vocab_size=54),
        LLAMA,
        cause="vocab_size is 50, but the checkpoint has 54 rows.",
        fix="Set vocab_size to 54.",
    ),
    "a padded vocabulary": Case(
        config("llama", vocab_size=128),
        LLAMA,
        cause="but the checkpoint has 128 rows: 50 rounded up to a multiple of 128, as Megatron and other"
        " trainers pad it.",
        fix="Set vocab_size to 128, or cut the rows from 50 on.",
    ),
    "more positions, which nobody pads": Case(
        recorded("bert", max_position_embeddings=1024),
        recorded("bert"),
        cause="but the checkpoint has 1,024 rows.",
        fix="Set max_position_embeddings to 1024.",
    ),
    "the head was not resized": Case(
        LLAMA,
        config("llama", vocab_size=54),
        reshaped(embed_tokens=(54, 12)),
        cause="model.embed_tokens.weight has 54 rows and lm_head.weight has 50 rows: one was resized or cut without"
        " the other",
        fix="Resize both to the same number of rows, and set vocab_size to it.",
    ),
    "a pruned width, and heads as they were": Case(
        QWEN2 | {"head_dim": 8},
        QWEN2,
        cause="head_dim is derived as hidden_size / num_attention_heads = 7, but 8 would fit.",
        fix="Add head_dim: 8.",
    ),
    "a config of another size": Case(
        config("llama", hidden_size=20, intermediate_size=33, num_hidden_layers=5, vocab_size=60),
        LLAMA,
        codes="HF202",
        cause="config.json is from another model: vocab_size is 50, but the checkpoint has 60 rows; hidden_size is"
        " 12, but 20 would fit; intermediate_size is 20, but 33 would fit; num_hidden_layers is 3, but the"
        " checkpoint has 5 layers.",
        fix="Use the config.json of the model that was saved.",
    ),
    "half of the width in all, which no rank of several has": Case(
        config("llama", hidden_size=24, head_dim=6),
        config("llama", hidden_size=48, head_dim=6),
        cause="hidden_size is 48, but 24 would fit.",
        fix="Set hidden_size to 24.",
    ),
    "half of the width in all, and no norms": Case(
        recorded("hrm_text"),
        recorded("hrm_text", hidden_size=88),
        cause="hidden_size is 88, but 44 would fit.",
        fix="Set hidden_size to 44.",
    ),
    "heads of another number": Case(
        config("qwen3", num_attention_heads=8, num_key_value_heads=4),
        config("qwen3"),
        cause="num_attention_heads is 4, but 8 would fit; num_key_value_heads is 2, but 4 would fit.",
        fix="Set num_attention_heads to 8 and num_key_value_heads to 4.",
    ),
    "a wrong size of a part": Case(
        GEMMA,
        recorded("gemma3", text_config__intermediate_size=99),
        cause="text_config.intermediate_size is 99, but 184 would fit.",
        fix="Set text_config.intermediate_size to 184.",
    ),
    # Layers and experts
    "more layers than the config says": Case(
        config("llama", num_hidden_layers=5),
        LLAMA,
        codes="HF202",
        cause="num_hidden_layers is 3, but the checkpoint has 5 layers.",
        fix="Set num_hidden_layers to 5.",
    ),
    "fewer layers, and a list of their types": Case(
        config("qwen2", num_hidden_layers=2, layer_types=["full_attention"] * 2),
        config("qwen2", layer_types=["full_attention"] * 3),
        codes="HF201",
        cause="num_hidden_layers is 3, but the checkpoint has 2 layers.",
        fix="Add what is missing, or set num_hidden_layers to 2, and make layer_types that long.",
    ),
    "fewer layers of an encoder": Case(
        T5 | {"num_layers": 1},
        T5 | {"num_layers": 3, "num_decoder_layers": T5["num_decoder_layers"]},
        codes="HF201",
        cause="num_layers is 3, but the checkpoint has 1 layer.",
        fix="Add what is missing, or set num_layers to 1.",
    ),
    "fewer experts": Case(
        config("qwen3_moe", num_experts=6),
        MOE,
        codes="HF201",
        cause="That also explains: 3 tensors of Qwen3MoeForCausalLM have the wrong shape, such as"
        " model.layers.{0-2}.mlp.gate.weight: expected 8×12, stored 6×12. num_experts is 8, but the checkpoint has 6"
        " experts in every layer.",
        fix="Set num_experts to 6.",
    ),
    "fewer experts, and a router as it was": Case(
        config("qwen3_moe", num_experts=6),
        spoil=reshaped(mlp__gate=(8, 12)),
        cause="The router model.layers.{0-2}.mlp.gate.weight has 8 rows, but 6 experts are stored.",
        fix="Cut its rows down to the 6 stored experts.",
    ),
    "fewer experts than the config and the router have": Case(
        MOE,
        spoil=without("experts.6.", "experts.7."),
        codes="HF201",
        cause="The router model.layers.{0-2}.mlp.gate.weight has 8 rows, but 6 experts are stored",
        fix="Add the missing experts, or cut its rows down to the 6 stored experts and set num_experts to 6.",
    ),
    "fewer packed experts, and a router as it was": Case(
        recorded("gpt_oss", num_local_experts=6),
        spoil=lambda tensors: {
            name: (dtype, (8, *shape[1:]) if ".router." in name else shape) for name, (dtype, shape) in tensors.items()
        },
        cause="The router model.layers.{0-2}.mlp.router.weight has 8 rows, but 6 experts are stored.",
        fix="Cut its rows down to the 6 stored experts.",
    ),
    "experts that differ layer by layer": Case(
        MOE,
        spoil=experts(8, 6, 4),
        codes="HF201",
        cause="The layers differ from one another: num_experts is 8 in layer 0, 6 in layer 1 and 4 in layer 2. This"
        " architecture has one num_experts for all layers, so no config fits.",
    ),
    "widths that differ layer by layer": Case(
        LLAMA,
        spoil=reshaped(
            **{f"layers__{n}__mlp__{one}": (w, 12) for n, w in ((0, 15), (1, 9)) for one in ("gate_proj", "up_proj")},
            **{f"layers__{n}__mlp__down_proj": (12, w) for n, w in ((0, 15), (1, 9))},
        ),
        cause="The layers differ from one another: intermediate_size is 15 in layer 0, 9 in layer 1 and 20 in layer"
        " 2. This architecture has one intermediate_size for all layers",
    ),
    "widths that differ layer by layer, where the config can say so": Case(
        recorded("gemma3n_text", intermediate_size=[9, 9, 8, 9, 9, 7, 9, 9]),
        recorded("gemma3n_text"),
        cause="intermediate_size is 9 in layers 0-1,3-4,6-7, 8 in layer 2 and 7 in layer 5.",
        fix="Set intermediate_size to [9, 9, 8, 9, 9, 7, 9, 9].",
    ),
    "heads that differ layer by layer": Case(
        LLAMA,
        spoil=reshaped(layers__1__self_attn__o_proj=(12, 9)),
        cause="The layers differ from one another: model.layers.{0-2}.self_attn.o_proj.weight is 12×12 in layers 0,2"
        " and 12×9 in layer 1.",
    ),
    # Losses
    "layers lost, and the norm": Case(
        config("llama", num_hidden_layers=6),
        spoil=without("layers.2.", "layers.3.", "layers.5.", "model.norm"),
        codes="HF201",
        cause="Layers 2-3,5 of model.layers and the part model.norm are missing completely, though later layers are"
        " stored, so another number of layers would not fit: lost in saving or conversion.",
        fix="Add what is missing.",
    ),
    "a layer lost within": Case(
        LLAMA,
        spoil=without("layers.1."),
        codes="HF201",
        cause="Layer 1 of model.layers is missing completely, though later layers are stored, so another",
        fix="Add what is missing; or, if they were left out on purpose, renumber the others 0-1 and set"
        " num_hidden_layers to 2.",
    ),
    "layers left out, and not renumbered": Case(
        config("llama", num_hidden_layers=4),
        LLAMA,
        without("layers.1."),
        codes="HF201",
        cause="The layers of model.layers are numbered 0,2-3: the numbers have a gap or do not start at 0.",
        fix="Renumber them 0-2, in the same order.",
    ),
    "a head lost": Case(LLAMA, spoil=without("lm_head"), codes="HF201", cause="lm_head.weight."),
    "a head lost, of an encoder and decoder": Case(T5, spoil=without("final_layer_norm"), codes="HF201"),
    "a tower lost": Case(
        GEMMA,
        spoil=without("vision_tower", "multi_modal_projector"),
        codes="HF201",
        cause="The parts vision_tower and multi_modal_projector are missing completely, but vision_config describes"
        " them: a text-only conversion.",
        fix="Add them from the model that was converted, or use the contents of text_config as config.json and remove"
        " language_model. from the names.",
    ),
    "a projector lost": Case(
        GEMMA,
        spoil=without("multi_modal_projector"),
        codes="HF201",
        cause="The part multi_modal_projector is missing completely, but config.json describes it: lost in saving",
        fix="Add it from the model that was converted.",
    ),
    "a tower besides": Case(
        GEMMA,
        GEMMA["text_config"] | {"dtype": "bfloat16"},
        renamed("language_model.", ""),
        codes="HF202",
        cause="All tensors of gemma3_text are stored, and also vision_tower and multi_modal_projector, which it does"
        " not have",
        fix="Save without them, or name the class that has them in architectures.",
    ),
    # Other switches and architectures
    "biases that a key announces": Case(
        config("llama", attention_bias=True),
        LLAMA,
        codes="HF202",
        cause="attention_bias is absent, but true would fit.",
        fix="Set attention_bias to true.",
    ),
    "biases of two kinds": Case(
        config("llama", attention_bias=True, mlp_bias=True),
        config("llama", attention_bias=False, mlp_bias=False),
        codes="HF202",
        cause="attention_bias is false, but true would fit; mlp_bias is false, but true would fit.",
        fix="Set attention_bias to true and mlp_bias to true.",
    ),
    "biases and a size": Case(
        config("llama", attention_bias=True, hidden_size=16),
        LLAMA,
        codes="HF202",
        cause="hidden_size is 12, but 16 would fit. attention_bias is absent, but true",
        fix="Set hidden_size to 16. Set attention_bias to true.",
    ),
    "queries of a low rank": Case(
        recorded("deepseek_v2", q_lora_rank=6),
        recorded("deepseek_v2", q_lora_rank=None),
        codes="HF201",
        cause="q_lora_rank is absent, but 6 would fit.",
        fix="Set q_lora_rank to 6.",
    ),
    "layers that are dense by their numbers, and are not": Case(
        MOE,
        config("qwen3_moe", mlp_only_layers=[1]),
        codes="HF201",
        cause="mlp_only_layers is [1], but [] would fit.",
        fix="Set mlp_only_layers to [].",
    ),
    "a layer that is dense, and is not said to be": Case(
        config("qwen3_moe", mlp_only_layers=[1]),
        MOE,
        codes="HF201",
        cause="mlp_only_layers is [], but [1] would fit.",
        fix="Set mlp_only_layers to [1].",
    ),
    "layers of two kinds in another order": Case(
        recorded("qwen3_next", layer_types=[*["linear_attention"] * 3, "full_attention"]),
        recorded("qwen3_next", layer_types=["full_attention", *["linear_attention"] * 3]),
        codes="HF201",
        cause='but ["linear_attention", "linear_attention", "linear_attention", "full_attention"] would fit.',
        fix='Set layer_types to ["linear_attention", "linear_attention", "linear_attention", "full_attention"].',
    ),
    "biases of another architecture": Case(
        config("qwen2"),
        config("llama", attention_bias=False),
        codes="HF202",
        cause="; attention_bias true would ask for model.layers.{0-2}.self_attn.o_proj.bias besides.",
        fix="Set model_type to qwen2, and architectures to its class.",
    ),
    "names of another architecture, and a width that it takes": Case(
        config("qwen3"),
        config("llama"),
        codes="HF202",
        cause="These are the names of model_type qwen3, and in it head_dim is 128 by default, but 6 would fit.",
        fix="Set model_type to qwen3, and architectures to its class; add head_dim: 6.",
    ),
    "no biases, where the architecture has them": Case(
        LLAMA,
        config("qwen2"),
        codes="HF201",
        cause="These are the names of model_type llama, with which the config describes all stored tensors",
        fix="Add what is missing, or set model_type to llama, and architectures to its class.",
    ),
    "names of another architecture": Case(
        LLAMA,
        LLAMA | {"model_type": "phi3", "architectures": ["Phi3ForCausalLM"]},
        codes="HF201",
        cause="These are the names of model_type llama, with which the config describes all stored tensors, as it",
        fix="Set model_type to llama, and architectures to its class.",
    ),
    "what the architecture fuses is apart": Case(
        LLAMA,
        LLAMA | {"model_type": "phi3", "architectures": ["Phi3ForCausalLM"]},
        codes="HF201",
        cause="model.layers.{0-2}.mlp has gate_proj and up_proj instead of gate_up_proj",
        fix="Set model_type to llama, and architectures to its class.",
    ),
    "what is apart in the architecture is fused": Case(
        recorded("gemma2"),
        spoil=fused("q_proj", "k_proj", "v_proj", "qkv_proj"),
        codes="HF201",
        cause="self_attn has qkv_proj instead of q_proj, k_proj and v_proj: the layout of another architecture.",
    ),
    # Other names
    "a router of another name": Case(
        MOE,
        spoil=renamed("mlp.gate.", "mlp.router."),
        codes="HF201",
        cause="For each missing tensor, one of the same shape is stored under another name, such as"
        " model.layers.{0-2}.mlp.router.weight for model.layers.{0-2}.mlp.gate.weight: most likely it is the same one.",
        fix="Rename model.layers.{0-2}.mlp.router.weight to model.layers.{0-2}.mlp.gate.weight, if they are the same.",
    ),
    "dots that became slashes": Case(
        LLAMA,
        spoil=lambda tensors: {name.replace(".", "/"): one for name, one in tensors.items()},
        codes="HF201",
        cause="For each missing tensor, one of the same shape is stored under another name",
        fix="Rename them, if they are the same.",
    ),
    "names of Meta, of which one is transformers' own without its prefix": Case(
        LLAMA,
        spoil=lambda tensors: {
            reduce(lambda text, pair: text.replace(*pair), METAS.items(), name.removeprefix("model.")): one
            for name, one in tensors.items()
        },
        codes="HF201",
        cause="These are names of the original files of Meta and Mistral (consolidated.*).",
        fix="Convert them with the script in transformers, such as convert_llama_weights_to_hf.",
    ),
    "names of llama.cpp": Case(
        LLAMA,
        spoil=both(renamed("model.layers", "blk"), both(renamed("self_attn.", "attn_"), renamed("mlp.", "ffn_"))),
        codes="HF201",
        cause="These are names of llama.cpp (GGUF).",
        fix="Convert the GGUF file with transformers: from_pretrained(..., gguf_file=...) and save_pretrained.",
    ),
    "names of Flax, whose matrices are transposed": Case(
        LLAMA,
        spoil=both(transposed("_proj"), renamed("_proj.weight", "_proj.kernel")),
        codes="HF201",
        cause="These are names of Flax.",
        fix="Convert them: the matrices are transposed, too.",
    ),
    "an ending that Flax has, in some of the names": Case(
        LLAMA,
        spoil=renamed("q_proj.weight", "q_proj.kernel"),
        codes="HF201",
        cause="one of the same shape is stored under another name",
        fix="Rename model.layers.{0-2}.self_attn.q_proj.kernel to model.layers.{0-2}.self_attn.q_proj.weight, if they"
        " are the same.",
    ),
    "a beginning that llama.cpp has, before other names": Case(
        LLAMA,
        spoil=renamed("model.layers", "blk"),
        codes="HF201",
        cause="one of the same shape is stored under another name",
        fix="Rename them, if they are the same.",
    ),
    # Packed weights
    "packed, and a layer lost": Case(
        config("qwen3", num_hidden_layers=4, quantization_config=FP8),
        spoil=both(packed, without("layers.1.")),
        codes="HF201",
        cause="Layer 1 of model.layers is missing completely",
        fix="Add what is missing; or, if they were left out on purpose, renumber the others 0-2 and set"
        " num_hidden_layers to 3.",
    ),
    "packed, and more layers than the config says": Case(
        config("qwen3", num_hidden_layers=4, quantization_config=FP8),
        config("qwen3", quantization_config=FP8),
        packed,
        codes="HF202",
        cause="num_hidden_layers is 3, but the checkpoint has 4 layers.",
        fix="Set num_hidden_layers to 4.",
    ),
    "packed, and another width": Case(
        config("qwen3", quantization_config=FP8),
        config("qwen3", intermediate_size=16, quantization_config=FP8),
        packed,
        cause="intermediate_size is 16, but 20 would fit.",
        fix="Set intermediate_size to 20.",
    ),
    "more labels than the config names": Case(
        recorded("bert", architectures=["BertForSequenceClassification"], id2label={str(n): "" for n in range(5)}),
        recorded("bert", architectures=["BertForSequenceClassification"], id2label={"0": "a", "1": "b", "2": "c"}),
        cause="id2label names 3 labels, but 5 would fit.",
        fix="Name 5 labels in id2label.",
    ),
    "bytes of two numbers each, and nothing that says how": Case(
        LLAMA,
        spoil=lambda tensors: {
            name: ("U8", (shape[0] * shape[1] // 2, 1)) if "_proj" in name else (dtype, shape)
            for name, (dtype, shape) in tensors.items()
        },
        cause="They are 4-bit weights of bitsandbytes, two in a byte, but absmax and quant_state are missing",
        fix="Merge or convert again with the model loaded in 16 bits.",
    ),
    # Contradictions, and what nobody knows
    "transposed": Case(
        LLAMA,
        spoil=transposed("mlp."),
        cause="They are stored transposed, as between torch's Linear [out, in] and Conv1D [in, out]; square ones may"
        " be, too",
        fix="Transpose them.",
    ),
    "a resized vocabulary, and a norm lost": Case(
        config("llama", vocab_size=54),
        LLAMA,
        without("model.norm"),
        codes="HF201 HF301",
        cause="vocab_size is 50, but the checkpoint has 54 rows. Set vocab_size to 54.",
        fix="Set vocab_size to 54.",
    ),
    "a tensor that nobody knows": Case(
        LLAMA,
        spoil=lambda tensors: tensors | {"model.extra": ("BF16", (3,))},
        codes="HF202",
        cause="model.extra.",
    ),
    "a matrix of another shape": Case(
        LLAMA,
        spoil=reshaped(lm_head=(50, 16)),
        cause="hidden_size is 12, but the stored tensors do not agree on it: 16 in lm_head.weight and 12 in",
    ),
}


@over("name", CASES, every=6)
def test_the_cause(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    report = verified(case.says or case.saved, case.spoil(stored(case.saved)), tmp_path)
    assert [finding.code for finding in report.findings] == case.codes.split()
    assert case.cause in "\n".join(finding.message for finding in report.findings)
    assert [finding.fix for finding in report.findings if finding.fix] == ([case.fix] if case.fix else [])


def test_one_file_of_another_model(tmp_path: Path) -> None:
    """Whatever else follows from it is told with it."""

    def files(values: Json) -> dict[str, Tensors]:
        late = {name: one for name, one in stored(values).items() if "layers.1." in name or "layers.2." in name}
        return {FIRST: {name: one for name, one in stored(values).items() if name not in late}, SECOND: late}

    checkpoint = Checkpoint(LLAMA, files(LLAMA))
    checkpoint.map()
    checkpoint.metadata["total_size"] = checkpoint.data
    checkpoint.shards[SECOND] = without("layers.1.mlp.up_proj")(files(config("llama", intermediate_size=32))[SECOND])
    (finding,) = hfcount.verify(str(checkpoint.write(tmp_path / "model"))).findings
    assert (finding.code, finding.fix) == ("HF205", "Use the file that was saved with the others.")
    assert f"Only tensors in {SECOND} differ (intermediate_size 32 would be right)" in finding.message


def test_no_switch_is_named_that_asks_for_what_is_missing_anyway(tmp_path: Path) -> None:
    (finding,) = verified(config("qwen2"), stored(LLAMA), tmp_path).findings
    assert "besides" not in finding.message


ALONE = {name: case.fix for name, case in CASES.items() if case.fix and " " not in case.codes}
CURES = [(name, cure) for name, fix in ALONE.items() for cure in re.split(", or |; or, ", fix)]
OF_TENSORS = re.compile(
    "rows|Transpose|missing|Use the config|Add (it|them)|labels|Merge or |Save without|class that|Rename |Convert "
)
"""What is to be done to the tensors, not to the config or the names."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "cure"), [one for one in CURES if not OF_TENSORS.search(one[1])])
def test_every_cure_cures(name: str, cure: str, tmp_path: Path) -> None:
    case = CASES[name]
    values, tensors = case.says or case.saved, case.spoil(stored(case.saved))
    if "contents of text_config" in cure:
        values, tensors = values["text_config"] | {"dtype": "bfloat16"}, renamed("language_model.", "")(tensors)
    if "enumber" in cure:
        old = sorted({int(found[1]) for found in map(re.compile(r"layers\.(\d+)").search, tensors) if found})
        for new, number in enumerate(old):
            tensors = renamed(f"layers.{number}.", f"layers.{new}.")(tensors)
    for key, value in re.findall(r"([\w.]+)(?: to|:) (\[[^\]]*\]|\w+)", cure):
        if key != "architectures":
            values = changed(values, {key: value if key == "model_type" else json.loads(value)})
    if "architectures to its class" in cure:
        head = HEAD.search(values["architectures"][0])
        values = values | {"architectures": [one for one in classes(values["model_type"]) if one.endswith(head[0])]}
    if found := re.search(r"num_hidden_layers to (\d+), and make (\w+) that long", cure):
        values = values | {found[2]: values[found[2]][: int(found[1])]}
    assert verified(values, tensors, tmp_path).verdict == "verified"


def verified(values: Json, tensors: Tensors, folder: Path) -> hfcount.Report:
    return hfcount.verify(str(Checkpoint(values, {FIRST: tensors}).write(folder / "model")))


@pytest.mark.parametrize(
    ("allowed", "code"), [(("HF201",), 1), (("HF301",), 1), (("HF201", "HF301"), 0)], ids=lambda value: str(value)
)
def test_a_cause_is_allowed_with_all_that_it_explains(
    allowed: tuple[str, ...], code: int, run: Run, tmp_path: Path
) -> None:
    case = CASES["fewer experts"]
    folder = Checkpoint(case.says or {}, {FIRST: stored(case.saved)}).write(tmp_path / "model")
    result = run(*(part for one in allowed for part in ("--allow", one)), folder)
    assert (result.code, result.report["findings"][0]["also"]) == (code, ["HF301"])
