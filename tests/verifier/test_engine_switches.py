"""What vLLM and SGLang make of checkpoints that turn one switch, two for each: with it turned, and without."""

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from engine_cases import (
    AWQ,
    CT,
    EMBED,
    FP8,
    FP8_SCALE,
    GPTQ,
    HEAD,
    LLAMA,
    MLX,
    NVFP4,
    SINGLE,
    Json,
    Made,
    Row,
    Tensors,
    adapter,
    awq,
    ct,
    ct_packed,
    fp8,
    gptq,
    halves,
    mlx,
    nvfp4,
    of,
    packed,
    tensors,
)

import hfcount
from hfcount.verifier.loaders.catalogue import loader
from hfcount.verifier.loaders.engines import sglang, vllm
from hfcount.verifier.loaders.loader import Checkpoint

ENGINES = (partial(vllm.read, loader("vllm")), partial(sglang.read, loader("sglang")))
ROWS: list[Row] = []
BF = "BF16"
WHOLE, UNKNOWN = ("whole", ""), ("unknown", "")
NAMES = "model_executor/models/utils.py"
REGISTRY = "model_executor/models/registry.py"


def row(switch: int, name: str, vllm: Any = ("", ""), sglang: Any = ("", ""), transformers: str = "") -> Any:
    def add(made: Any) -> Any:
        ROWS.append(Row(switch, name, made, vllm, sglang, transformers))
        return made

    return add


def llama(**changes: Any) -> Json:
    return {key: value for key, value in (LLAMA | changes).items() if value is not ...}


def without(stored: Tensors, *parts: str) -> Tensors:
    return {name: kind for name, kind in stored.items() if not any(part in name for part in parts)}


def quantised(settings: Json, pack: Any, *left: str, **changes: Any) -> Made:
    values = llama(quantization_config=settings, **changes)
    return of(values, packed(tensors(values), pack, *left))


GLM: Json = {
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    "dtype": "bfloat16",
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 128,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 2,
    "first_k_dense_replace": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "num_nextn_predict_layers": 1,
    "tie_word_embeddings": False,
    "max_position_embeddings": 64,
}
GEMMA: Json = {
    **LLAMA,
    "architectures": ["Gemma2ForCausalLM"],
    "model_type": "gemma2",
    "tie_word_embeddings": True,
    "query_pre_attn_scalar": 16,
    "sliding_window": 32,
}
LLAVA: Json = {
    "architectures": ["LlavaForConditionalGeneration"],
    "model_type": "llava",
    "dtype": "bfloat16",
    "image_token_index": 90,
    "vision_feature_layer": -1,
    "text_config": {key: value for key, value in LLAMA.items() if key not in ("architectures", "dtype")},
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
        "projection_dim": 16,
    },
    "tie_word_embeddings": False,
}
QWEN_MOE: Json = {
    **LLAMA,
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "moe_intermediate_size": 64,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
Q0, K0 = (f"model.layers.0.self_attn.{part}_proj" for part in "qk")


def glm(*absent: str, further: int = 1, odd: Collection[int] = (), **changes: Any) -> Made:
    """GLM with layers of prediction behind the last, whatever the config then says.

    Args:
        further: how many there are.
        odd: the layers that have a tensor more, which no module has.
    """
    dense = tensors(GLM)
    last = {name: kind for name, kind in dense.items() if name.startswith("model.layers.1.")}
    stored = dict(dense)
    for number in range(2, 2 + further):
        stem = f"model.layers.{number}"
        stored |= {name.replace("model.layers.1", stem, 1): kind for name, kind in last.items()}
        stored |= {f"{stem}.eh_proj.weight": (BF, (64, 128)), f"{stem}.shared_head.norm.weight": (BF, (64,))}
        stored |= {f"{stem}.{norm}.weight": (BF, (64,)) for norm in ("enorm", "hnorm")}
        stored |= {f"{stem}.{head}.weight": (BF, (96, 64)) for head in ("embed_tokens", "shared_head.head")}
    stored |= {f"model.layers.{number}.self_attn.odd.weight": (BF, (8,)) for number in odd}
    return of({key: value for key, value in (GLM | changes).items() if key not in absent}, stored)


def glm_without_layer(**changes: Any) -> Made:
    return of(GLM | changes, tensors(GLM))


# 1: names that no module has
row(1, "a value head", ("refuses", NAMES), ("differs", "srt/models/llama.py"))(
    lambda: of(llama(), tensors(llama()) | {"v_head.summary.weight": (BF, (1, 64))})
)
row(1, "a further layer", ("refuses", NAMES))(lambda: of(llama(), tensors(llama(num_hidden_layers=3))))
row(1, "none", WHOLE, WHOLE, "whole")(lambda: of(llama()))
row(1, "rotary caches", WHOLE)(
    lambda: of(llama(), tensors(llama()) | {"model.layers.0.self_attn.rotary_emb.inv_freq": ("F32", (8,))})
)
# 2: names that are missing
row(2, "a projection", ("differs", "default_loader.py"), ("differs", "llama.py"))(
    lambda: of(llama(), without(tensors(llama()), Q0))
)
row(2, "a norm", ("refuses", "default_loader.py"), ("differs", "llama.py"))(
    lambda: of(llama(), without(tensors(llama()), "layers.1.input_layernorm"))
)
# 3, 4: prediction layers
row(3, "the key is absent", WHOLE)(lambda: glm("num_nextn_predict_layers"))
row(3, "the key is 0", ("refuses", NAMES))(lambda: glm(num_nextn_predict_layers=0))
row(3, "the key says so", WHOLE)(lambda: glm())
row(3, "the key says two", WHOLE)(lambda: glm(further=2, num_nextn_predict_layers=2))
row(3, "more in both of two", WHOLE)(lambda: glm(further=2, odd=(2, 3), num_nextn_predict_layers=2))
row(3, "more in the second of two", WHOLE)(lambda: glm(further=2, odd=(3,), num_nextn_predict_layers=2))
row(3, "more in the last layer, too", ("refuses", NAMES))(
    lambda: glm(further=2, odd=(1, 2, 3), num_nextn_predict_layers=2)
)
row(3, "more behind those of the key", ("refuses", NAMES))(
    lambda: glm(further=2, odd=(2, 3), num_nextn_predict_layers=1)
)
row(3, "the key says one of two", ("refuses", NAMES))(lambda: glm(further=2))
row(3, "the key says none of two", ("refuses", NAMES))(lambda: glm(further=2, num_nextn_predict_layers=0))
row(4, "announced and absent", WHOLE)(lambda: glm_without_layer())
row(4, "not announced and absent", WHOLE)(lambda: glm_without_layer(num_nextn_predict_layers=0))
# 5: Qwen3-Next's key for prediction layers concerns converters alone
row(5, "a dense model without it", WHOLE)(lambda: of(llama(mtp_num_hidden_layers=0)))
row(5, "a dense model with it", WHOLE)(lambda: of(llama(mtp_num_hidden_layers=None)))
# 6 to 9: files


@row(6, "a single file beside the index", WHOLE, WHOLE)
def _single_beside() -> Made:
    made = halves(llama())
    listed = {name: file for file, stored in made.files.items() for name in stored}
    return made._replace(files={**made.files, SINGLE: tensors(llama())}, index=listed)


row(6, "the index alone", WHOLE, WHOLE)(lambda: halves(llama()))
row(7, "shards in a folder", ("refuses", "weight_utils.py"), ("differs", "weight_utils.py"))(
    lambda: halves(llama(), folder="parts/")
)
row(7, "shards in the root", WHOLE)(lambda: halves(llama()))


@row(8, "an adapter beside the model", ("refuses", "weight_utils.py"))
def _adapter_beside() -> Made:
    more = {"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": (BF, (8, 64))}
    return Made(llama(), {SINGLE: tensors(llama()), "adapter_model.safetensors": more}, index={})


@row(8, "a backup that is read last", ("differs", "weight_utils.py"))
def _backup() -> Made:
    return Made(llama(), {SINGLE: tensors(llama()), "old.safetensors": {EMBED: (BF, (96, 64))}}, index={})


row(8, "another name of the file", WHOLE)(lambda: Made(llama(), {"weights.safetensors": tensors(llama())}))


@row(9, "a consolidated file of other names", ("unknown", "default_loader.py"), ("whole", ""))
def _consolidated() -> Made:
    more = {"layers.0.attention.wq.weight": (BF, (64, 64))}
    return Made(llama(), {SINGLE: tensors(llama()), "consolidated.safetensors": more}, index={})


@row(9, "a consolidated file in a folder", ("refuses", "default_loader.py"), ("whole", ""))
def _consolidated_inside() -> Made:
    more = {"layers.0.attention.wq.weight": (BF, (64, 64))}
    return Made(llama(), {SINGLE: tensors(llama()), "original/consolidated.safetensors": more}, index={})


@row(9, "a consolidated pickle", WHOLE)
def _pickle() -> Made:
    return of(llama())


@row(10, "params.json beside", ("unknown", "transformers_utils/config.py"))
def _params() -> Made:
    return _consolidated()._replace(documents={"params.json": {"dim": 64}})


row(10, "no params.json", WHOLE)(lambda: of(llama()))


@row(11, "a head outside the index", ("differs", "config/model.py"))
def _stray_head() -> Made:
    values = llama(tie_word_embeddings=True)
    made = halves(values)
    listed = {name: file for file, stored in made.files.items() for name in stored}
    return made._replace(files={**made.files, "backup.safetensors": {HEAD: (BF, (96, 64))}}, index=listed)


row(11, "no file outside", WHOLE)(lambda: halves(llama(tie_word_embeddings=True)))


@row(12, "mtp.safetensors outside the index", WHOLE, WHOLE)
def _prediction_file() -> Made:
    made = halves(llama())
    listed = {name: file for file, stored in made.files.items() for name in stored}
    return made._replace(files={**made.files, "mtp.safetensors": {"mtp.fc.weight": (BF, (64, 64))}}, index=listed)


row(12, "no such file", WHOLE)(lambda: halves(llama()))


@row(13, "the index lacks a name", WHOLE, WHOLE)
def _index_short() -> Made:
    made = halves(llama())
    listed = {name: file for file, stored in made.files.items() for name in stored if name != EMBED}
    return made._replace(index=listed)


row(13, "the index is right", WHOLE)(lambda: halves(llama()))
# 14 to 17: ties
row(14, "a copy of the embedding under a tie", WHOLE, WHOLE)(
    lambda: of(llama(tie_word_embeddings=True), tensors(llama()))
)
row(14, "no head under a tie", WHOLE, WHOLE)(lambda: of(llama(tie_word_embeddings=True)))
row(15, "the key is absent", WHOLE)(lambda: of(llama(tie_word_embeddings=...), tensors(llama())))
row(15, "the key is there", WHOLE)(lambda: of(llama()))
row(16, "a tie, and no head", WHOLE)(lambda: of(llama(tie_word_embeddings=True)))
row(16, "no tie, and no head", ("differs", "default_loader.py"))(lambda: of(llama(), without(tensors(llama()), HEAD)))
row(17, "a head in place of the embedding", UNKNOWN)(
    lambda: of(llama(tie_word_embeddings=True), without(tensors(llama()), EMBED))
)
row(17, "the embedding", WHOLE)(lambda: of(llama(tie_word_embeddings=True)))
# 18 to 24: where settings are looked for


@row(18, "only quantize_config.json", ("refuses", "convertor.py"), ("differs", "llama.py"), "differs")
def _gptq_beside() -> Made:
    settings = {key: value for key, value in GPTQ.items() if key != "quant_method"}
    return of(llama(), packed(tensors(llama()), gptq), quantize_config__json=settings)


row(18, "in config.json", WHOLE, WHOLE)(lambda: quantised(GPTQ, gptq))
row(19, "only hf_quant_config.json", WHOLE, WHOLE, "differs")(
    lambda: of(llama(), packed(tensors(llama()), nvfp4), hf_quant_config__json=NVFP4)
)
row(19, "a key of it is absent", ("refuses", "modelopt.py"))(
    lambda: of(
        llama(),
        packed(tensors(llama()), nvfp4),
        hf_quant_config__json={**NVFP4, "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}},
    )
)


@row(20, "both, which differ", ("refuses", "modelopt.py"))
def _both() -> Made:
    settings = {**NVFP4, "quantization": {**NVFP4["quantization"]}}
    del settings["quantization"]["kv_cache_quant_algo"]
    values = llama(quantization_config=settings)
    return of(values, packed(tensors(values), nvfp4), hf_quant_config__json=NVFP4)


row(20, "the file says less", UNKNOWN)(
    lambda: of(
        llama(quantization_config=FP8),
        packed(tensors(llama()), fp8),
        hf_quant_config__json={**NVFP4, "quantization": {"quant_algo": "W4A8_AWQ"}},
    )
)
row(21, "ModelSlim's file", WHOLE, ("unknown", "model_config.py"))(
    lambda: of(llama(), quant_model_description__json={"model.norm.weight": "FLOAT"})
)
row(21, "no such file", WHOLE, WHOLE)(lambda: of(llama()))


@row(22, "in text_config alone", UNKNOWN, ("unknown", "model_config.py"))
def _inner() -> Made:
    stored = packed(tensors(LLAVA), fp8, "vision_tower", "projector")
    return of(LLAVA | {"text_config": LLAVA["text_config"] | {"quantization_config": FP8}}, stored)


row(22, "at the top", WHOLE, WHOLE)(lambda: quantised(FP8, fp8))
row(23, "compression_config", WHOLE, WHOLE, "differs")(
    lambda: of(llama(compression_config=CT), packed(tensors(llama()), ct))
)
row(23, "quantization_config", WHOLE, WHOLE)(lambda: quantised(CT, ct))
row(24, "quantization_status frozen", WHOLE)(lambda: quantised({**CT, "quantization_status": "frozen"}, ct))
row(24, "quantization_status compressed", WHOLE)(lambda: quantised(CT, ct))
# 25, 26: GPTQ
row(25, "desc_act with groups", ("refuses", "gptq_utils.py"), ("unknown", "gptq_marlin.py"))(
    lambda: quantised({**GPTQ, "desc_act": True}, gptq)
)
row(25, "desc_act for a module", ("refuses", "gptq_utils.py"))(
    lambda: quantised({**GPTQ, "dynamic": {"+:.*down.*": {"desc_act": True}}}, gptq)
)
row(25, "no desc_act", WHOLE, WHOLE)(lambda: quantised(GPTQ, gptq))
row(26, "not symmetric", ("refuses", "auto_gptq.py"), ("refuses", "gptq.py"))(
    lambda: quantised({**GPTQ, "sym": False}, gptq)
)
row(26, "3 bits", ("refuses", "auto_gptq.py"), ("refuses", "gptq.py"))(lambda: quantised({**GPTQ, "bits": 3}, gptq))
row(26, "sym is absent", ("refuses", "auto_gptq.py"), ("refuses", "gptq.py"))(
    lambda: quantised({key: value for key, value in GPTQ.items() if key != "sym"}, gptq)
)
row(26, "symmetric", WHOLE)(lambda: quantised(GPTQ, gptq))
# 27, 28: methods
row(27, "bitsandbytes", ("refuses", "config/model.py"), ("differs", "srt/model_loader/loader.py"))(
    lambda: quantised({"quant_method": "bitsandbytes", "load_in_8bit": True}, gptq)
)
row(27, "fbgemm_fp8", ("refuses", "config/model.py"), ("refuses", "model_config.py"))(
    lambda: quantised({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200}, ct)
)
row(28, "AWQ", WHOLE, WHOLE)(lambda: quantised(AWQ, awq))
row(28, "AWQ of 8 bits", ("refuses", "auto_awq.py"))(lambda: quantised({**AWQ, "bits": 8}, awq))
row(28, "auto-round of another backend", ("refuses", "inc.py"))(
    lambda: quantised({"quant_method": "auto-round", "bits": 4, "group_size": 32, "backend": "ipex"}, gptq)
)
# 29, 32: lists of FP8
row(29, "a prefix in the list", ("differs", "quant_utils.py"), WHOLE)(
    lambda: quantised({**FP8, "modules_to_not_convert": ["model.layers.0"]}, fp8, "layers.0.")
)
row(29, "full names in the list", WHOLE, WHOLE)(
    lambda: quantised(
        {
            **FP8,
            "modules_to_not_convert": [
                f"model.layers.0.{part}"
                for part in (
                    *(f"self_attn.{one}_proj" for one in "qkvo"),
                    *(f"mlp.{one}_proj" for one in ("gate", "up", "down")),
                )
            ],
        },
        fp8,
        "layers.0.",
    )
)
row(32, "q alone in the list", ("refuses", "quant_utils.py"), ("refuses", "quantization/utils.py"))(
    lambda: quantised({**FP8, "modules_to_not_convert": [Q0]}, fp8, Q0)
)
row(29, "a component of a packed module", WHOLE, ("differs", "quantization/utils.py"))(
    lambda: quantised({**FP8, "modules_to_not_convert": ["layers.0"]}, fp8)
)
row(
    32,
    "q alone, compressed-tensors",
    ("refuses", "compressed_tensors/utils.py"),
    ("differs", "compressed_tensors/utils.py"),
)(lambda: quantised({**CT, "ignore": ["lm_head", Q0]}, ct, Q0))
row(32, "o alone in the list", WHOLE, WHOLE)(
    lambda: quantised({**FP8, "modules_to_not_convert": ["model.layers.0.self_attn.o_proj"]}, fp8, "0.self_attn.o_")
)
# 30: lists of compressed-tensors
row(30, "names without a prefix", ("differs", "config_utils.py"))(
    lambda: quantised({**CT, "ignore": ["lm_head", "layers.0.mlp.down_proj"]}, ct, "0.mlp.down_")
)
row(30, "an expression from the start", WHOLE)(
    lambda: quantised({**CT, "ignore": ["lm_head", "re:.*0.mlp.down_proj"]}, ct, "0.mlp.down_")
)
# 31: a quantised head


@row(31, "a head in FP8", ("refuses", "fp8.py"))
def _head() -> Made:
    made = quantised(FP8, fp8)
    stored = dict(made.files[SINGLE]) | {HEAD: ("F8_E4M3", (96, 64)), f"lm_head.{FP8_SCALE}": ("F32", (3, 2))}
    return of(made.values, stored)


row(31, "a dense head", WHOLE)(lambda: quantised(FP8, fp8))
# 33 to 35: compressed-tensors
row(33, "a cache of 4 bits", ("refuses", "compressed_tensors.py"))(
    lambda: quantised({**CT, "kv_cache_scheme": {"num_bits": 4, "type": "int", "strategy": "tensor"}}, ct)
)


def cached(made: Made, *scales: str, dtype: str = BF) -> Made:
    more: Tensors = {f"model.layers.{layer}.self_attn.{name}": (dtype, (1,)) for layer in range(2) for name in scales}
    return of(made.values, {**made.files[SINGLE], **more})


CACHE: Json = {"kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": False}}
row(33, "scales of a cache", WHOLE)(lambda: cached(quantised(CT | CACHE, ct), "k_scale", "v_scale"))
row(33, "a cache without scales", ("differs", "kv_cache.py"))(lambda: quantised(CT | CACHE, ct))
row(33, "scales of a cache that is not announced", WHOLE)(lambda: cached(quantised(CT, ct), "k_scale", "v_scale"))
row(33, "scales beside projections", WHOLE, WHOLE)(
    lambda: cached(quantised(FP8, fp8), "k_proj.k_scale", "v_proj.v_scale", dtype="F32")
)
row(33, "a scale of a dense model", ("refuses", NAMES))(lambda: cached(of(llama()), "k_scale", dtype="F32"))
row(33, "no cache", WHOLE)(lambda: quantised(CT, ct))


def ordered(order: Any) -> Json:
    (group,) = CT["config_groups"].values()
    return {**CT, "config_groups": {"group_0": {**group, "weights": {**group["weights"], "actorder": order}}}}


row(34, "actorder group", ("refuses", "compressed_tensors.py"))(lambda: quantised(ordered("group"), ct))
row(34, "actorder static", WHOLE)(lambda: quantised(ordered("static"), ct))
row(35, "sparsity", ("refuses", "compressed_tensors.py"))(
    lambda: quantised({**CT, "sparsity_config": {"format": "sparse-24-bitmask", "targets": ["Linear"]}}, ct)
)
row(35, "no sparsity", WHOLE)(lambda: quantised({**CT, "sparsity_config": {}}, ct))
# 36, 37: vocabulary
row(36, "other rows", ("refuses", "weight_utils.py"))(lambda: of(llama(vocab_size=90), tensors(llama())))
row(36, "the rows of the config", WHOLE)(lambda: of(llama()))
row(37, "no tokenizer", WHOLE)(lambda: of(llama()))
row(37, "further tokens", WHOLE)(lambda: of(llama(), added_tokens__json={"<x>": 95}))
# 38: blocks
row(38, "static scheme with blocks", ("refuses", "fp8.py"))(
    lambda: quantised({**FP8, "activation_scheme": "static"}, fp8)
)
row(38, "no scheme", ("refuses", "fp8.py"))(
    lambda: quantised({key: value for key, value in FP8.items() if key != "activation_scheme"}, fp8)
)
row(38, "a scheme of another name", ("refuses", "fp8.py:115"), ("refuses", "fp8.py:286"))(
    lambda: quantised({"quant_method": "fp8", "activation_scheme": "token"}, ct)
)
row(38, "a scheme that is null", ("refuses", "fp8.py:115"), ("refuses", "fp8.py:286"))(
    lambda: quantised({**FP8, "activation_scheme": None}, fp8)
)
row(38, "dynamic scheme with blocks", WHOLE)(lambda: quantised(FP8, fp8))


def wide(width: int, rows: int = 4) -> Made:
    changes = {"intermediate_size": width, "num_key_value_heads": rows}
    return quantised(FP8, fp8, **changes)


def experts(settings: Json, pack: Any, width: int, **changes: int) -> Made:
    values = QWEN_MOE | {"moe_intermediate_size": width, "quantization_config": settings} | changes
    return of(values, packed(tensors(values), pack))


row(38, "gates whose blocks have no room", ("refuses", "parameter.py"), ("refuses", "fp8.py"), "whole")(
    lambda: wide(112)
)
row(38, "gates that share a block", ("differs", "linear.py"), ("refuses", "fp8.py"), "whole")(lambda: wide(120))
row(38, "keys that share a block with values", ("refuses", "parameter.py"), ("refuses", "fp8.py"))(
    lambda: wide(128, rows=1)
)
row(38, "experts that blocks do not divide", ("refuses", "fp8_utils.py"), ("refuses", "fp8.py"), "whole")(
    lambda: experts(FP8, fp8, 48)
)
row(38, "experts whose blocks are refined", UNKNOWN, ("refuses", "fp8.py"))(
    lambda: experts({**FP8, "weight_block_size": [128, 128]}, partial(fp8, block=128), 64, hidden_size=128, head_dim=32)
)
# quantised experts: vLLM 0.33, model_executor/layers/fused_moe/routed_experts.py:1028, 1050
ROUTERS = [f"model.layers.{layer}.mlp.gate" for layer in range(2)]
PACKED: Json = {
    **CT,
    "format": "pack-quantized",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True},
        }
    },
}


def stacked(*ignored: str) -> Made:
    """Experts in one dense tensor for all of a layer, beside packed attention."""
    settings = {**PACKED, "ignore": ["lm_head", *ROUTERS, *ignored]}
    values = QWEN_MOE | {"quantization_config": settings}
    stored = without(packed(tensors(values), ct_packed, ".experts."), ".experts.")
    for layer in range(2):
        stem = f"model.layers.{layer}.mlp.experts"
        stored |= {f"{stem}.gate_up_proj": (BF, (4, 128, 64)), f"{stem}.down_proj": (BF, (4, 64, 64))}
    return of(values, stored)


row(32, "experts one by one in FP8", WHOLE)(
    lambda: experts({**FP8, "modules_to_not_convert": ["lm_head", *ROUTERS]}, fp8, 64)
)
row(32, "experts beside routers that no list names", UNKNOWN)(lambda: experts(FP8, fp8, 64))
row(32, "stacked dense experts that no list names", ("refuses", "routed_experts.py"))(lambda: stacked())
row(32, "gates of stacked experts alone in the list", ("refuses", "compressed_tensors_moe.py"))(
    lambda: stacked("re:.*experts.*gate_proj")
)
row(32, "stacked dense experts in the list", UNKNOWN)(lambda: stacked("re:.*experts.*"))
# 39: counts of experts
row(39, "n_routed_experts", WHOLE)(lambda: glm())
row(39, "no experts", WHOLE)(lambda: of(llama(num_experts=0)))
# 40: rope
row(40, "type beside another rope_type", ("refuses", "transformers_utils/config.py"))(
    lambda: of(llama(rope_scaling={"type": "linear", "rope_type": "dynamic", "factor": 2.0}))
)
row(40, "type alone", WHOLE)(lambda: of(llama(rope_scaling={"type": "linear", "factor": 2.0})))
# 41, 54: classes
row(41, "registered", WHOLE)(lambda: of(llama()))
row(41, "a class of another type", ("unknown", REGISTRY))(lambda: of(llama(architectures=["Dots1ForCausalLM"])))
row(54, "the second is another's", WHOLE, WHOLE)(lambda: of(llama(architectures=["LlamaForCausalLM", "OtherModel"])))
row(54, "the first is registered", WHOLE)(lambda: of(llama(architectures=["LlamaForCausalLM"])))
# 42: biases
row(42, "biases that no module has", ("differs", NAMES))(
    lambda: of(llama(), tensors(llama()) | {f"{Q0}.bias": (BF, (64,)), f"{K0}.bias": (BF, (64,))})
)
row(42, "biases of the config", WHOLE)(lambda: of(llama(attention_bias=True)))
# 43: dtypes
row(43, "gemma in float16", ("refuses", "config/model.py"))(
    lambda: of(GEMMA | {"dtype": "float16"}, {name: ("F16", shape) for name, (_, shape) in tensors(GEMMA).items()})
)
row(43, "gemma in bfloat16", WHOLE)(lambda: of(GEMMA))
row(43, "llama in float16", WHOLE)(
    lambda: of(llama(dtype="float16"), {name: ("F16", shape) for name, (_, shape) in tensors(llama()).items()})
)
# 44 to 47: adapters
row(44, "rsLoRA", UNKNOWN, ("differs", "srt/lora/lora.py"))(lambda: adapter(use_rslora=True))
row(44, "alpha_pattern", UNKNOWN, ("differs", "srt/lora/lora.py"))(lambda: adapter(alpha_pattern={"q_proj": 4}))
row(44, "plain", UNKNOWN, UNKNOWN)(lambda: adapter())
row(44, "rank 64", ("refuses", "peft_helper.py"), UNKNOWN)(lambda: adapter(rank=64))
row(44, "a rank of a pattern", ("refuses", "peft_helper.py"))(lambda: adapter(rank_pattern={"q_proj": 32}))
row(44, "DoRA", ("refuses", "peft_helper.py"), ("refuses", "lora_manager.py"))(lambda: adapter(use_dora=True))
row(44, "no alpha", ("refuses", "peft_helper.py"), ("refuses", "lora_config.py"))(lambda: adapter(lora_alpha=...))
row(45, "a saved embedding", ("refuses", "peft_helper.py"), ("differs", "lora.py"))(
    lambda: adapter({f"base_model.model.{EMBED}": (BF, (96, 64))}, modules_to_save=["embed_tokens"])
)
row(45, "an embedding that settings do not name", ("refuses", "lora/utils.py"))(
    lambda: adapter({f"base_model.model.{EMBED}": (BF, (96, 64))})
)
SCORE: Tensors = {"base_model.model.score.weight": (BF, (2, 64))}
NORM: Tensors = {
    f"base_model.model.model.layers.0.input_layernorm.lora_{half}.weight": (BF, shape)
    for half, shape in (("A", (8, 64)), ("B", (64, 8)))
}
row(45, "a classifier", UNKNOWN, ("differs", "lora.py"))(
    lambda: adapter(SCORE, modules_to_save=["score"], task_type="SEQ_CLS")
)
row(45, "two heads", ("refuses", "lora/lora_model.py"))(
    lambda: adapter(
        SCORE | {"base_model.model.classifier.weight": (BF, (2, 64))},
        modules_to_save=["score", "classifier"],
        task_type="SEQ_CLS",
    )
)
row(45, "a norm", ("refuses", "lora/lora_model.py"), UNKNOWN)(
    lambda: adapter(NORM, target_modules=["q_proj", "input_layernorm"])
)
row(46, "PiSSA", ("refuses", "peft_helper.py"), UNKNOWN)(lambda: adapter(init_lora_weights="pissa"))
row(46, "Gaussian", UNKNOWN, UNKNOWN)(lambda: adapter(init_lora_weights="gaussian"))
row(47, "an expression", UNKNOWN, ("refuses", "lora_manager.py"))(
    lambda: adapter(target_modules=r".*\.layers\..*q_proj")
)
row(47, "all-linear", UNKNOWN, UNKNOWN)(lambda: adapter(target_modules="all-linear"))
SAVED: Tensors = {f"base_model.model.{EMBED}": (BF, (96, 64))}
ADAPTERS: dict[str, tuple[str, str, Json]] = {
    "44: plain": ("whole", "whole", {}),
    "44: rsLoRA": ("whole", "differs", {"use_rslora": True}),
    "44: rank_pattern": ("whole", "differs", {"rank_pattern": {"k_proj": 4}}),
    "45: saved embedding": ("refuses", "differs", {"more": SAVED, "modules_to_save": ["embed_tokens"]}),
    "46: PiSSA": ("refuses", "whole", {"init_lora_weights": "pissa"}),
    "46: Gaussian": ("whole", "whole", {"init_lora_weights": "gaussian"}),
    "47: an expression": ("whole", "refuses", {"target_modules": r".*\.layers\..*q_proj"}),
    "47: all-linear": ("whole", "whole", {"target_modules": ["q_proj"]}),
}
# 48, 49: names of folders and files
row(48, "a name that says nothing", WHOLE)(lambda: of(llama()))
row(48, "another name", WHOLE)(lambda: of(llama(_name_or_path="eagle3-llama")))
row(49, "weights.safetensors", WHOLE)(lambda: Made(llama(), {"weights.safetensors": tensors(llama())}))
row(49, "model.safetensors", WHOLE)(lambda: of(llama()))
# 50 to 53: methods and their names


@row(50, "MLX", ("refuses", "convertor.py"), ("differs", "llama.py"), "differs")
def _mlx() -> Made:
    return of(llama(quantization=MLX), packed(tensors(llama()), mlx))


row(50, "no quant_method", ("refuses", "config/model.py"), ("refuses", "model_config.py"), "refuses")(
    lambda: of(llama(quantization_config=MLX), packed(tensors(llama()), mlx))
)
row(51, "an unknown method", ("refuses", "config/model.py"), ("refuses", "model_config.py"), "differs")(
    lambda: quantised({"quant_method": "no_such"}, ct)
)
row(51, "of SGLang alone", ("refuses", "config/model.py"), ("unknown", "w8a8_fp8.py"), "differs")(
    lambda: quantised({"quant_method": "w8a8_fp8"}, ct)
)
row(51, "of vLLM alone", WHOLE, ("refuses", "model_config.py"), "differs")(
    lambda: quantised({"quant_method": "inc", "bits": 4, "group_size": 32}, gptq)
)
row(52, "dense modules that no list names", WHOLE)(lambda: quantised(GPTQ, gptq, "layers.0."))
row(52, "all packed", WHOLE)(lambda: quantised(GPTQ, gptq))
row(53, "W4A16_NVFP4", ("refuses", "convertor.py"))(
    lambda: of(
        llama(),
        packed(tensors(llama()), nvfp4),
        hf_quant_config__json={**NVFP4, "quantization": {**NVFP4["quantization"], "quant_algo": "W4A16_NVFP4"}},
    )
)
row(53, "NVFP4 with a dense module that no list names", ("refuses", "modelopt.py"))(
    lambda: of(llama(), packed(tensors(llama()), nvfp4, "0.mlp.down_"), hf_quant_config__json=NVFP4)
)
row(53, "NVFP4", WHOLE)(lambda: of(llama(), packed(tensors(llama()), nvfp4), hf_quant_config__json=NVFP4))


@pytest.mark.parametrize("name", ADAPTERS)
def test_adapters_beside_their_base(name: str, tmp_path: Path) -> None:
    base = of(llama()).write(tmp_path / "base")
    in_vllm, in_sglang, settings = ADAPTERS[name]
    report = hfcount.verify(adapter(base_model_name_or_path=str(base), **settings).write(tmp_path / "adapter"))
    read = {reader.loader: (reader.outcome, reader.evidence, ":" in reader.source) for reader in report.loaders}
    assert read["vllm"] == (in_vllm, "read", True)
    assert read["sglang"] == (in_sglang, "read", True)


def test_every_switch_has_two_cases() -> None:
    counts = {switch: sum(one.switch == switch for one in ROWS) for switch in range(1, 55)}
    assert not [switch for switch, count in counts.items() if count < 2]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("one", ROWS, ids=lambda one: f"{one.switch}: {one.name}")
def test_switch(one: Row, tmp_path: Path) -> None:
    report = hfcount.verify(one.made().write(tmp_path / "model"))
    newest = {reader.loader: reader for reader in reversed(report.loaders)}
    for library, (outcome, place) in (
        ("vllm", one.vllm),
        ("sglang", one.sglang),
        ("transformers", (one.transformers, "")),
    ):
        if outcome:
            reader = newest[library]
            assert (reader.outcome, place in reader.source) == (outcome, True), (library, reader, report.findings)
            if library != "transformers" and outcome in ("refuses", "differs", "whole"):
                assert ":" in reader.source and reader.evidence == "read"


CLASSES = {
    "LlamaForCausalLM": ("whole", "whole"),
    "MiniMaxM1ForCausalLM": ("refuses", "refuses"),
    "NobodysForCausalLM": ("refuses", "refuses"),
    "NobodysForCausalLM LlamaForCausalLM": ("whole", "whole"),
    "Dots1ForCausalLM": ("unknown", "unknown"),
    "QWenLMHeadModel": ("refuses", "whole"),
    "LlamaForRewardModeling": ("unknown", "refuses"),
    "": ("unknown", "unknown"),
}


@pytest.mark.parametrize("names", CLASSES)
def test_classes(names: str) -> None:
    values = {"model_type": "llama", "architectures": names.split()}
    found = tuple(read(Checkpoint(form="model", values=values, agrees=True)).outcome for read in ENGINES)
    assert found == CLASSES[names]


def test_another_head_under_a_tie(tmp_path: Path) -> None:
    folder = of(llama(tie_word_embeddings=True), tensors(llama())).write(tmp_path / "model")
    content = bytearray((folder / SINGLE).read_bytes())
    content[-1] = 1  # lm_head.weight is the last
    (folder / SINGLE).write_bytes(content)
    outcomes = {reader.loader: reader.outcome for reader in reversed(hfcount.verify(folder).loaders)}
    assert (outcomes["vllm"], outcomes["sglang"], outcomes["transformers"]) == ("whole", "differs", "whole")


@pytest.mark.parametrize("form", ["gguf", "diffusers", "timm"])
def test_other_forms(form: str) -> None:
    found = [read(Checkpoint(form=form, values={})) for read in ENGINES]
    assert found[0].outcome == "foreign" and ":" in found[0].source
    assert found[1].outcome == ("unknown" if form == "gguf" else "foreign")


@pytest.mark.parametrize(("ranks", "code"), [(4, 0), (3, 1)])
def test_ranks_and_the_engine_are_answered_at_once(ranks: int, code: int, tmp_path: Path, run: Run) -> None:
    folder = halves(llama()).write(tmp_path / "model")
    result = run(folder, "--for", "vllm", "--tp", str(ranks))
    report = result.report
    assert (result.code, report["read_for"]) == (code, ["vllm@0.33.0"])
    assert {reader["outcome"] for reader in report["loaders"] if reader["loader"] == "vllm"} == {"whole"}
    assert [finding["code"] for finding in report["findings"]] == ["HF601"] * code


UNDESCRIBED = {
    "NobodysForCausalLM": ("vllm", "refuses", "registry.py", 1),
    "QWenLMHeadModel": ("vllm", "refuses", "had QWenLMHeadModel until", 1),
    "GptOssForCausalLM": ("vllm", "unknown", "has GptOssForCausalLM", 3),
    "NobodysForConditionalGeneration": ("sglang", "refuses", "utils.py", 1),
    "Grok1ForCausalLM": ("sglang", "unknown", "which hfcount does not describe", 3),
}


@pytest.mark.parametrize("name", UNDESCRIBED)
def test_a_type_that_is_not_described(name: str, tmp_path: Path, run: Run) -> None:
    library, outcome, text, code = UNDESCRIBED[name]
    folder = of(llama(model_type="unheard_of", architectures=[name]), tensors(llama())).write(tmp_path / "model")
    result = run(folder, "--for", library)
    (finding,), report = result.report["findings"], result.report
    assert (result.code, finding["code"]) == (code, "HF114")
    assert text in finding["message"] and ":" in finding["message"].partition("(")[2]
    assert {reader["outcome"] for reader in report["loaders"] if reader["loader"] == library} == {outcome}
    assert (report["error"] or {}).get("kind") == "UnknownArchitecture"
    with pytest.raises(hfcount.UnknownArchitecture):
        hfcount.verify(folder)


@pytest.mark.parametrize("depth", ["config", "index", "headers"])
def test_an_unknown_method_is_named_at_every_depth(depth: Any, tmp_path: Path) -> None:
    folder = quantised({"quant_method": "w4afp8"}, ct).write(tmp_path / "model")
    messages = [one.message for one in hfcount.verify(folder, depth=depth).findings if one.code == "HF501"]
    assert len(messages) == 1 and "w4afp8" in messages[0]
