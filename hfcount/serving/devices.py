"""Amounts of memory, and the memory of accelerators by name as their makers' data sheets give it.

Data sheets count in GB of 10^9 bytes or leave it open; it is read so here, which is the smaller number: what a driver
reports is some per cent more. Sources: NVIDIA's data sheets of each product, AMD's of the Instinct series, Intel's of
Gaudi, Google's of Cloud TPU (per chip).
"""

import re

_GB = {
    "A10": 24, "A10G": 24, "A16": 16, "A30": 24, "A40": 48, "A100": 80, "A100-40GB": 40, "A100-80GB": 80,
    "B100": 180, "B200": 180, "B300": 270, "GB200": 186, "GB300": 279, "GH200": 96,
    "GAUDI2": 96, "GAUDI3": 128,
    "H20": 96, "H100": 80, "H100-NVL": 94, "H200": 141, "H800": 80,
    "L4": 24, "L20": 48, "L40": 48, "L40S": 48,
    "MI210": 64, "MI250": 128, "MI300X": 192, "MI325X": 256, "MI350X": 288, "MI355X": 288,
    "P100": 16, "V100": 16, "V100-16GB": 16, "V100-32GB": 32, "T4": 16,
    "RTX-3060": 12, "RTX-3080": 10, "RTX-3090": 24, "RTX-4060-TI": 8, "RTX-4070": 12, "RTX-4080": 16, "RTX-4090": 24,
    "RTX-5070": 12, "RTX-5080": 16, "RTX-5090": 32, "RTX-6000-ADA": 48, "RTX-A6000": 48, "RTX-PRO-6000": 96,
    "TPU-V4": 32, "TPU-V5E": 16, "TPU-V5P": 95, "TPU-V6E": 32, "TPU-V7": 192,
}  # fmt: skip
"""GB of 10^9 bytes; of a name that was sold with several sizes the usual one, and the others by suffix."""

_PLAIN = re.compile(r"[\s_-]+")
_FORM = re.compile(r"(SXM\d?|PCIE)$")


def memory_of(name: str) -> int | None:
    """Bytes of memory of a device, such as H100, `RTX 4090` or A100-40GB; None if it is not listed."""
    sizes, bare = {_plain(known): size for known, size in _GB.items()}, _plain(name)
    if bare not in sizes and (sized := re.fullmatch(r"(.+?)[\s_-]+(\d+)GB", name.strip(), re.IGNORECASE)):
        bare = _plain(sized[1])  # the name with its memory, such as `H100 80GB`
        return int(sized[2]) * 10**9 if sizes.get(bare) == int(sized[2]) else None
    size = sizes.get(bare)
    return None if size is None else size * 10**9


def _plain(name: str) -> str:
    bare = _PLAIN.sub("", name).upper()
    for maker in ("NVIDIA", "AMD", "INTEL", "GOOGLE", "GEFORCE"):
        bare = bare.removeprefix(maker)
    return _FORM.sub("", bare)


def like(name: str) -> list[str]:
    """The listed names that are most like one that is not."""
    from difflib import get_close_matches  # only where a name is unknown

    names = {_plain(known): known for known in _GB}
    return [names[match] for match in get_close_matches(_plain(name), names, 3, 0.6)]


_UNITS = {
    f"{letter}{suffix}": (1024 if suffix.startswith("i") else 1000) ** power
    for power, letter in enumerate("kmgt", 1)
    for suffix in ("", "b", "i", "ib")
} | {"b": 1}


def bytes_in(text: str) -> int | None:
    """The bytes of an amount such as 80GiB, 80 GB, 80G (both of 10^9) or 24576MiB, or of a device such as H100.

    None if it is neither; a number without a unit is none.
    """
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([a-z]+)", text.lower().replace(",", "").replace("_", ""))
    if amount:
        return int(float(amount[1]) * _UNITS.get(amount[2], 0)) or None
    return memory_of(text)


def devices_in(text: str) -> tuple[int, int] | None:
    """The number of devices and the bytes of each, of `2xH100`, `4 x 80GiB` or of one; None if it is none of these."""
    several = re.fullmatch(r" *([1-9]\d{0,4}) ?[x×*] ?(.+)", text, re.IGNORECASE)
    size = bytes_in(several[2] if several else text)
    return None if size is None else (int(several[1]) if several else 1, size)


def ranks_on(devices: int, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of ranks that are asked for, where the memory is that of so many devices.

    Raises:
        ValueError: other numbers are asked for, too.
    """
    if devices > 1 and ranks not in ((), (devices,)):
        numbers = ", ".join(map(str, ranks))
        raise ValueError(
            f"the memory is that of {devices} devices, and ranks are {numbers}: give the memory of one device"
        )
    return (devices,) if devices > 1 else ranks
