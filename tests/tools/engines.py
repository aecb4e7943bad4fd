"""Records what an engine's source says of loading: `python tests/tools/engines.py FOLDER`, FOLDER an unpacked wheel.

It reads the source by its syntax tree, runs nothing of it, and writes hfcount/verifier/loaders/ENGINE-VERSION.json:
first what holds for all classes, then one line per class that a config may name.

- `methods`: the quantisation methods; `aliases`: methods that are taken for another; `deprecated`: those that are
  refused without a flag; `side_files`: per method, the files beside config.json that its settings are read from.
- `suffixes`: endings of class names, of which one stands for another; `half_refused`: types refused in float16;
  `configs`: types whose config class is the engine's own; `max_rank`: the highest rank of an adapter by default.
- `lines`: file and line of each rule, found by the text that is searched for here.
- of a class: `module`, `line` (of its registration), `retired` (the last version that had it), `plugin` (what has it
  instead), `loads` (auto: by the shared loader, which refuses names that it does not know; own: by a loop of its own),
  `skips` (where that loop, or one of an inner module, passes over names that it does not know), `drops` (prefixes of
  names that are dropped), `prefixes` (prefixes of names that are mapped to others), `maps` (whether more is mapped),
  `modules` (parts of the class), `router` (where its module builds routers that the settings quantise), `dense_router`
  (where it builds them without the settings), `nextn` (whether prediction layers are dropped by
  num_nextn_predict_layers), `adapters` (whether it takes LoRA), and of SGLang's `stacks`, `fuses`, `unnamed` and
  `renames`, as engine_modules.py says.
"""

import argparse
import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import engine_modules

FOLDER = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders"
Json = dict[str, Any]
Class = tuple[Path, ast.ClassDef]

VLLM_RULES = {
    "unsupported_class": ("model_executor/models/registry.py", "are not supported for now"),
    "retired_class": ("model_executor/models/registry.py", "and is not supported anymore"),
    "plugin_class": ("model_executor/models/registry.py", "is not supported in-tree anymore"),
    "backend": ("model_executor/models/registry.py", "model_module = getattr(transformers, architecture, None)"),
    "suffix": ("model_executor/models/registry.py", "base_arch = architecture.replace(suffix, repl_suffix)"),
    "no_class": ("model_executor/models/registry.py", "No model architectures are specified"),
    "no_format": ("model_executor/model_loader/default_loader.py", "Unknown load_format"),
    "consolidated": ("model_executor/model_loader/default_loader.py", 'allow_patterns=["consolidated*.safetensors"]'),
    "no_weights": ("model_executor/model_loader/default_loader.py", "Cannot find any model weights"),
    "params_json": ("transformers_utils/config.py", "model=model, config_name=MISTRAL_CONFIG_NAME"),
    "index_files": ("model_executor/model_loader/weight_utils.py", "Weight files referenced in index but missing"),
    "index_absent": ("model_executor/model_loader/weight_utils.py", "if not os.path.isfile(index_file_name):"),
    "index_filter": ("model_executor/model_loader/weight_utils.py", "Filter out any fields that are not found"),
    "side_file": ("transformers_utils/config.py", 'model, "hf_quant_config.json", revision'),
    "settings": ("transformers_utils/model_arch_config_convertor.py", 'getattr(config, "compression_config", None)'),
    "text_settings": (
        "transformers_utils/model_arch_config_convertor.py",
        "quant_cfg = self._normalize_quantization_config(text_config)",
    ),
    "modelopt_algorithm": ("transformers_utils/model_arch_config_convertor.py", "Unknown ModelOpt quant algo"),
    "method_absent": ("config/model.py", 'quant_method = quant_method if quant_method != "" else None'),
    "unknown_method": ("config/model.py", "Unknown quantization method"),
    "deprecated_method": ("config/model.py", "if self.quantization in me_quant.DEPRECATED_QUANTIZATION_METHODS:"),
    "gptq_bits": ("model_executor/layers/quantization/auto_gptq.py", "Unsupported quantization config: bits="),
    "gptq_keys": (
        "model_executor/layers/quantization/auto_gptq.py",
        'weight_bits = cls.get_from_keys(config, ["bits"])',
    ),
    "gptq_order": (
        "model_executor/layers/quantization/utils/gptq_utils.py",
        '"GPTQ group activation ordering (desc_act=True) is no longer "',
    ),
    "gptq_headers": ("model_executor/layers/quantization/auto_gptq.py", "self.modules_in_block_to_quantize = list("),
    "awq_bits": ("model_executor/layers/quantization/auto_awq.py", "Unsupported num_bits = "),
    "awq_keys": (
        "model_executor/layers/quantization/auto_awq.py",
        'zero_point = cls.get_from_keys(config, ["zero_point"])',
    ),
    "fp8_scheme": (
        "model_executor/layers/quantization/fp8.py",
        'activation_scheme = cls.get_from_keys(config, ["activation_scheme"])',
    ),
    "fp8_schemes": ("model_executor/layers/quantization/fp8.py", "Unsupported activation scheme "),
    "fp8_static_blocks": ("model_executor/layers/quantization/fp8.py", "The block-wise quantization only supports "),
    "fp8_blocks": (
        "model_executor/layers/quantization/utils/fp8_utils.py",
        "if output_partition_size % block_n != 0:",
    ),
    "expert_parameter": ("model_executor/layers/fused_moe/routed_experts.py", "has no parameter {param_name!r} "),
    "expert_names": (
        "model_executor/layers/fused_moe/routed_experts.py",
        "for param_name, weight_name, expert_id, shard",
    ),
    "expert_shards": (
        "model_executor/layers/quantization/compressed_tensors/compressed_tensors_moe/compressed_tensors_moe.py",
        '"All MoE projections need to have same "',
    ),
    "fp8_expert_blocks": (
        "model_executor/layers/quantization/utils/fp8_utils.py",
        "if intermediate_size_per_partition % block_n != 0:",
    ),
    "fp8_allowed": ("model_executor/layers/linear.py", "self.allow_fp8_block_shape_mismatch = True"),
    "fp8_room": (
        "model_executor/parameter.py",
        "param_data = param_data.narrow(self.output_dim, shard_offset, shard_size)",
    ),
    "cache_scales": ("model_executor/layers/quantization/base_config.py", "def get_cache_scale_mapper() -> "),
    "cache_default": ("model_executor/layers/quantization/kv_cache.py", "# values), use the default value of 1.0"),
    "fp8_ignored": ("model_executor/layers/quantization/fp8.py", "if is_layer_skipped("),
    "fp8_lists": ("model_executor/layers/quantization/fp8.py", "if not ignored_layers:"),
    "fp8_head": ("model_executor/layers/quantization/fp8.py", "elif isinstance(layer, Attention):"),
    "fp8_scale": ("model_executor/layers/quantization/utils/fp8_utils.py", "scale[:] = torch.finfo(torch.float32).min"),
    "fused": ("model_executor/layers/quantization/utils/quant_utils.py", "Detected some but not all shards of"),
    "exact": ("model_executor/layers/quantization/utils/quant_utils.py", "return prefix in ignored_layers"),
    "ct_fused": (
        "model_executor/layers/quantization/compressed_tensors/utils.py",
        "Found different quantization schemes for the shards of ",
    ),
    "ct_match": ("model_executor/layers/quantization/utils/config_utils.py", "def is_equal_or_regex_match("),
    "ct_order": (
        "model_executor/layers/quantization/compressed_tensors/compressed_tensors.py",
        "Compressed-tensors group/dynamic activation ordering",
    ),
    "ct_sparsity": (
        "model_executor/layers/quantization/compressed_tensors/compressed_tensors.py",
        "raise DeprecationWarning(",
    ),
    "ct_cache": (
        "model_executor/layers/quantization/compressed_tensors/compressed_tensors.py",
        "def validate_kv_cache_scheme(",
    ),
    "modelopt_keys": (
        "model_executor/layers/quantization/modelopt.py",
        'required_fields = ["group_size", "kv_cache_quant_algo", "exclude_modules"]',
    ),
    "modelopt_algorithms": ("model_executor/layers/quantization/modelopt.py", "ModelOpt currently only supports"),
    "modelopt_excluded": ("model_executor/layers/quantization/modelopt.py", "def is_layer_excluded"),
    "inc_backend": ("model_executor/layers/quantization/inc/inc.py", "Unsupported backend: "),
    "inc_format": ("model_executor/layers/quantization/inc/inc.py", "Unsupported packing_format: "),
    "inc_bits": ("model_executor/layers/quantization/inc/inc.py", "Unsupported weight_bits: "),
    "unexpected": ("model_executor/models/utils.py", "There is no module or parameter named"),
    "dropped_bias": ("model_executor/models/utils.py", 'self.ignore_unexpected_suffixes.append(".bias")'),
    "dropped_caches": ("model_executor/models/utils.py", '"rotary_emb.inv_freq": None,'),
    "prediction": ("model_executor/models/utils.py", 'if not (n := getattr(config, "num_nextn_predict_layers", 0)):'),
    "alias": ("model_executor/models/utils.py", "was skipped because it is tied to"),
    "missing": ("model_executor/model_loader/default_loader.py", "Following weights were not initialized from "),
    "missing_unseen": (
        "model_executor/model_loader/default_loader.py",
        "if has_online_quant or has_postprocess_quant:",
    ),
    "missing_unchecked": ("model_executor/model_loader/default_loader.py", "default_enable_weights_track = ("),
    "shape": ("model_executor/model_loader/weight_utils.py", "Attempted to load weight ("),
    "rows": (
        "model_executor/layers/vocab_parallel_embedding.py",
        "assert loaded_weight.shape[output_dim] == self.org_vocab_size",
    ),
    "untied": ("config/model.py", "if not checkpoint_has_lm_head(self.model, revision=self.revision):"),
    "half": ("config/model.py", "does not support float16. Reason"),
    "rope_types": ("transformers_utils/config.py", "Found conflicts between 'rope_type="),
    "rope_sections": ("transformers_utils/config.py", "\"Legacy rope_type 'mrope' requires \""),
    "config": ("transformers_utils/config.py", "config = AutoConfig.from_pretrained("),
    "adapter_keys": ("lora/peft_helper.py", "Missing required configuration fields"),
    "adapter_rank": ("lora/peft_helper.py", "is greater than max_lora_rank"),
    "adapter_saved": ("lora/peft_helper.py", "vLLM only supports modules_to_save being either None "),
    "adapter_dora": ("lora/peft_helper.py", "vLLM does not yet support DoRA."),
    "adapter_bias": ("lora/peft_helper.py", "Adapter bias is not supported."),
    "adapter_init": ("lora/peft_helper.py", "vLLM does not support init_lora_weights="),
    "adapter_features": ("lora/peft_helper.py", "if self.alora_invocation_tokens:"),
    "adapter_zero": ("lora/peft_helper.py", "must be a positive integer, got {self.r}"),
    "adapter_names": ("lora/utils.py", "is unsupported LoRA weight"),
    "adapter_modules": ("lora/lora_model.py", "elif base_name not in expected_lora_modules and base_name not in ("),
    "adapter_heads": ("lora/lora_model.py", "Only one full classification module is supported per "),
    "adapter_scaling": ("lora/peft_helper.py", "if self.use_rslora:"),
}

SGLANG_RULES = {
    "unsupported_class": ("srt/model_loader/utils.py", "is not a registered "),
    "backend": ("srt/model_loader/utils.py", "model_module = getattr(transformers, arch, None)"),
    "first_class": ("srt/models/registry.py", "if len(normalized_arch) != len(architectures):"),
    "gguf": ("srt/configs/load_config.py", 'GGUF = "gguf"'),
    "index_files": ("srt/model_loader/weight_utils.py", "shard file(s) missing "),
    "index_filter": ("srt/model_loader/weight_utils.py", "Filter out any fields that are not found in the index file."),
    "index_absent": ("srt/model_loader/weight_utils.py", "if len(hf_weights_files) == 2:"),
    "pattern": ("srt/model_loader/loader.py", 'allow_patterns = ["*.safetensors", "*.bin"]'),
    "no_weights": ("srt/model_loader/loader.py", "Cannot find any model weights with"),
    "prediction_file": ("srt/model_loader/weight_utils.py", '"Glm4MoeForCausalLMNextN",'),
    "settings": ("srt/configs/model_config.py", 'quant_cfg = getattr(self.hf_config, "compression_config", None)'),
    "top_settings": ("srt/configs/model_config.py", "def _parse_quant_hf_config(self):"),
    "side_file": (
        "srt/configs/model_config.py",
        'elif os.path.exists(os.path.join(self.model_path, "hf_quant_config.json")):',
    ),
    "modelslim": ("srt/configs/model_config.py", "quant_config = modelslim_config or hf_config"),
    "modelopt_algorithm": ("srt/configs/model_config.py", 'elif quant_algo == "MXFP8":'),
    "unknown_method": ("srt/configs/model_config.py", 'f"Unknown quantization method: {self.quantization}. Must "'),
    "gptq_marlin": ("srt/layers/quantization/gptq/gptq.py", "if (num_bits, sym) not in cls.TYPE_MAP:"),
    "gptq_order": ("srt/layers/quantization/gptq/gptq.py", "if desc_act and group_size == -1:"),
    "fp8_blocks": ("srt/layers/quantization/fp8.py", "if output_partition_size % block_n != 0:"),
    "fp8_scheme": ("srt/layers/quantization/fp8.py", 'cls.get_from_keys(config, ["activation_scheme"])'),
    "fp8_schemes": ("srt/layers/quantization/fp8.py", "Unsupported activation scheme "),
    "fp8_static_blocks": ("srt/layers/quantization/fp8.py", "supports dynamic activation scheme for now"),
    "rows": ("srt/layers/vocab_parallel_embedding.py", "{self.org_vocab_size=} {self.use_presharded_weights=}"),
    "fp8_expert_blocks": ("srt/layers/quantization/fp8.py", "if intermediate_size_per_partition % block_n != 0:"),
    "cache_scales": ("srt/model_loader/weight_utils.py", "def maybe_remap_kv_scale_name("),
    "fp8_lists": ("srt/layers/quantization/fp8.py", '["ignored_layers"'),
    "fused": ("srt/layers/quantization/utils.py", "are quantized. All shards of fused layers "),
    "components": ("srt/layers/quantization/utils.py", "def is_layer_skipped("),
    "tied": ("srt/models/llama.py", 'if self.config.tie_word_embeddings and "lm_head.weight" in name:'),
    "adapter_type": ("srt/lora/lora.py", 'assert self.config.hf_config["peft_type"].lower() == "lora"'),
    "adapter_keys": ("srt/lora/lora_config.py", 'self.target_modules = self.hf_config["target_modules"]'),
    "adapter_scaling": ("srt/lora/lora.py", "self.scaling: float = self.config.lora_alpha / self.config.r"),
    "adapter_dora": ("srt/lora/lora_manager.py", "doesn't support DoRA adapters"),
    "adapter_saved": ("srt/lora/lora.py", 'module_name = "embed_tokens" if "embed_tokens" in name else "lm_head"'),
    "adapter_dropped": ("srt/lora/lora.py", "self.layers[layer_id].weights[name] = loaded_weight.cpu()"),
    "adapter_targets": ("srt/lora/lora_manager.py", "SGLang does not recognize target_modules="),
    "adapter_tokens": ("srt/lora/lora_manager.py", "adapters that add tokens to the vocabulary"),
}

RULES = {
    "vllm": VLLM_RULES | engine_modules.VLLM_METHODS,
    "sglang": SGLANG_RULES | engine_modules.SGLANG_METHODS,
}
"""The rules of each engine: file, and text."""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8-sig"))


@cache
def _classes(path: Path) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.walk(_tree(path)) if isinstance(node, ast.ClassDef)}


@cache
def _imports(path: Path) -> list[ast.ImportFrom]:
    return [node for node in ast.walk(_tree(path)) if isinstance(node, ast.ImportFrom)]


class Source:
    """The files of a package; classes are found by name, first in the file that uses them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def tree(self, path: Path) -> ast.Module:
        """The syntax tree of a file."""
        return _tree(path)

    def lines(self, rules: dict[str, tuple[str, str]]) -> dict[str, str]:
        """FILE:LINE of the first place of each rule's text; of a rule whose text or file is gone there is none."""
        return {rule: line for rule, place in rules.items() if (line := self.line(*place))}

    def line(self, file: str, text: str) -> str:
        """FILE:LINE of the first place of a text; empty if there is none."""
        path = self.root / file
        lines = path.read_text() if path.exists() else ""
        return f"{file}:{lines[: lines.index(text)].count(chr(10)) + 1}" if text in lines else ""

    def classes(self, path: Path) -> dict[str, ast.ClassDef]:
        """The classes of a file by name."""
        return _classes(path)

    def module(self, path: Path, name: str, level: int) -> list[Path]:
        """The files that an import of a module may mean."""
        base = path.parent
        for _ in range(level - 1):
            base = base.parent
        if not level:
            parts = name.split(".")
            if parts[0] != self.root.name:
                return []
            base, name = self.root, ".".join(parts[1:])
        file = base.joinpath(*name.split(".")) if name else base
        return [one for one in (file.with_suffix(".py"), file / "__init__.py") if one.exists()]

    def find(self, path: Path, name: str, depth: int = 0) -> Class | None:
        """The class that a name means in a file."""
        if name in self.classes(path):
            return path, self.classes(path)[name]
        if depth > 4:
            return None
        for node in _imports(path):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    for file in self.module(path, node.module or "", node.level):
                        if found := self.find(file, alias.name, depth + 1):
                            return found
        return None

    def line_of_inheritance(self, cls: Class) -> Iterator[Class]:
        """A class and those that it inherits from, in the package."""
        yield cls
        for base in cls[1].bases:
            if isinstance(base, ast.Name) and (found := self.find(cls[0], base.id)):
                yield from self.line_of_inheritance(found)

    def bases(self, cls: Class) -> set[str]:
        """The names of all bases."""
        return {
            name
            for _, node in self.line_of_inheritance(cls)
            for base in node.bases
            if (name := getattr(base, "id", getattr(base, "attr", "")))
        }

    def member(self, cls: Class, name: str) -> tuple[Path, ast.stmt] | None:
        """The method or attribute of a class, its own or an inherited."""
        for path, node in self.line_of_inheritance(cls):
            for statement in node.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return path, statement
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                        return path, statement
        return None


def literal(tree: ast.Module, name: str) -> ast.expr:
    """What a module assigns to a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets) and node.value:
                return node.value
    raise LookupError(name)


def _calls(node: ast.AST, name: str) -> Iterator[ast.Call]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", getattr(inner.func, "attr", "")) == name:
            yield inner


def _mapped(source: Source, path: Path, value: ast.AST, depth: int = 0) -> tuple[dict[str, str], set[str]]:
    """The prefixes that a mapper maps, and those that it drops."""
    mapped: dict[str, str] = {}
    dropped: set[str] = set()
    for call in _calls(value, "WeightsMapper"):
        for keyword in call.keywords:
            if keyword.arg == "orig_to_new_prefix" and isinstance(keyword.value, ast.Dict):
                for key, new in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(new, ast.Constant):
                        if new.value is None:
                            dropped.add(str(key.value))
                        else:
                            mapped[str(key.value)] = str(new.value)
    for inner in ast.walk(value):
        if isinstance(inner, ast.Attribute) and inner.attr == "hf_to_vllm_mapper" and depth < 5:
            name = inner.value.id if isinstance(inner.value, ast.Name) else ""
            if (cls := source.find(path, name)) and (found := source.member(cls, "hf_to_vllm_mapper")):
                more, gone = _mapped(source, found[0], found[1], depth + 1)
                mapped, dropped = more | mapped, dropped | gone
    return mapped, dropped


def _maps(tree: ast.AST) -> bool:
    """Whether a mapper in a file maps more than prefixes and the parts of fused modules."""
    known = {"orig_to_new_prefix", "orig_to_new_stacked"}
    return any(not {word.arg for word in call.keywords} <= known for call in _calls(tree, "WeightsMapper"))


def _passes_over(path: Path, tree: ast.AST, root: Path) -> str:
    """FILE:LINE where a loop of loading goes on for any name that is not a parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.NotIn):
            over = getattr(node.test.comparators[0], "id", "")
            if over == "params_dict" and any(isinstance(one, ast.Continue) for one in node.body):
                return f"{path.relative_to(root)}:{node.lineno}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "not found in params_dict" in node.value:
            return f"{path.relative_to(root)}:{node.lineno}"
    return ""


_NO_PARTS = {"config", "vllm_config", "quant_config", "model_config", "cache_config", "logits_processor"}
"""What a class keeps beside its parts."""


def _router(source: Source, path: Path) -> str:
    """FILE:LINE where a module builds a router with the settings of the quantisation; empty if it builds none so."""
    for node in ast.walk(source.tree(path)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self.gate":
            calls = (call for name in ("GateLinear", "ReplicatedLinear") for call in _calls(node, name))
            words = {(word.arg, ast.unparse(word.value)) for call in calls for word in call.keywords}
            if ("quant_config", "quant_config") in words:
                return f"{path.relative_to(source.root)}:{node.lineno}"
    return ""


def _of_vllm_class(source: Source, cls: Class) -> Json:
    row: Json = {"loads": "own"}
    if loading := source.member(cls, "load_weights"):
        shared = list(_calls(loading[1], "AutoWeightsLoader"))
        row["loads"] = "auto" if shared else "own"
        dropped = {
            str(one.value)
            for call in shared
            for keyword in call.keywords
            if keyword.arg == "ignore_unexpected_prefixes" and isinstance(keyword.value, ast.List)
            for one in keyword.value.elts
            if isinstance(one, ast.Constant)
        }
        if mapper := source.member(cls, "hf_to_vllm_mapper"):
            row["prefixes"], gone = _mapped(source, mapper[0], mapper[1])
            dropped |= gone
        row["drops"] = sorted(dropped)
        inherited = dict.fromkeys(file for file, _ in source.line_of_inheritance(cls) if "interfaces" not in file.name)
        row["maps"] = any(_maps(source.tree(file)) for file in inherited)
        skips = [_passes_over(file, source.tree(file), source.root) for file in inherited]
        row["skips"] = next(filter(None, skips), "")
        row["nextn"] = any(
            True
            for file in inherited
            for name in ("skip_spec_layers", "get_spec_layer_idx_from_weight_name")
            for _ in _calls(source.tree(file), name)
        )
    row["modules"] = sorted(
        {
            target.attr
            for _, node in source.line_of_inheritance(cls)
            for function in node.body
            if isinstance(function, ast.FunctionDef) and function.name == "__init__"
            for inner in ast.walk(function)
            if isinstance(inner, ast.Assign)
            for target in inner.targets
            if isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == "self"
            and (isinstance(inner.value, ast.Call | ast.IfExp | ast.Attribute))
        }
        - _NO_PARTS
    )
    row["modules"] = [name for name in row["modules"] if not name.startswith(("_", "num_", "is_", "use_", "make_"))]
    row["adapters"] = "SupportsLoRA" in source.bases(cls)
    return row


def _registered(source: Source, registry: Path) -> Iterator[tuple[str, str, str, int]]:
    """Names, modules, classes and lines of vLLM's registry."""
    for node in source.tree(registry).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            name = getattr(node.targets[0], "id", "")
            if not name.endswith("_MODELS") or name.startswith(("_PREVIOUSLY", "_OOT")):
                continue
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Tuple):
                    module, cls = (str(one.value) for one in value.elts if isinstance(one, ast.Constant))
                    yield str(key.value), module, cls, key.lineno


def _files_of(source: Source, module: str) -> list[Path]:
    base = source.root / "model_executor" / "models"
    if module.startswith("vllm."):
        base = source.root.joinpath(*module.split(".")[1:])
        return [base.with_suffix(".py")] if base.with_suffix(".py").exists() else _package(base)
    file = base.joinpath(*module.split("."))
    return [file.with_suffix(".py")] if file.with_suffix(".py").exists() else _package(file)


def _package(folder: Path) -> list[Path]:
    """The files of a package, those of CUDA before those of other devices."""
    files = [path for path in sorted(folder.rglob("*.py")) if not {"amd", "xpu", "rocm"} & set(path.parts)]
    return sorted(files, key=lambda path: "nvidia" not in path.parts)


def vllm(root: Path) -> tuple[Json, Json]:
    """What holds for all of vLLM's classes, and what of each."""
    source = Source(root)
    registry = root / "model_executor" / "models" / "registry.py"
    where = str(registry.relative_to(root))
    rows: Json = {}
    for name, module, cls, line in _registered(source, registry):
        rows[name] = {"module": module, "line": f"{where}:{line}"}
        if cls != name:
            rows[name]["class"] = cls
        if module == "transformers":
            continue
        for path in _files_of(source, module):
            if found := source.find(path, cls):
                rows[name] |= {**_of_vllm_class(source, found), "router": _router(source, path)}
                rows[name]["dense_router"] = engine_modules.dense_router(source, path)
                break
    for table, key in (("_PREVIOUSLY_SUPPORTED_MODELS", "retired"), ("_OOT_SUPPORTED_MODELS", "plugin")):
        value = literal(source.tree(registry), table)
        assert isinstance(value, ast.Dict)
        for name, what in zip(value.keys, value.values, strict=True):
            assert isinstance(name, ast.Constant) and isinstance(what, ast.Constant)
            rows.setdefault(str(name.value), {key: what.value, "line": f"{where}:{name.lineno}"})
    return _of_all_vllm(source), rows


def _strings(value: ast.AST) -> list[str]:
    return [one.value for one in ast.walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _side_files(source: Source, folder: str) -> dict[str, list[str]]:
    """Per method, the files that its settings are read from."""
    files = {}
    for path in sorted((source.root / folder).rglob("*.py")):
        for cls in source.classes(path).values():
            methods = {one.name: one for one in cls.body if isinstance(one, ast.FunctionDef)}
            if "get_name" in methods and "get_config_filenames" in methods:
                names = [_strings(one) for one in ast.walk(methods["get_name"]) if isinstance(one, ast.Return)]
                found = [
                    _strings(one) for one in ast.walk(methods["get_config_filenames"]) if isinstance(one, ast.Return)
                ]
                if names and names[0] and found and found[0]:
                    files[names[0][0]] = found[0]
    return files


def _of_all_vllm(source: Source) -> Json:
    folder = "model_executor/layers/quantization"
    methods = literal(source.tree(source.root / folder / "__init__.py"), "QuantizationMethods")
    deprecated = literal(source.tree(source.root / folder / "__init__.py"), "DEPRECATED_QUANTIZATION_METHODS")
    model = source.tree(source.root / "config" / "model.py")
    half = literal(model, "_FLOAT16_NOT_SUPPORTED_MODELS")
    assert isinstance(half, ast.Dict)
    suffixes = literal(model, "_SUFFIX_TO_DEFAULTS")
    assert isinstance(suffixes, ast.List)
    configs = literal(source.tree(source.root / "transformers_utils" / "config.py"), "_CONFIG_REGISTRY")
    names = [word.arg or "" for call in ast.walk(configs) if isinstance(call, ast.Call) for word in call.keywords]
    names += [
        key.value
        for one in ast.walk(configs)
        if isinstance(one, ast.Dict)
        for key in one.keys
        if isinstance(key, ast.Constant)
    ]
    helper = source.tree(source.root / "config" / "lora.py")
    (rank,) = [
        number.value
        for node in ast.walk(helper)
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "max_lora_rank" and node.value
        for number in ast.walk(node.value)
        if isinstance(number, ast.Constant) and isinstance(number.value, int)
    ][:1]
    aliases = {"gptq": "auto_gptq", "awq": "auto_awq", "auto-round": "inc"}
    for old, new in aliases.items():
        assert new in _strings(methods), (old, new)
    return {
        "methods": " ".join(_strings(methods)),
        "deprecated": " ".join(_strings(deprecated)),
        "aliases": aliases,
        "side_files": _side_files(source, folder),
        "suffixes": " ".join(_strings(one)[0] for one in suffixes.elts),
        "half_refused": " ".join(str(one.value) for one in half.keys if isinstance(one, ast.Constant)),
        "configs": " ".join(sorted(filter(None, names))),
        "max_rank": rank,
        "lines": source.lines(RULES["vllm"]),
    }


def sglang(root: Path) -> tuple[Json, Json]:
    """What holds for all of SGLang's classes, and what of each."""
    source, rows = Source(root), {}
    for path in sorted((root / "srt" / "models").glob("*.py")):
        try:
            entry = literal(source.tree(path), "EntryClass")
        except LookupError:
            continue
        for name in entry.elts if isinstance(entry, ast.List | ast.Tuple) else [entry]:
            if isinstance(name, ast.Name):
                rows[name.id] = {
                    "module": path.stem,
                    "line": f"{path.relative_to(root)}:{entry.lineno}",
                    **_of_sglang_class(source, path, name.id),
                    **_modules_of(source, path, name.id),
                }
    folder = root / "srt" / "layers" / "quantization"
    methods = literal(source.tree(folder / "__init__.py"), "BASE_QUANTIZATION_METHODS")
    assert isinstance(methods, ast.Dict)
    names = [one.value for one in methods.keys if isinstance(one, ast.Constant)]
    return {"methods": " ".join([*names, "mxfp4"]), "lines": source.lines(RULES["sglang"])}, rows


def _of_sglang_class(source: Source, path: Path, name: str) -> Json:
    cls = source.find(path, name)
    if cls is None or not (loading := source.member(cls, "load_weights")):
        return {"loads": "own"}
    loops = [
        (file, one)
        for file, node in source.line_of_inheritance(cls)
        for one in node.body
        if isinstance(one, ast.FunctionDef) and "load_weights" in one.name and not one.name.endswith("_v2")
    ]
    shared = any(call for call in _calls(loading[1], "AutoWeightsLoader"))
    passed = (_passes_over(file, loop, source.root) or _positive(file, loop, source.root) for file, loop in loops)
    row: Json = {"loads": "auto" if shared else "own", "skips": next(filter(None, passed), "")}
    head = r"['\"]lm_head\.weight['\"]"
    dropped = re.compile(rf"tie_word_embeddings and {head} in name|name == {head} and self\.config\.tie_word")
    row["ties"] = any(dropped.search(ast.unparse(loop)) for _, loop in loops)
    return row


def _modules_of(source: Source, path: Path, name: str) -> Json:
    cls = source.find(path, name)
    return engine_modules.of_sglang_class(source, path, cls) if cls else {}


def _positive(path: Path, tree: ast.AST, root: Path) -> str:
    """FILE:LINE where a loop loads names that are parameters, and has nothing for the others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.In):
            over = ast.unparse(node.test.comparators[0])
            warns = not node.orelse or "warn" in ast.unparse(ast.Module(node.orelse, []))
            if over.startswith("params_dict") and warns:
                return f"{path.relative_to(root)}:{node.lineno}"
    return ""


def write(engine: str, version: str, everything: Json, rows: Json) -> Path:
    """Writes the file: a line for all, then one for each class.

    Raises:
        LookupError: the text of a rule is gone, so that the code which follows it has to be read anew.
    """
    if gone := RULES[engine].keys() - everything["lines"].keys():
        raise LookupError(f"{engine} {version} has no text of the rules {', '.join(sorted(gone))}")
    path = FOLDER / f"{engine}-{version}.json"
    kept = {name: {key: value for key, value in row.items() if value} for name, row in sorted(rows.items())}
    lines = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in kept.items()]
    head = json.dumps({"library": engine, "version": version, **everything}, separators=(",", ":"))
    path.write_text(f'{{"all": {head}, "classes": {{\n' + ",\n".join(lines) + "\n}}\n")
    return path


def main() -> None:
    """Reads the unpacked wheels below a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheel is unpacked: it has vllm/ or sglang/")
    parser.add_argument("--vllm", metavar="VERSION", help="record vllm/ as this version")
    parser.add_argument("--sglang", metavar="VERSION", help="record sglang/ as this version")
    given = parser.parse_args()
    if given.vllm:
        print(write("vllm", given.vllm, *vllm(given.folder / "vllm")))
    if given.sglang:
        print(write("sglang", given.sglang, *sglang(given.folder / "sglang")))


if __name__ == "__main__":
    main()
