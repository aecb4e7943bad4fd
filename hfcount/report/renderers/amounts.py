"""Formats counts and bytes in a suitable unit."""

from hfcount.text import binary, rounded

__all__ = ["binary", "rounded", "short"]


def short(count: int) -> str:
    """A count to one decimal in thousands, millions, billions or trillions: `32.8 B`."""
    amount, unit = float(count), ""
    for larger in ("K", "M", "B", "T"):
        if amount < 999.95:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:,.1f} {unit}" if unit else f"{count:,}"
