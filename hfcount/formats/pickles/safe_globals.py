"""The functions and classes that torch.load accepts by default (weights_only=True).

Source: torch 2.13, torch/_weights_only_unpickler.py (`_get_allowed_globals`).
"""

from hfcount.formats.pickles.values import OTHER_DTYPES, STORAGES

_SCHEMES = ("per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric")
_TENSORS = [name for name in STORAGES if not name.startswith(("Q", "Complex"))]

ALLOWED = frozenset(
    (
        *"collections.OrderedDict collections.Counter torch.nn.parameter.Parameter torch.Size torch.Tensor".split(),
        *"torch.device torch.serialization._get_layout torch.storage.TypedStorage torch.storage.UntypedStorage".split(),
        *"_codecs.encode builtins.bytearray builtins.set builtins.complex".split(),
        *(f"torch.{name}Storage" for name in STORAGES),
        *(f"torch.cuda.{name}Storage" for name in STORAGES if not name.startswith("Q")),
        *(f"torch{place}.{name}Tensor" for place in ("", ".cuda") for name in _TENSORS),
        *(f"torch{place}.sparse.{name}Tensor" for place in ("", ".cuda") for name in _TENSORS if name != "Bool"),
        *(f"torch.{name}" for name in (*_SCHEMES, "per_channel_affine_float_qparams", *OTHER_DTYPES)),
        *(f"torch.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *(f"torch.{name}" for name in ("bool", "float16", "bfloat16", "float32", "float64", "complex64")),
        *(f"torch.float8_{name}" for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")),
        *(f"torch._utils._rebuild_{name}" for name in ("tensor", "tensor_v2", "tensor_v3", "qtensor", "sparse_tensor")),
        *(f"torch._utils._rebuild_{name}" for name in ("parameter", "parameter_with_state", "nested_tensor")),
        *(f"torch._utils._rebuild_{name}" for name in ("meta_tensor_no_storage", "wrapper_subclass")),
        *(f"torch._utils._rebuild_device_tensor_from_{name}" for name in ("numpy", "cpu_tensor")),
        "torch._tensor._rebuild_from_type_v2",
    )
)
"""Names that torch.load(weights_only=True) accepts."""
