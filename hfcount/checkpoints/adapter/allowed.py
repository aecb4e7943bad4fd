"""The values of adapter_config.json that PEFT refuses although no tensor depends on them.

Recorded by running: peft 0.21.2 loaded adapters of each method with 24 values of every key of its config class.
Sizes are not here: a wrong one is seen by the shapes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.checkpoints.adapter.methods import METHODS, PROMPTS
from hfcount.checkpoints.adapter.settings import Settings

_TASKS = ("SEQ_CLS", "SEQ_2_SEQ_LM", "CAUSAL_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION")
_INITIAL = ("gaussian", "olora", "mica", "loftq", "eva", "orthogonal", "lora_ga")
_LOADED_AS_IS = ("pissa", "corda")
"""How names of initialisations begin that compute weights from the base."""

_LAYERED = ("LORA", "ADALORA", "LOHA", "LOKR", "VERA", "OFT", "HRA", "VBLORA", "BOFT", "FOURIERFT", "DELORA")


class Refusal(NamedTuple):
    """A setting that PEFT refuses: its key, its value (None where it is absent), and what it may be."""

    key: str
    value: Any
    wanted: str


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)  # true and false are numbers to Python, and PEFT takes them


def _is_count_or_null(value: Any) -> bool:
    return value is None or (_is_number(value) and value >= 0)


def _is_fraction(value: Any) -> bool:
    return _is_number(value) and value <= 1


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_not_negative(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_bias(value: Any) -> bool:
    return isinstance(value, str) and (value in ("none", "all") or value.endswith("_only"))


def _is_initial(value: Any) -> bool:
    if not isinstance(value, str):
        return type(value) is bool or not value
    return value.lower() in _INITIAL or value.startswith(_LOADED_AS_IS)


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_object_or_empty(value: Any) -> bool:
    return not value or isinstance(value, dict)


def _is_list_or_empty(value: Any) -> bool:
    return not value or isinstance(value, list)


def _is_by_module(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_empty(value: Any) -> bool:
    return not value


def _is_no_settings(value: Any) -> bool:
    return not value or not isinstance(value, dict)  # AdaLoRA makes settings of an object without an end


def _is_rows(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(rows, list) for rows in value.values())
    return value is None or (isinstance(value, list) and bool(value))


def _is_masks(value: Any) -> bool:
    return not value or (isinstance(value, dict) and all(isinstance(mask, list) for mask in value.values()))


def _is_no_number(value: Any) -> bool:
    return not value or not _is_number(value)


def _is_no_container(value: Any) -> bool:
    return not isinstance(value, list | dict)  # PEFT puts it in a set


def _is_pattern(value: Any) -> bool:
    return isinstance(value, dict)


def _is_initial_c3a(value: Any) -> bool:
    return value in (True, False, "gaussian", "xavier_uniform", "kaiming_uniform")


def _is_initial_hira(value: Any) -> bool:
    return not value or value is True or (isinstance(value, str) and value.lower() == "gaussian")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_replication(value: Any) -> bool:
    return not value or (isinstance(value, list) and all(isinstance(part, list) and len(part) == 2 for part in value))


class _Allowed(NamedTuple):
    """What a setting may be: a test of its value, in words, and whether it has to be there."""

    test: Callable[[Any], bool]
    wanted: str
    required: bool = False


_NUMBER = _Allowed(_is_number, "a number")
_DROPOUT = _Allowed(_is_fraction, "a number of at most 1")
_NOT_NEGATIVE = _Allowed(_is_not_negative, "a number that is not negative")
_OBJECT = _Allowed(_is_object, "an object or null")
_BY_MODULE = _Allowed(_is_by_module, "an object of numbers by module")
_BIAS = _Allowed(_is_bias, "none, all or lora_only")
_PATTERN = _Allowed(_is_pattern, "an object")
_FLAG = _Allowed(_is_flag, "true or false")
_WHOLE = _Allowed(_is_whole, "a whole number")

_OF_OBJECTS = """
    arrow_config corda_config eva_config kasa_config lora_ga_config use_bdlora velora_config
    """.split()

_LORA: Mapping[str, _Allowed] = {
    "lora_alpha": _NUMBER,
    "lora_dropout": _DROPOUT,
    "bias": _BIAS,
    "trainable_token_indices": _Allowed(_is_rows, "a list of token ids, an object of such lists, or null"),
    "layer_replication": _Allowed(_is_replication, "a list of pairs, or null"),
    "megatron_config": _Allowed(_is_object_or_empty, "an object or null"),
    "target_parameters": _Allowed(_is_list_or_empty, "a list of names, or null"),
    **dict.fromkeys(_OF_OBJECTS, _OBJECT),
}

_METHODS: Mapping[str, Mapping[str, _Allowed]] = {
    "LORA": {
        **_LORA,
        "alpha_pattern": _BY_MODULE,
        "rank_pattern": _BY_MODULE,
        "monteclora_config": _Allowed(_is_object_or_empty, "an object or null"),
        "init_lora_weights": _Allowed(_is_initial, "true, false, or the name of a known initialisation"),
    },
    "ADALORA": {
        **{key: allowed for key, allowed in _LORA.items() if key != "megatron_config"},
        "tinit": _NUMBER,
        "tfinal": _NUMBER,
        "total_step": _Allowed(_is_positive, "a number above 0", required=True),
        "orth_reg_weight": _NOT_NEGATIVE,
        "alpha_pattern": _Allowed(_is_no_number, "an object or null"),
        "rank_pattern": _Allowed(_is_masks, "an object of lists, or null"),
        "use_dora": _Allowed(_is_empty, "false"),
        "monteclora_config": _Allowed(_is_no_settings, "null"),
    },
    "LOHA": {"alpha": _NUMBER, "alpha_pattern": _BY_MODULE, "rank_pattern": _BY_MODULE},
    "LOKR": {
        "alpha": _NUMBER,
        "alpha_pattern": _BY_MODULE,
        "rank_pattern": _BY_MODULE,
        "decompose_factor": _WHOLE,
    },
    "VERA": {
        "bias": _BIAS,
        "d_initial": _NUMBER,
        "vera_dropout": _DROPOUT,
        "save_projection": _Allowed(_is_no_container, "true or false"),
        "projection_prng_key": _WHOLE,
    },
    "OFT": {"bias": _BIAS, "module_dropout": _NUMBER, "init_weights": _FLAG, "r": _NUMBER},
    "HRA": {"bias": _BIAS},
    "VBLORA": {
        "bias": _BIAS,
        "vblora_dropout": _DROPOUT,
        "init_logits_std": _NOT_NEGATIVE,
        "init_vector_bank_bound": _NOT_NEGATIVE,
        "topk": _Allowed(_is_positive, "a number above 0"),
        "r": _NUMBER,
    },
    "BOFT": {
        "bias": _BIAS,
        "boft_block_num": _NUMBER,
        "boft_block_size": _NUMBER,
        "boft_dropout": _NUMBER,
        "init_weights": _FLAG,
    },
    "FOURIERFT": {"bias": _BIAS, "n_frequency_pattern": _PATTERN, "random_loc_seed": _WHOLE},
    "MISS": {"bias": _BIAS, "miss_dropout": _DROPOUT},
    "C3A": {
        "bias": _BIAS,
        "block_size_pattern": _PATTERN,
        "init_weights": _Allowed(_is_initial_c3a, "true, false, or the name of a known initialisation"),
    },
    "ROAD": {"variant": _Allowed(_is_text, "road_1, road_2 or road_4")},
    "DELORA": {
        "bias": _BIAS,
        "delora_lambda": _NUMBER,
        "lambda_pattern": _PATTERN,
        "module_dropout": _DROPOUT,
        "rank_pattern": _PATTERN,
    },
    "HIRA": {
        "hira_dropout": _DROPOUT,
        "init_weights": _Allowed(_is_initial_hira, "true, false or gaussian"),
        "rank_pattern": _PATTERN,
    },
    "PREFIX_TUNING": {
        "num_transformer_submodules": _Allowed(_is_count_or_null, "a number that is not negative, or null")
    },
}


def refusals(settings: Settings) -> Iterator[Refusal]:
    """The settings that PEFT refuses, whatever the base is."""
    values, method = settings.values, settings.method
    named = values.get("peft_type")
    if named != method and (method in METHODS or method in PROMPTS):
        yield Refusal("peft_type", named, f"{method}, in capitals")
    task = values.get("task_type")
    if task is not None and task not in _TASKS:
        yield Refusal("task_type", task, f"null or one of {', '.join(_TASKS)}")
    for key, allowed in _METHODS.get(method, {}).items():
        if (key in values or allowed.required) and not allowed.test(values.get(key)):
            yield Refusal(key, values.get(key), allowed.wanted)
    yield from _together(settings)
    if method == "PROMPT_TUNING" and values.get("tokenizer_kwargs") and values.get("prompt_tuning_init") != "TEXT":
        yield Refusal("tokenizer_kwargs", values["tokenizer_kwargs"], "null if prompt_tuning_init is not TEXT")


def _together(settings: Settings) -> Iterator[Refusal]:
    """Settings that PEFT refuses because of another one."""
    values, method = settings.values, settings.method
    layers, pattern = values.get("layers_to_transform"), values.get("layers_pattern")
    if method in _LAYERED and pattern and layers is None:
        yield Refusal("layers_to_transform", None, "set if layers_pattern is")
    if isinstance(settings.targets, str):
        if method in ("LORA", "ADALORA", "HRA") and layers is not None:
            yield Refusal("layers_to_transform", layers, "null if target_modules is a text")
        if method in ("LORA", "HRA") and pattern is not None:
            yield Refusal("layers_pattern", pattern, "null if target_modules is a text")
    forward, targets = values.get("feedforward_modules"), settings.targets
    within = not (isinstance(forward, list) and isinstance(targets, tuple)) or {*map(str, forward)} <= {*targets}
    if method == "IA3" and not within:
        yield Refusal("feedforward_modules", forward, "a part of target_modules")
    if method == "LORA" and values.get("lora_bias"):
        if values.get("use_dora"):
            yield Refusal("lora_bias", values["lora_bias"], "false if use_dora is true")
        if type(values.get("init_lora_weights", True)) is not bool:
            yield Refusal("lora_bias", values["lora_bias"], "false if init_lora_weights is neither true nor false")
    if method == "ADALORA":
        yield from _of_steps(values)


def _of_steps(values: Mapping[str, Any]) -> Iterator[Refusal]:
    """Steps of AdaLoRA, of which those in all are more than those at the ends."""
    steps = [values.get(key, default) for key, default in (("tinit", 0), ("tfinal", 0), ("total_step", None))]
    if all(map(_is_number, steps)) and steps[0] >= steps[2] - steps[1]:
        yield Refusal("total_step", steps[2], "more than tinit and tfinal together")
