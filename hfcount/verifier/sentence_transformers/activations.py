"""Which activation functions sentence-transformers builds from the path in a Dense's config.

Source: sentence-transformers 6.2, base/modules/dense.py and util/misc.py, run with torch 2.13.
"""

import re

_BUILT = {
    "activation": (
        *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU"),
        *("LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax"),
        *("Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink"),
    ),
    "container": ("ModuleDict", "ModuleList", "Sequential"),
    "distance": ("CosineSimilarity", "PairwiseDistance"),
    "dropout": ("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"),
    "flatten": ("Flatten",),
    "linear": ("Identity",),
}
"""Modules of torch that need no arguments, by the files of torch.nn.modules; losses and the like are left out."""

_NAMES = {name for names in _BUILT.values() for name in names}
_PATH = re.compile(r"torch\.nn\.(?:modules\.(?:(?P<file>\w+)\.)?)?(?P<name>\w+)")
_FUNCTION = re.compile(r"torch\.\w+|torch\.(nn\.)?functional\.\w+")
_OF_TORCH = re.compile(
    r"torch\.(nn\.(?!modules\.|functional\.)\w+|ao|distributed|export|fx|jit|package|quantization|sparse|testing|utils)\.\w.*"
)


def is_built(path: str) -> bool:
    """Whether a path names a module that is built without arguments, or one of which nothing is known.

    A path that begins otherwise than with `torch.` is not looked up: the default takes its place.
    """
    if not path.startswith("torch."):
        return True
    if _FUNCTION.fullmatch(path):
        return False
    if match := _PATH.fullmatch(path):
        return match["name"] in (_BUILT.get(match["file"], ()) if match["file"] else _NAMES)
    return _OF_TORCH.fullmatch(path) is not None


def parameters(path: str) -> dict[str, tuple[int, ...]]:
    """The tensors of an activation, by name, with their shapes in elements."""
    return {"weight": (1,)} if path.rpartition(".")[2] == "PReLU" and path.startswith("torch.") else {}
