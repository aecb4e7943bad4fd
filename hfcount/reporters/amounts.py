"""Numbers and bytes in a unit that suits them."""


def binary(size: int) -> str:
    """Bytes in the largest binary unit of which there is at least one: `61.02 GiB`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size:,} B" if unit == "B" else f"{amount:,.2f} {unit}"


def rounded(size: int) -> str:
    """The same without a fraction that is zero: `80 GiB`."""
    return binary(size).replace(".00 ", " ")


def short(count: int) -> str:
    """A count to one decimal in thousands, millions, billions or trillions: `32.8 B`."""
    amount, unit = float(count), ""
    for larger in ("K", "M", "B", "T"):
        if amount < 999.95:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:,.1f} {unit}" if unit else f"{count:,}"
