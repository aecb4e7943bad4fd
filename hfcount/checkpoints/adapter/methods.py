"""The tensors of each PEFT method: for every adapted module, and once for all.

Source: peft 0.21, tuners/*/layer.py and tuners/*/model.py. Shapes are in elements.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, prod

from hfcount.checkpoints.adapter.modules import Kind, ModuleSet
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.checkpoints.adapter.targets import Patterns, Refused, Unread
from hfcount.verifier.loaders.labels import PEFT

_WIDEST = 2**36  # that is split into factors

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
"""Shapes by the end of a name."""


@dataclass(frozen=True, slots=True)
class AdaptedModule:
    """A module that a method adapts: its path and size, and the settings with the rank that it is to have."""

    path: str
    module: ModuleSet
    settings: Settings
    rank: int
    patterns: Patterns


@dataclass(frozen=True, slots=True)
class Method:
    """A method of PEFT.

    Args:
        prefix: how the names of its tensors begin, after the path of the module.
        tensors: what it adds to a module.
        kinds: the kinds of modules that it adapts; PEFT refuses others.
        rank: the key of the rank, and its default.
        shared: what is stored once, under `base_model.`, by the modules that are adapted.
        saves: whether it stores modules of the base whole, such as the head of a classifier.
    """

    prefix: str
    tensors: Callable[[AdaptedModule], Shapes]
    kinds: tuple[Kind, ...] = ("linear",)
    rank: tuple[str, int] = ("r", 8)
    shared: Callable[[Collection[ModuleSet], Settings], Shapes] | None = None
    saves: bool = True


def _lora(adapted: AdaptedModule) -> Shapes:
    module, settings, rank = adapted.module, adapted.settings, adapted.rank
    inputs, outputs, kernel = module.inputs, module.outputs, module.weight[2:]
    if module.kind == "embedding":
        shapes: dict[str, Shape] = {"lora_embedding_A": (rank, inputs), "lora_embedding_B": (outputs, rank)}
    else:
        ones = (1,) * len(kernel)
        shapes = {"lora_A.weight": (rank, inputs, *kernel), "lora_B.weight": (outputs, rank, *ones)}
        if settings.flag("lora_bias"):
            shapes["lora_B.bias"] = (outputs,)
    if settings.flag("use_dora"):
        shapes["lora_magnitude_vector"] = (1, outputs, *((1,) * len(kernel))) if kernel else (outputs,)
    return shapes


def _adalora(adapted: AdaptedModule) -> Shapes:
    module, rank = adapted.module, adapted.rank
    return {"lora_A": (rank, module.inputs), "lora_B": (module.outputs, rank), "lora_E": (rank, 1)}


def _ia3(adapted: AdaptedModule) -> Shapes:
    module = adapted.module
    ones = (1,) * len(module.weight[2:])
    forward = _is_feedforward(adapted)
    if module.kind == "conv":
        return {"ia3_l": (1, module.inputs, *ones) if forward else (1, module.outputs, *ones)}
    return {"ia3_l": (1, module.inputs) if forward else (module.outputs, 1)}


def _is_feedforward(adapted: AdaptedModule) -> bool:
    """Whether the inputs of a module are scaled, and not its outputs."""
    names = adapted.settings.names("feedforward_modules")
    if isinstance(names, str):
        return adapted.patterns.matches(names, adapted.path, "feedforward_modules")
    return adapted.path.endswith(names or ())


def _loha(adapted: AdaptedModule) -> Shapes:
    module, settings, rank = adapted.module, adapted.settings, adapted.rank
    inputs, outputs, kernel = module.inputs, module.outputs, module.weight[2:]
    shapes: dict[str, Shape] = {}
    for number in (1, 2):
        if kernel and settings.flag("use_effective_conv2d") and set(kernel) != {1}:
            shapes[f"hada_t{number}"] = (rank, rank, *kernel, *((1,) * (2 - len(kernel))))
            shapes[f"hada_w{number}_a"], shapes[f"hada_w{number}_b"] = (rank, outputs), (rank, inputs)
        else:
            shapes[f"hada_w{number}_a"], shapes[f"hada_w{number}_b"] = (outputs, rank), (rank, inputs * prod(kernel))
    return shapes


def _lokr(adapted: AdaptedModule) -> Shapes:
    module, settings, rank = adapted.module, adapted.settings, adapted.rank
    factor, kernel = settings.number("decompose_factor", -1, least=-_WIDEST), module.weight[2:]
    (first, outputs), (second, inputs) = factors(module.outputs, factor), factors(module.inputs, factor)
    if settings.flag("decompose_both") and 2 * rank < max(first, second):
        shapes: dict[str, Shape] = {"lokr_w1_a": (first, rank), "lokr_w1_b": (rank, second)}
    else:
        shapes = {"lokr_w1": (first, second)}
    if 2 * rank >= max(outputs, inputs):
        shapes["lokr_w2"] = (outputs, inputs, *kernel)
    elif kernel and settings.flag("use_effective_conv2d") and set(kernel) != {1}:
        shapes["lokr_t2"] = (rank, rank, *kernel, *((1,) * (2 - len(kernel))))
        shapes["lokr_w2_a"], shapes["lokr_w2_b"] = (rank, outputs), (rank, inputs)
    else:
        shapes["lokr_w2_a"], shapes["lokr_w2_b"] = (outputs, rank), (rank, inputs * prod(kernel))
    return shapes


def factors(number: int, factor: int) -> tuple[int, int]:
    """Two factors of a number, the first as near to `factor` as can be and not above; to its root if that is -1."""
    if factor > 0 and number % factor == 0:
        return factor, number // factor
    limit = number if factor == -1 else factor
    near = (divisor for divisor in _divisors(number) if divisor <= limit and divisor * divisor <= number)
    first = max(near, default=1)  # peft 0.21.2, tuners/lokr/layer.py: below a factor of 1, too, it begins with 1
    return first, number // first


@lru_cache(64)
def _divisors(number: int) -> list[int]:
    """The numbers that divide a width, in their order."""
    if not 0 < number <= _WIDEST:
        raise Unread(f"a width of {number:,} is not split into factors")
    small = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    return [*small, *(number // divisor for divisor in reversed(small))]


def _vera(adapted: AdaptedModule) -> Shapes:
    return {"vera_lambda_b": (adapted.module.outputs,), "vera_lambda_d": (adapted.rank,)}


def _projections(modules: Collection[ModuleSet], settings: Settings) -> Shapes:
    if not settings.flag("save_projection", True) or not modules:
        return {}
    rank = settings.number("r", 256)
    inputs, outputs = max(module.inputs for module in modules), max(module.outputs for module in modules)
    return {"vera_A": (rank, inputs), "vera_B": (outputs, rank)}


def _oft(adapted: AdaptedModule) -> Shapes:
    module, settings, blocks = adapted.module, adapted.settings, adapted.rank
    size = module.inputs * prod(module.weight[2:])
    block = settings.number("oft_block_size", 32, least=0)
    _check_one(r=blocks, oft_block_size=block)
    if block:
        block = _nearest(size, block)
        blocks = size // block
    else:
        blocks = _nearest(size, blocks)
        block = size // blocks
    return {"oft_R.weight": (1 if settings.flag("block_share") else blocks, block * (block - 1) // 2)}


def _nearest(size: int, wanted: int) -> int:
    """The divisor of a width that is nearest to what is wanted; of two, the smaller."""
    if wanted >= size:
        return size
    known = _divisors(size)
    higher = min(divisor for divisor in known if divisor >= wanted)
    lower = max((divisor for divisor in known if divisor <= wanted), default=1)
    return lower if wanted - lower <= higher - wanted else higher


def _hra(adapted: AdaptedModule) -> Shapes:
    module = adapted.module
    kernel = module.weight[2:]
    return {"hra_u": (module.inputs * (kernel[0] ** 2 if kernel else 1), adapted.rank)}


def _vblora(adapted: AdaptedModule) -> Shapes:
    module, settings, rank = adapted.module, adapted.settings, adapted.rank
    length, vectors = settings.number("vector_length", 256), settings.number("num_vectors", 256)
    inputs, outputs = (_divides(module, width, length, "vector_length") for width in (module.inputs, module.outputs))
    first, second = (rank, inputs), (outputs, rank)
    if settings.flag("save_only_topk_weights"):
        top = settings.number("topk", 2)
        return {
            f"vblora_logits_{name}_topk_{what}": (*shape, count)
            for name, shape in (("A", first), ("B", second))
            for what, count in (("indices", top), ("weights", top - 1))
        }
    return {"vblora_logits_A": (*first, vectors), "vblora_logits_B": (*second, vectors)}


def _bank(modules: Collection[ModuleSet], settings: Settings) -> Shapes:
    del modules
    return {"vblora_vector_bank": (settings.number("num_vectors", 256), settings.number("vector_length", 256))}


def _norms(adapted: AdaptedModule) -> Shapes:
    return {f"ln_tuning_layers.{name}": shape for name, shape in adapted.module.tensors.items()}


def _tokens(adapted: AdaptedModule) -> Shapes:
    indices = adapted.settings.values.get("token_indices")
    return {"trainable_tokens_delta": (len(indices) if isinstance(indices, list) else 0, adapted.module.outputs)}


def _boft(adapted: AdaptedModule) -> Shapes:
    module, settings, kernel = adapted.module, adapted.settings, adapted.module.weight[2:]
    if settings.values.get("boft_n_butterfly_factor", 1) != 1:
        raise Unread("boft_n_butterfly_factor is not 1, which PEFT reads by whether its extension for CUDA was built")
    width = module.inputs * (kernel[0] ** 2 if kernel else 1)
    size, blocks = settings.number("boft_block_size", 4, least=0), settings.number("boft_block_num", 0, least=0)
    _check_one(boft_block_size=size, boft_block_num=blocks)
    given = _divides(module, width, size or blocks, "boft_block_size" if size else "boft_block_num")
    size, blocks = (size, given) if size else (given, blocks)
    return {"boft_R": (1, blocks, size, size), "boft_s": (1, module.outputs) if kernel else (module.outputs, 1)}


def _check_one(**sizes: int) -> None:
    """Raises Refused unless exactly one of two sizes is set; 0 stands for none."""
    if len([size for size in sizes.values() if size]) != 1:
        raise Refused(f"{' and '.join(sizes)} are both set or both 0, but {PEFT} needs exactly one of them")


def _divides(module: ModuleSet, width: int, divisor: int, key: str) -> int:
    """How often a size is in a width; raises Refused where it does not divide that."""
    if width % divisor:
        says = f"{key} is {divisor:,} and does not divide {width:,}, a width of {module.name}"
        raise Refused(f"{says}, and {PEFT} refuses that")
    return width // divisor


def _frequencies(adapted: AdaptedModule) -> Shapes:
    module, settings = adapted.module, adapted.settings
    _check_pattern(settings, "n_frequency_pattern")
    count = settings.number("n_frequency", 1000)
    if count > module.inputs * module.outputs:
        raise Refused(f"n_frequency is {count:,}, more than the elements of {module.name}, and {PEFT} refuses that")
    return {"fourierft_spectrum": (count,)}


def _c3a(adapted: AdaptedModule) -> Shapes:
    module, settings = adapted.module, adapted.settings
    _check_pattern(settings, "block_size_pattern")
    size = settings.number("block_size", 256)
    outputs, inputs = (_divides(module, width, size, "block_size") for width in (module.outputs, module.inputs))
    return {"c3a_kernel": (outputs, inputs, size)}


def _check_pattern(settings: Settings, key: str) -> None:
    if settings.values.get(key):
        raise Unread(f"{settings.where} sets {key}, which is not read here")


def _miss(adapted: AdaptedModule) -> Shapes:
    if not isinstance(adapted.settings.values.get("init_weights", True), bool):
        raise Unread("init_weights names a variant of MiSS, which is not described here")
    if adapted.rank > adapted.module.inputs:
        raise Refused(f"r is {adapted.rank:,}, more than the inputs of {adapted.module.name}, and {PEFT} refuses that")
    return {"miss_block": (adapted.rank, adapted.module.outputs)}


def _road(adapted: AdaptedModule) -> Shapes:
    module, settings = adapted.module, adapted.settings
    group = settings.number("group_size", 64)
    _divides(module, module.outputs, group, "group_size")
    if group % 2:
        raise Refused(f"group_size is {group:,}, and {PEFT} refuses odd ones")
    sizes = {"road_1": module.outputs // 2, "road_2": module.outputs, "road_4": 2 * module.outputs}
    size = sizes.get(settings.text("variant", "road_1"))
    if size is None:
        raise Refused(f"variant is none of {', '.join(sizes)}, and {PEFT} refuses others")
    return {"road_theta": (size,), "road_alpha": (size,)}


def _hira(adapted: AdaptedModule) -> Shapes:
    module, rank = adapted.module, adapted.rank
    kernel = module.weight[2:]
    if module.kind == "embedding":
        return {"hira_embedding_A": (rank, module.inputs), "hira_embedding_B": (module.outputs, rank)}
    return {"hira_A": (rank, module.inputs, *kernel), "hira_B": (module.outputs, rank, *((1,) * len(kernel)))}


def _delora(adapted: AdaptedModule) -> Shapes:
    module, rank = adapted.module, adapted.rank
    pair: Shapes = {"delora_A": (rank, module.inputs), "delora_B": (module.outputs, rank)}
    return {**pair, "delora_lambda": (1,), "delora_w_norm": (module.inputs,)}


_MATRICES: tuple[Kind, ...] = ("linear", "transposed")
_LAYERS: tuple[Kind, ...] = ("linear", "transposed", "conv")

METHODS: Mapping[str, Method] = {
    "LORA": Method("lora_", _lora, ("linear", "transposed", "embedding", "conv")),
    "ADALORA": Method("lora_", _adalora, _MATRICES, ("init_r", 12)),
    "IA3": Method("ia3_l", _ia3, _LAYERS),
    "LOHA": Method("hada_", _loha, ("linear", "conv")),
    "LOKR": Method("lokr_", _lokr, ("linear", "conv")),
    "VERA": Method("vera_", _vera, _MATRICES, ("r", 256), _projections),
    "OFT": Method("oft_", _oft, ("linear", "conv"), ("r", 0)),
    "HRA": Method("hra_", _hra, ("linear", "conv")),
    "VBLORA": Method("vblora_", _vblora, _MATRICES, ("r", 4), _bank),
    "BOFT": Method("boft_", _boft, ("linear", "conv")),
    "FOURIERFT": Method("fourierft_", _frequencies, _MATRICES),
    "C3A": Method("c3a_", _c3a),
    "MISS": Method("miss_", _miss, rank=("r", 64)),
    "ROAD": Method("road_", _road),
    "HIRA": Method("hira_", _hira, ("linear", "transposed", "embedding", "conv"), ("r", 32)),
    "DELORA": Method("delora_", _delora),
    "LN_TUNING": Method("ln_tuning_layers.", _norms, ("linear", "transposed", "embedding", "conv", "norm", "other")),
    "TRAINABLE_TOKENS": Method("trainable_tokens_", _tokens, ("embedding", "linear"), saves=False),
}
"""Methods by `peft_type`."""

PROMPTS = ("PROMPT_TUNING", "PREFIX_TUNING", "P_TUNING")
"""Methods that learn what is put before the input, and adapt no module."""

OBJECTS = ("use_bdlora", "arrow_config", "kasa_config", "monteclora_config", "velora_config")
"""Settings of LoRA that build something else, even if they are an empty object."""

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "LORA": ("layer_replication", "use_qalora", "megatron_config", *OBJECTS),
    "ADALORA": ("layer_replication",),
}
"""Settings of LoRA that build something else, which is not described; AdaLoRA has them all, and reads one."""
