"""The dtypes of the safetensors format, and their names in configs."""

BITS = {
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}
"""Bits of one element, by the format's name (safetensors 0.8, enum Dtype)."""

INTEGERS = frozenset(("BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64"))
"""Whole numbers: indices, masks, and codes that stand for weights by a scheme."""

FLOAT8 = frozenset(("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"))
"""Numbers whose range is so small that weights are mostly stored divided by a scale."""

FLOATING = FLOAT8 | {"F16", "BF16", "F32", "F64"}
"""Numbers that a parameter may be stored as, one by one."""

_NAMES = {
    "float64": "F64",
    "double": "F64",
    "float32": "F32",
    "float": "F32",
    "bfloat16": "BF16",
    "float16": "F16",
    "half": "F16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}

_FURTHER = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "complex64": "C64",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
}

_UNSTORED = frozenset(
    """
    int short long cfloat cdouble chalf complex32 complex128 float4_e2m1fn_x2 bit bits8 bits16 bits1x8 bits2x4 bits4x2
    qint8 qint32 quint8 quint2x4 quint4x2 int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7
    """.split()
)
"""Further names that torch has for dtypes (torch 2.13), by which nothing is stored."""

MODELS = ("bfloat16", "float16", "float32", "float64", "half", "float", "double")
"""Names in configs of the dtypes that transformers builds models in."""


def code(name: str | None) -> str | None:
    """The format's name of a config's dtype; None if it is not one that whole models are stored in."""
    return _NAMES.get(name) if name else None


def stored_as(name: str) -> tuple[str, int] | None:
    """The format's name and the bits of a dtype, called as the format, torch or numpy call it; None if it has none."""
    plain = name.removeprefix("torch.")
    known = plain if plain in BITS else _NAMES.get(plain) or _FURTHER.get(plain)
    return (known, BITS[known]) if known else None


def is_of_torch(name: str) -> bool:
    """Whether torch has an attribute for a dtype of this name, such as `int8`, which `torch.int8` is not."""
    return name in _NAMES or name in _FURTHER or name in _UNSTORED


def width(dtype: str) -> int:
    """Bytes of one element of a dtype with whole bytes."""
    return BITS[dtype] // 8
