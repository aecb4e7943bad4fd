"""How each scheme stores one linear map, as the tools that write them store it, and which modules lists mean."""

from typing import Any

import pytest
from tables import over

from hfcount.mapper.quantization_config import announcements
from hfcount.quantization.automaton import Automaton, Unreadable
from hfcount.quantization.layout import Unmodelled
from hfcount.quantization.matcher import Hit, Matcher, Style
from hfcount.quantization.scheme import Module, Scheme
from hfcount.quantization.schemes import read


def scheme_of(settings: dict[str, Any], dtype: str = "float16") -> Scheme:
    return read(announcements({"quantization_config": settings})[0], dtype)


def compressed(form: str, inputs: dict[str, Any] | None = None, **weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


def modelopt(algorithm: str) -> dict[str, Any]:
    return {"quant_method": "modelopt", "quant_algo": algorithm}


def ao(kind: str, **data: Any) -> dict[str, Any]:
    return {"quant_method": "torchao", "quant_type": {"default": {"_type": kind, "_data": data}}}


def vptq(**layer: Any) -> dict[str, Any]:
    return {"quant_method": "vptq", "config_for_layers": {"model.layers.0.self_attn.q_proj": layer}}


QUARK = {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}, "input_tensors": None}
VPTQ = {"vector_lens": [-1, 8], "num_centroids": [-1, 256], "num_res_centroids": [-1, -1], "group_size": 4096}
HQQ_SMALL = (
    ".shape [2] I64, .nbits [] I32, .group_size [] I32, .axis [] I32, .packing [7] U8, .unpack_view_dtype [11] U8,"
    " .compute_dtype [13] U8, .channel_wise [] U8, .encoded_state_dict [] U8, .offload_meta [] U8, .optimize [] U8,"
    " .quant_scale [] U8, .quant_zero [] U8, .round_zero [] U8, .stores_quant_config [] U8, .view_as_float [] U8"
)
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}

# Settings, the matrix (outputs, inputs), and the tensors; `f` is the model's dtype, and of several the most common.
INT8 = ".weight [256, 384] I8, .weight_scale [256] F32"
LAYOUTS = [
    (
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        (576, 7168),
        ".weight [576, 7168] F8_E4M3, .weight_scale_inv [5, 56] F32",
    ),
    (
        {"quant_method": "fp8", "weight_block_size": None, "activation_scheme": "static"},
        (640, 384),
        ".weight [640, 384] F8_E4M3, .weight_scale_inv [] F32, .activation_scale [] F32",
    ),
    (
        compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=128),
        (1000, 1024),
        ".weight_packed [1000, 128] I32, .weight_scale [1000, 8] f, .weight_shape [2] I64",
    ),
    (
        compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=128, symmetric=False),
        (1004, 1024),
        ".weight_packed [1004, 128] I32, .weight_scale [1004, 8] f, .weight_shape [2] I64,"
        " .weight_zero_point [126, 8] I32",
    ),
    (
        compressed("pack-quantized", num_bits=8, type="int", strategy="channel"),
        (256, 510),
        ".weight_packed [256, 128] I32, .weight_scale [256, 1] f, .weight_shape [2] I64",
    ),
    (
        compressed("float-quantized", {"dynamic": False}, num_bits=8, type="float", strategy="tensor"),
        (640, 384),
        ".weight [640, 384] F8_E4M3, .weight_scale [1] f, .input_scale [1] f",
    ),
    (
        compressed("float-quantized", {"dynamic": True}, num_bits=8, type="float", strategy="channel"),
        (640, 384),
        ".weight [640, 384] F8_E4M3, .weight_scale [640, 1] f",
    ),
    (
        compressed("float-quantized", num_bits=8, type="float", strategy="block", block_structure=[128, 128]),
        (200, 300),
        ".weight [200, 300] F8_E4M3, .weight_scale [2, 3] f",
    ),
    (
        compressed("int-quantized", {"dynamic": True}, num_bits=8, type="int", strategy="channel", symmetric=False),
        (96, 256),
        ".weight [96, 256] I8, .weight_scale [96, 1] f, .weight_zero_point [96, 1] I8",
    ),
    (
        compressed("nvfp4-pack-quantized", {"dynamic": "local"}, num_bits=4, type="float", strategy="tensor_group"),
        (640, 384),
        ".weight_packed [640, 192] U8, .weight_scale [640, 24] F8_E4M3, .weight_global_scale [1] F32,"
        " .input_global_scale [1] F32",
    ),
    (
        compressed("mxfp4-pack-quantized", num_bits=4, type="float", strategy="group", group_size=32),
        (640, 384),
        ".weight_packed [640, 192] U8, .weight_scale [640, 12] U8",
    ),
    (modelopt("FP8"), (256, 384), ".weight [256, 384] F8_E4M3, .weight_scale [] F32, .input_scale [] F32"),
    (modelopt("FP8_PER_CHANNEL_PER_TOKEN"), (256, 384), ".weight [256, 384] F8_E4M3, .weight_scale [256] F32"),
    (modelopt("FP8_PB_WO"), (256, 384), ".weight [256, 384] F8_E4M3, .weight_scale [2, 1, 3, 1] F32"),
    (
        modelopt("NVFP4"),
        (256, 384),
        ".weight [256, 192] U8, .weight_scale [256, 24] F8_E4M3, .weight_scale_2 [] F32, .input_scale [] F32",
    ),
    (modelopt("W4A16_AWQ"), (256, 384), ".weight [128, 384] U8, .weight_scale [256, 3] F32"),
    (
        modelopt("INT8_SQ"),
        (256, 384),
        ".weight [256, 384] I8, .weight_scale [256] F32, .input_scale [] F32, .pre_quant_scale [384] f",
    ),
    (
        {"quant_method": "gptq", "bits": 3, "group_size": 128},
        (256, 512),
        ".qweight [48, 256] I32, .qzeros [4, 24] I32, .scales [4, 256] F16, .g_idx [512] I32",
    ),
    (
        {"quant_method": "gptq", "bits": 8, "group_size": -1},
        (256, 512),
        ".qweight [128, 256] I32, .qzeros [1, 64] I32, .scales [1, 256] F16, .g_idx [512] I32",
    ),
    (
        {"quant_method": "auto-round", "bits": 4, "group_size": 128},
        (4096, 11008),
        ".qweight [1376, 4096] I32, .qzeros [86, 512] I32, .scales [86, 4096] F16",
    ),
    (
        {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"},
        (4096, 11008),
        ".qweight [11008, 512] I32, .qzeros [86, 512] I32, .scales [86, 4096] F16",
    ),
    (
        NF4,
        (100, 300),
        ".weight [15000, 1] U8, .weight.absmax [469] F32, .weight.quant_map [16] F32,"
        " .weight.quant_state.bitsandbytes__nf4 [79] U8",
    ),
    (
        NF4 | {"bnb_4bit_quant_storage": "bfloat16", "bnb_4bit_quant_type": "fp4"},
        (256, 512),
        ".weight [32768, 1] BF16, .weight.absmax [2048] F32, .weight.quant_map [16] F32,"
        " .weight.quant_state.bitsandbytes__fp4 [79] U8",
    ),
    (
        NF4 | {"bnb_4bit_use_double_quant": True},
        (4096, 4096),
        ".weight [8388608, 1] U8, .weight.absmax [262144] U8, .weight.quant_map [16] F32,"
        " .weight.quant_state.bitsandbytes__nf4 [174] U8, .weight.nested_absmax [1024] F32,"
        " .weight.nested_quant_map [256] F32",
    ),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, (100, 300), ".weight [100, 300] I8, .SCB [100] F32"),
    (
        {"bits": 3, "group_size": 64},
        (256, 512),
        ".weight [256, 48] U32, .scales [256, 8] f, .biases [256, 8] f",
    ),
    (
        {"bits": 8, "group_size": 32, "mode": "mxfp8"},
        (256, 512),
        ".weight [256, 128] U32, .scales [256, 16] U8",
    ),
    (
        {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 3, "group_size": 64, "axis": 1}}},
        (256, 512),
        f".W_q [205, 64] I32, .scale [2048, 1] f, .zero [2048, 1] f, {HQQ_SMALL}",
    ),
    (
        {"quant_method": "quanto", "weights": "int4"},
        (256, 512),
        ".weight._data._data [512, 128] U8, .weight._scale [1024, 1] f, .weight._shift [1024, 1] f,"
        " .input_scale [] f, .output_scale [] f",
    ),
    (
        {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig"}}},
        (256, 512),
        "._weight_qdata [256, 512] I8, ._weight_scale [256, 1] F32, ._weight_zero_point [256, 1] I8",
    ),
    (
        {
            "quant_method": "aqlm",
            "num_codebooks": 2,
            "nbits_per_codebook": 8,
            "in_group_size": 8,
            "out_group_size": 1,
        },
        (256, 512),
        ".codes [256, 64, 2] I8, .codebooks [2, 256, 1, 8] f, .scales [256, 1, 1, 1] f",
    ),
    ({"quant_method": "bitnet"}, (256, 512), ".weight [64, 512] U8, .weight_scale [1] f"),
    (
        {"quant_method": "blockwise_int8", "weight_block_size": [128, 64], "activation_scheme": "dynamic"},
        (320, 384),
        ".weight [320, 384] I8, .weight_scale_inv [3, 6] F32",
    ),
    (
        {"quant_method": "modelopt_fp8", "quant_algo": "FP8"},
        (320, 384),
        ".weight [320, 384] F8_E4M3, .weight_scale [] F32, .input_scale [] F32",
    ),
    (
        {"quant_method": "modelopt_mxfp8", "quant_algo": "MXFP8"},
        (320, 384),
        ".weight [320, 384] F8_E4M3, .weight_scale [320, 12] U8",
    ),
    ({"quant_method": "eetq"}, (256, 512), ".weight [512, 256] I8, .weight_scales [256] F16"),
    (
        {"quant_method": "higgs", "bits": 4},
        (256, 512),
        ".weight [64, 512] I16, .scales [256, 2] f, .tables [16] f, .tables2 [16, 16, 2] f",
    ),
    ({"quant_method": "fbgemm_fp8"}, (256, 512), ".weight [256, 512] F8_E4M3, .weight_scale [256, 1] F32"),
    ({"quant_method": "w8a8_fp8"}, (256, 512), ".weight [256, 512] F8_E4M3, .weight_scale [256, 1] F32"),
    ({"quant_method": "w8a8_int8"}, (256, 512), ".weight [256, 512] I8, .weight_scale [256, 1] F32"),
    (
        {"quant_method": "metal", "bits": 4, "group_size": 64},
        (256, 512),
        ".weight [256, 64] U32, .scales [256, 8] f, .qbiases [256, 8] f",
    ),
    (
        {"quant_method": "inc", "bits": 4, "group_size": 128},
        (4096, 11008),
        ".qweight [1376, 4096] I32, .qzeros [86, 512] I32, .scales [86, 4096] F16",
    ),
    (modelopt("W8A8_SQ_PER_CHANNEL"), (256, 384), f"{INT8}, .input_scale [] F32, .pre_quant_scale [384] f"),
    (modelopt("W8A16"), (256, 384), INT8),
    (
        compressed("int-quantized", num_bits=4, strategy="channel") | {"quantization_status": "frozen"},
        (256, 384),
        ".weight [256, 384] I8, .weight_scale [256, 1] f",
    ),
    (
        {"quant_method": "mxfp8"},
        (256, 384),
        ".weight [256, 384] F8_E4M3, .weight_scale_inv [256, 12] U8",
    ),
    (
        modelopt("W4A8_AWQ"),
        (256, 384),
        ".weight [128, 384] U8, .weight_scale [256, 3] F32, .weight_scale_2 [] F32, .input_scale [] F32",
    ),
    (
        modelopt("W4A8_NVFP4_FP8"),
        (256, 384),
        ".weight [256, 192] U8, .weight_scale [256, 12] F8_E4M3, .weight_scale_2 [] F32, .input_scale [] F32",
    ),
    (
        {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemv"},
        (640, 384),
        ".qweight [640, 48] I32, .qzeros [640, 4] I32, .scales [640, 32] F16",
    ),
    (
        {"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemv_fast"},
        (640, 384),
        ".qweight [160, 384] I16, .qzeros [16, 640] F16, .scales [16, 640] F16",
    ),
    (
        {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64, "axis": 0}}},
        (256, 512),
        f".W_q [32, 2048] U8, .scale [1, 2048] f, .zero [1, 2048] f, {HQQ_SMALL}",
    ),
    (
        {
            "quant_method": "torchao",
            "quant_type": {
                "default": {
                    "_type": "IntxWeightOnlyConfig",
                    "_data": {"granularity": {"_type": "PerGroup", "_data": {"group_size": 32}}},
                }
            },
        },
        (256, 512),
        "._weight_qdata [256, 512] I8, ._weight_scale [256, 16] f, ._weight_zero_point [256, 16] I8",
    ),
    (
        compressed("marlin-24", num_bits=4, type="int", strategy="group", group_size=128),
        (256, 512),
        ".weight_packed [16, 512] I32, .scale_packed [4, 256] F16, .meta [16, 512] I16",
    ),
    (
        compressed("marlin-24", num_bits=8, type="int", strategy="channel"),
        (256, 512),
        ".weight_packed [16, 1024] I32, .scale_packed [1, 256] F16, .meta [16, 512] I16",
    ),
    (
        {
            "quant_method": "compressed-tensors",
            "sparsity_config": {"format": "sparse-24-bitmask", "targets": ["Linear"]},
        },
        (96, 200),
        ".compressed [96, 100] f, .bitmask [96, 25] U8, .shape [2, 1] I64",
    ),
    (
        compressed("float-quantized", num_bits=8, type="float", strategy="channel")
        | {"sparsity_config": {"format": "sparse-24-bitmask", "targets": ["Linear"], "ignore": ["lm_head"]}},
        (96, 200),
        ".compressed [96, 100] F8_E4M3, .bitmask [96, 25] U8, .shape [2, 1] I64, .weight_scale [96, 1] f",
    ),
    (
        ao("Float8DynamicActivationFloat8WeightConfig"),
        (64, 128),
        "._weight_qdata [64, 128] F8_E4M3, ._weight_scale [1, 1] F32",
    ),
    (
        ao("Float8DynamicActivationFloat8WeightConfig", granularity=[{"_type": "PerRow"}, {"_type": "PerRow"}]),
        (64, 128),
        "._weight_qdata [64, 128] F8_E4M3, ._weight_scale [64, 1] F32",
    ),
    (
        ao("Int4WeightOnlyConfig", group_size=32),
        (64, 128),
        "._weight_qdata [64, 64] I8, ._weight_scale [4, 64] f, ._weight_zero_point [4, 64] f",
    ),
    (
        ao("Int4WeightOnlyConfig", group_size=64, int4_packing_format={"_data": "PLAIN_INT32"}),
        (64, 128),
        "._weight_qdata [64, 16] I32, ._weight_scale [2, 64] f, ._weight_zero_point [2, 64] I8",
    ),
    (
        ao("Int4WeightOnlyConfig", int4_packing_format={"_data": "TILE_PACKED_TO_4D"}),
        (4096, 1536),  # 2048 with padding
        "._weight_qdata [512, 16, 32, 4] I32, ._weight_scale_and_zero [16, 4096, 2] f",
    ),
    (
        vptq(
            vector_lens=[4, 8], num_centroids=[4096, 65536], num_res_centroids=[-1, -1], group_size=504, outlier_size=8
        ),
        (250, 512),
        ".indices [1, 32, 252] I32, .centroids.weight [1, 524288] F16, .outlier_indices [1, 63, 8] I16,"
        " .outlier_centroids.weight [1, 16384] F16, .perm [512] I16, .weight_scale [512] F16, .weight_bias [512] F16",
    ),
    (
        vptq(vector_lens=[-1, 6], num_centroids=[-1, 4096], num_res_centroids=[-1, 4096], group_num=4, group_size=128),
        (256, 512),
        ".indices [4, 43, 96] I32, .centroids.weight [4, 24576] F16, .res_centroids.weight [4, 24576] F16,"
        " .perm [512] I16, .weight_scale [512] F16, .weight_bias [512] F16",
    ),
    (
        {"quant_method": "fp_quant", "forward_dtype": "mxfp4", "hadamard_group_size": 128},
        (256, 512),
        ".qweight [256, 256] U8, .scales [256, 16] U8, .weight_global_scale [1] f, .act_global_scale [1] f,"
        " .forward_hadamard_matrix [128, 128] f, .backward_hadamard_matrix [128, 128] f",
    ),
    (
        {"quant_method": "fp_quant", "pseudoquantization": True},
        (256, 512),
        ".dqweight [256, 512] f, .weight_global_scale [1] f, .act_global_scale [1] f,"
        " .forward_hadamard_matrix [16, 16] f, .backward_hadamard_matrix [16, 16] f",
    ),
    (
        {
            "quant_method": "spqr",
            "shapes": {f"x.{name}.shape": size for name, size in {"dense_weights": 96, "row_offsets": 65}.items()},
        },
        (64, 256),
        ".dense_weights [96] I64, .row_offsets [65] I32, .col_vals [0] I32",
    ),
    (
        {"quant_method": "fp8", "format": "float8_e4m3fn", "weight_scale_method": "row", "weight_block_size": None},
        (576, 7168),
        ".weight [576, 7168] F8_E4M3, .weight_scale_inv [576] F32",
    ),
    (
        {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["lm_head"]},
        (640, 384),
        ".weight [640, 384] F8_E4M3, .weight_scale [] F32, .input_scale [] F32",
    ),
    (
        {"quant_method": "bitnet", "use_rms_norm": True},
        (256, 512),
        ".weight [64, 512] U8, .weight_scale [1] f, .rms_norm.weight [512] f",
    ),
    (
        {"quant_method": "exl3", "bits": 4.0, "head_bits": 6},
        (1024, 576),  # 640 with padding
        ".trellis [40, 64, 64] I16, .suh [640] F16, .svh [1024] F16",
    ),
    (
        {"quant_method": "exl3", "bits": 2.6, "head_bits": 6},
        (1024, 1024),
        ".trellis [64, 64, 40] I16, .suh [1024] F16, .svh [1024] F16",
    ),
]


@over(("settings", "matrix", "tensors"), LAYOUTS)
def test_one_linear_map_as_it_is_stored(settings: dict[str, Any], matrix: tuple[int, int], tensors: str) -> None:
    layout = next(iter(scheme_of(settings).layouts))
    quoted = [
        f"{part.suffix} {list(part.shape)} {part.dtypes[0] if part.dtypes else 'f'}"
        for part in layout.parts(*matrix)
        if part.needed or f"{part.suffix} " in tensors
    ]
    assert ", ".join(quoted) == tensors


MODULES = {
    "q": Module("model.layers.3.self_attn.q_proj", "attention", inputs=4096),
    "gate": Module("model.layers.3.mlp.gate", "router", linear=False, inputs=4096),
    "gate_proj": Module("model.layers.3.mlp.gate_proj", "mlp", inputs=4096),
    "head": Module("lm_head", "lm_head", inputs=4096),
    "table": Module("model.embed_tokens", "embedding", linear=False, inputs=4096),
    "tower": Module("model.visual.blocks.0.attn.qkv", "vision", inputs=1152),
    "eh_proj": Module("model.layers.61.eh_proj", "mtp", prediction=True, inputs=8192),
    "moved head": Module("language_model.lm_head", "lm_head", inputs=4096),
    "layer 31": Module("model.layers.31.self_attn.q_proj", "attention", inputs=4096),
}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


@over(
    ("settings", "packed"),
    [
        (FP8, "q, gate_proj, tower, layer 31"),
        (FP8 | {"modules_to_not_convert": ["lm_head", "gate", "model.visual"]}, "q, gate_proj, layer 31"),
        (FP8 | {"modules_to_not_convert": ["model.layers.3"]}, "head, tower, moved head, layer 31"),
        (compressed("int-quantized", num_bits=8), "q, gate_proj, head, tower, moved head, layer 31"),
        (compressed("int-quantized", num_bits=8) | {"ignore": ["lm_head", "re:.*mlp.*"]}, "q, tower, layer 31"),
        (modelopt("NVFP4") | {"ignore": ["model.layers.3*"]}, "layer 31"),
        (modelopt("NVFP4") | {"ignore": ["*.mlp.*"]}, "q, layer 31"),
        (
            {
                "quant_method": "modelopt",
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {"model.layers.3.self_attn.q_proj": {"quant_algo": "FP8"}},
            },
            "q",
        ),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "q, gate_proj, layer 31"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "q, gate_proj, layer 31"),
        (
            {"quant_method": "awq", "bits": 4, "lm_head": True, "dynamic": {r"-:.*\.layers\.31\..*": {}}},
            "q, gate_proj, head, moved head",
        ),
        (
            {"quant_method": "fp8", "weight_scale_method": "tensor", "dynamic": {"-:.*q_proj": {}}},
            "gate_proj",
        ),
        ({"quant_method": "bitnet", "quantization_mode": "online"}, ""),
        ({"quant_method": "exl3", "bits": 3, "head_bits": 16}, "q, gate_proj, tower, eh_proj, layer 31"),
        ({"quant_method": "fp_quant"}, "q, gate_proj, tower, layer 31"),
        (vptq(**VPTQ), ""),
        (
            {
                "quant_method": "quark",
                "global_quant_config": QUARK,
                "exclude": ["lm_head", "*.visual.*", "model.layers.31.*"],
            },
            "q, gate_proj",
        ),
        (
            {
                "quant_method": "quark",
                "global_quant_config": QUARK,
                "layer_quant_config": {"*.q_proj": {"weight": None}, "lm_head": QUARK},
            },
            "gate_proj, head, tower, moved head",
        ),
        (
            compressed("float-quantized", num_bits=8, type="float")
            | {"sparsity_config": {"format": "sparse-24-bitmask", "targets": ["Linear"], "ignore": ["lm_head"]}},
            "q, gate_proj, head, tower, moved head, layer 31",
        ),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": True, "dynamic": {"-:.*q_proj": {}}},
            "gate_proj, head, moved head",
        ),
        ({"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["mlp"]}, "q, layer 31"),
        ({"bits": 4, "group_size": 64}, "q, gate_proj, head, table, eh_proj, moved head, layer 31"),
        ({"bits": 4, "group_size": 64, "lm_head": False}, "q, gate_proj, table, eh_proj, layer 31"),
    ],
)
def test_the_modules_that_settings_mean(settings: dict[str, Any], packed: str) -> None:
    scheme = scheme_of(settings)
    assert ", ".join(name for name, module in MODULES.items() if scheme.choose(module).layout) == packed


DENSE_SCALES = [
    (compressed("pack-quantized", num_bits=4, group_size=32), ".weight_scale [64, 3]", ".weight_zero_point [64, 3] I8"),
    (compressed("float-quantized", type="float", strategy="channel"), ".weight_scale [64, 1]", "[64, 1] F8_E4M3"),
]


@pytest.mark.parametrize("status", ["frozen", "initialized", "compressed", None])
@pytest.mark.parametrize(("settings", "scale", "zeros"), DENSE_SCALES)
def test_modules_that_are_not_compressed_yet(settings: dict[str, Any], scale: str, zeros: str, status: Any) -> None:
    said = {key: value for key, value in settings.items() if key != "quantization_status"}
    choice = scheme_of(said | ({"quantization_status": status} if status else {})).choose(Module("model.x", "mlp"))
    assert choice.layout is not None
    assert (choice.strictly is None) == (status == "compressed")
    if choice.strictly:
        parts = [f"{part.suffix} {list(part.shape)} {' '.join(part.dtypes)}" for part in choice.strictly.parts(64, 96)]
        assert parts[0] == ".weight [64, 96] "
        assert parts[1].startswith(scale)
        assert parts[2].endswith(zeros)


def test_kinds_of_modules_and_experts_with_layouts_of_their_own() -> None:
    four, eight = ({"weight_quant_params": {"nbits": bits, "group_size": 64, "axis": 1}} for bits in (4, 8))
    kinds = scheme_of(
        {"quant_method": "hqq", "quant_config": {"self_attn.q_proj": four, "mlp.gate_proj": eight, "lm_head": four}}
    )
    found = {name: kinds.choose(module).layout for name, module in MODULES.items()}
    labels = {name: layout.label for name, layout in found.items() if layout}
    assert labels == {
        "q": "HQQ of 4 bits, groups of 64",
        "gate_proj": "HQQ of 8 bits, groups of 64",
        "layer 31": "HQQ of 4 bits, groups of 64",
    }
    config = {"expert_dtype": "fp4", "quantization_config": FP8 | {"scale_fmt": "ue8m0"}}
    fp4 = read(announcements(config)[0], None)
    expert = fp4.choose(Module("layers.3.ffn.experts.7.w1", "experts", inputs=4096)).layout
    assert expert and [(part.suffix, part.shape, part.dtypes[0]) for part in expert.parts(2048, 4096)] == [
        (".weight", (2048, 2048), "I8"),
        (".scale", (2048, 128), "F8_E8M0"),
    ]
    other = fp4.choose(MODULES["q"]).layout
    assert other and [part.dtypes[0] for part in other.parts(4096, 4096)] == ["F8_E4M3", "F8_E8M0"]


@pytest.mark.parametrize(
    ("style", "pattern", "name", "hit"),
    [
        ("transformers", "mlp.gate", "model.layers.0.mlp.gate", "own"),
        ("transformers", "mlp.gate", "model.layers.0.mlp.gate_proj", ""),
        ("transformers", "visual", "model.visual.blocks.0", "inner"),
        ("transformers", "model.visual", "model.visual.blocks.0", "own"),
        ("transformers", "model.layers.*.self_attn", "model.layers.7.self_attn.q_proj", "own"),
        ("transformers", "model.layers.1", "model.layers.12.mlp", ""),
        ("compressed-tensors", "lm_head", "language_model.lm_head", "inner"),
        ("compressed-tensors", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*", "m.layers.0.mlp.up_proj", "own"),
        ("compressed-tensors", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*", "m.mlp.experts.3.up_proj", ""),
        ("compressed-tensors", r"re:.*layers\.(0|12)\.", "model.layers.12.mlp", "own"),
        ("shell", "model.layers.6*", "model.layers.61.mlp", ""),
        ("shell", "model.layers.61*", "model.layers.61.mlp", "own"),
        ("shell", "*.mlp.shared_expert.*", "model.layers.1.mlp.shared_expert.up_proj", "own"),
        ("shell", "model.layers.3.mlp.experts", "model.layers.3.mlp.experts.9.up_proj", "own"),
        ("substring", "gate", "model.layers.0.mlp.gate_proj", "own"),
        ("regex", r"model\.layers\.\d+\.mlp", "model.layers.44.mlp.up_proj", "own"),
        ("path", "lm_head", "lm_head", "own"),
        ("path", "head", "lm_head", ""),
        ("regex", "(a+)+$", "a" * 5_000 + "b", ""),
    ],
)
def test_a_name_in_a_list(style: Style, pattern: str, name: str, hit: Hit) -> None:
    assert Matcher([pattern], style).find(name) == hit


@pytest.mark.parametrize("pattern", ["a{2,1}", "a*+a", "(", "(?!x)a", "*a", r"\1", "[a", "(" * 500])
def test_a_pattern_beyond_the_grammar_matches_nothing(pattern: str) -> None:
    with pytest.raises(Unreadable):
        Automaton(pattern)
    assert Matcher([pattern], "regex").unread == [pattern]


def test_numbers_that_a_list_tells_apart() -> None:
    matcher = Matcher(["model.layers.3.mlp", "experts.7", r"re:.*h\.(1|2)\."], "compressed-tensors")
    assert [sorted(matcher.numbers(word)) for word in ("layers", "experts", "h")] == [[2, 3], [2, 7], [1, 2]]


@over(
    ("settings", "said"),
    [
        ({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}, "checkpoint_format marlin"),
        ({"quant_method": "gptq", "bits": 9}, "bits 9"),
        (
            {"quant_method": "auto-round", "bits": 4, "packing_format": "auto_round:mlx"},
            "packing_format auto_round:mlx",
        ),
        ({"quant_method": "gptq", "bits": "4"}, "bits 4"),
        ({"quant_method": "awq", "version": "gemv", "group_size": 16}, "version gemv"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, r"weight_block_size \[128\]"),
        (compressed("marlin-24", num_bits=4, type="float", strategy="group", group_size=128), "format marlin-24"),
        (
            {"quant_method": "compressed-tensors", "sparsity_config": {"format": "sparse-bitmask"}},
            "sparsity_config sparse-bitmask",
        ),
        (ao("Int4WeightOnlyConfig", int4_packing_format={"_data": "PRESHUFFLED"}), "int4_packing_format preshuffled"),
        (ao("UIntXWeightOnlyConfig"), "quant_type UIntXWeightOnlyConfig"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"targets": ["Embedding"], "weights": {"num_bits": 8}}},
            },
            "targets Embedding",
        ),
        ({"quant_method": "awq", "bits": 4, "dynamic": {"+:.*q_proj": {"bits": 8}}}, "dynamic"),
        ({"quant_method": "bitnet", "quantization_mode": "online", "use_rms_norm": True}, "quantization_mode online"),
        ({"quant_method": "exl3"}, "bits None"),
        ({"quant_method": "exl2", "bits": 4.0}, "^$"),
        ({"quant_method": "spqr", "shapes": {"x.dense_weights.shape": -1}}, "shapes of x"),
        ({"quant_method": "fp_quant", "forward_dtype": "int4"}, "forward_dtype int4"),
        (vptq(vector_lens=[-1, 8], num_centroids=[-1, 3], num_res_centroids=[-1, -1], group_size=8), "num_centroids"),
        ({"quant_method": "quark"}, "no global_quant_config"),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "bfp16", "qscheme": "per_group"}}},
            "weights of bfp16 per group",
        ),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4_SVD"}, "quant_algo nvfp4_svd"),
        ({"quant_method": "vptq"}, "no config_for_layers"),
        ({"quant_method": "sinq"}, "^$"),
        ({"bits": 4, "group_size": 64, "mode": "lattice"}, "mode lattice"),
    ],
)
def test_what_is_not_described_is_named(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(Unmodelled, match=said):
        scheme_of(settings)


@pytest.mark.parametrize(
    ("config", "beside", "methods"),
    [
        (
            {"quantization": {"bits": 4, "group_size": 64}, "quantization_config": {"bits": 4, "group_size": 64}},
            {},
            "mlx",
        ),
        ({"text_config": {"quantization_config": FP8}}, {}, "fp8"),
        ({"compression_config": compressed("int-quantized", num_bits=8)}, {}, "compressed-tensors"),
        ({"quantization_config": {"load_in_8bit": True}}, {}, "bitsandbytes"),
        ({}, {"quantize_config.json": {"bits": 4, "group_size": 128}}, "gptq"),
        ({}, {"quantize_config.json": {"per_channel": True, "reduce_range": True}}, ""),
        ({}, {"hf_quant_config.json": {"quantization": {"quant_algo": "NVFP4"}}}, "modelopt"),
        (
            {"quantization_config": FP8},
            {"hf_quant_config.json": {"quantization": {"quant_algo": "FP8"}}},
            "fp8 modelopt",
        ),
        ({}, {}, ""),
    ],
)
def test_where_a_scheme_is_announced(config: dict[str, Any], beside: dict[str, Any], methods: str) -> None:
    assert " ".join(one.method for one in announcements(config, beside)) == methods
