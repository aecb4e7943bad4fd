"""Reads in an engine's source how classes build and name the modules that quantisation settings are about.

engines.py records it. The rules that SGLang's quantisation methods follow, and vLLM's for routers of experts, are
found by the texts here, too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engines import Class, Source

_FUSED = ("qkv_proj", "gate_up_proj")
_QUANTIZATION = "srt/layers/quantization"
_TENSORS = f"{_QUANTIZATION}/compressed_tensors"

SGLANG_METHODS = {
    "gptq_group": (f"{_QUANTIZATION}/marlin_utils.py", "MARLIN_SUPPORTED_GROUP_SIZES = [-1, 32, 64, 128]"),
    "gptq_format": (f"{_QUANTIZATION}/gptq/gptq.py", "is_marlin_format = check_marlin_format(hf_quant_cfg)"),
    "gptq_lists": (
        f"{_QUANTIZATION}/utils.py",
        "if get_dynamic_override(cloned_config, layer_name=prefix) is False:",
    ),
    "gptq_rules": (f"{_QUANTIZATION}/utils.py", "def override_config(config: QuantizationConfig, prefix: str):"),
    "gptq_head": (
        f"{_QUANTIZATION}/utils.py",
        "isinstance(layer, ParallelLMHead) and cloned_config.lm_head_quantized",
    ),
    "gptq_index": (f"{_QUANTIZATION}/gptq/schemes/gptq_marlin.py", "g_idx = RowvLLMParameter("),
    "gptq_kernel": (f"{_QUANTIZATION}/gptq/schemes/gptq_linear.py", "The non-Marlin GPTQ CUDA kernel has been removed"),
    "awq_bits": (f"{_QUANTIZATION}/awq/awq.py", "Currently, only 4-bit weight quantization is supported for "),
    "awq_keys": (f"{_QUANTIZATION}/awq/awq.py", 'weight_bits = cls.get_from_keys(config, ["w_bit", "bits"])'),
    "awq_lists": (f"{_QUANTIZATION}/awq/awq.py", "return any(module_name in prefix for module_name in "),
    "awq_head": (f"{_QUANTIZATION}/awq/awq.py", "isinstance(layer, ParallelLMHead) and self.lm_head_quantized"),
    "method_dtype": ("srt/model_loader/loader.py", "if model_config.dtype not in supported_dtypes:"),
    "ct_scheme": (
        f"{_TENSORS}/compressed_tensors.py",
        'raise NotImplementedError("No compressed-tensors compatible scheme',
    ),
    "ct_packed": (
        f"{_TENSORS}/compressed_tensors.py",
        "Other method (CompressedTensorsW4A16Sparse24) is not supported now",
    ),
    "ct_sparsity": (f"{_TENSORS}/compressed_tensors.py", "CompressedTensors24 is not supported now"),
    "ct_lists": (f"{_TENSORS}/utils.py", "def check_equal_or_regex_match("),
    "ct_fused": (f"{_TENSORS}/utils.py", "Found different quantization schemes for "),
    "ct_target": (f"{_TENSORS}/utils.py", "Unable to find matching target for "),
    "ct_head": (f"{_TENSORS}/compressed_tensors.py", "def get_lm_head_scheme("),
    "ct_index": (f"{_TENSORS}/schemes/compressed_tensors_wNa16.py", "weight_g_idx = RowvLLMParameter("),
    "modelopt_fp8": (f"{_QUANTIZATION}/modelopt_quant.py", "ModelOptFp8Config only supports regular FP8 quantization"),
    "modelopt_fp4": (
        f"{_QUANTIZATION}/modelopt_quant.py",
        "ModelOpt currently only supports: FP8, NVFP4, NVFP4_AWQ, ",
    ),
    "modelopt_group": (f"{_QUANTIZATION}/modelopt_quant.py", "def common_group_size(cfg: dict) -> int:"),
    "modelopt_lists": (f"{_QUANTIZATION}/modelopt_quant.py", "def is_layer_excluded(self, prefix: str) -> bool:"),
    "modelopt_head": (f"{_QUANTIZATION}/modelopt_quant.py", "if isinstance(layer, (LinearBase, ParallelLMHead)):"),
    "modelopt_mixed": (f"{_QUANTIZATION}/modelopt_quant.py", "def _resolve_quant_algo(self, prefix: str)"),
    "mxfp4_experts": (f"{_QUANTIZATION}/mxfp4.py", "elif isinstance(layer, FusedMoE):"),
    "bitsandbytes_loader": (
        "srt/model_loader/loader.py",
        "if load_config.load_format == LoadFormat.BITSANDBYTES:",
    ),
    "bitsandbytes_storage": (f"{_QUANTIZATION}/bitsandbytes.py", "Unsupported bnb_4bit_quant_storage: "),
    "w8a8_int8": (f"{_QUANTIZATION}/w8a8_int8.py", "return W8A8Int8LinearMethod(self)"),
    "w8a8_fp8": (f"{_QUANTIZATION}/w8a8_fp8.py", "return W8A8Fp8LinearMethod(self)"),
    "inc_bits": (f"{_QUANTIZATION}/auto_round.py", "Unsupported weight_bits: "),
    "inc_type": (f"{_QUANTIZATION}/auto_round.py", "Unsupported data_type: "),
    "inc_format": (f"{_QUANTIZATION}/auto_round.py", "Unsupported packing_format: "),
    "inc_backend": (f"{_QUANTIZATION}/auto_round.py", "Unsupported backend: "),
    "inc_keys": (f"{_QUANTIZATION}/auto_round.py", 'weight_bits=cls.get_from_keys(config, ["bits"])'),
    "inc_blocks": (f"{_QUANTIZATION}/auto_round.py", "layer_name.startswith(name) for name in self.block_name"),
}
"""SGLang's rules of quantisation methods other than FP8: file, and text."""

VLLM_METHODS = {
    "expert_mapping": ("model_executor/models/mixtral.py", 'ckpt_names=("w1", "w2", "w3"),'),
    "mxfp4_experts": (
        "model_executor/layers/quantization/mxfp4.py",
        "MXFP4 linear layer is not implemented - falling back to ",
    ),
    "modelopt_mixed": (
        "model_executor/layers/quantization/modelopt.py",
        "The per-layer algorithm is specified in the ``quantized_layers`` dict",
    ),
    "torchao_names": ("model_executor/model_loader/default_loader.py", 'if model_config.quantization == "torchao":'),
    "inc_blocks": (
        "model_executor/layers/quantization/inc/config_parser.py",
        "for name in self._config.block_name_to_quantize",
    ),
}
"""vLLM's rules of experts and methods that are read in their own modules: file, and text."""


def dense_router(source: "Source", path: Path) -> str:
    """FILE:LINE where a module builds routers without the settings of the quantisation; empty if any takes them."""
    line = ""
    for node in ast.walk(source.tree(path)):
        if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "self.gate":
            continue
        for call in ast.walk(node.value):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("GateLinear", "ReplicatedLinear"):
                words = {word.arg: ast.unparse(word.value) for word in call.keywords}
                if words.get("quant_config", "None") != "None" or None in words:
                    return ""
                line = line or f"{path.relative_to(source.root)}:{node.lineno}"
    return line


def of_sglang_class(source: "Source", path: Path, cls: "Class") -> dict[str, object]:
    """How a class of SGLang puts projections together, and what it gives the settings to match with.

    `stacks`: the modules that its loop puts projections into; `fuses`: those that it tells compressed-tensors of;
    `unnamed`: where a layer is built with the settings and without its name; `renames`: whether lists are mapped.
    """
    files = dict.fromkeys(file for file, _ in source.line_of_inheritance(cls) if file.parent == path.parent)
    texts = {text for file in files for text in _strings(source.tree(file))}
    mapping = source.member(cls, "packed_modules_mapping")
    keys = [key for node in ast.walk(mapping[1]) if isinstance(node, ast.Dict) for key in node.keys] if mapping else []
    renames = (source.member(cls, name) for name in ("hf_to_sglang_mapper", "get_hf_to_sglang_mapper"))
    return {
        "stacks": " ".join(name for name in _FUSED if texts & {name, f".{name}", f".{name}.", f"{name}."}),
        "fuses": " ".join(str(key.value) for key in keys if isinstance(key, ast.Constant)),
        "unnamed": next((line for file in files for line in _unnamed(source, file)), ""),
        "renames": any(renames),
    }


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _unnamed(source: "Source", path: Path) -> Iterator[str]:
    for node in ast.walk(source.tree(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Linear"):
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if words.get("quant_config", "None") != "None" and not words.keys() & {"prefix", None}:
                yield f"{path.relative_to(source.root)}:{node.lineno}"
