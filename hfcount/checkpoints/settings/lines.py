"""Finds the line of a key in a settings file, as far as its text tells."""

import re

from hfcount.fetcher.settings_file import PROJECT, SettingsFile

_HEADER = re.compile(r"""\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?""")


class Lines:
    """The lines of the tables of hfcount in a file."""

    def __init__(self, file: SettingsFile) -> None:
        self._lines: list[tuple[int, str]] = []
        ours = not file.path.endswith(PROJECT)
        everything = ours
        for number, line in enumerate(file.raw.decode().splitlines(), 1):
            if (header := _HEADER.fullmatch(line)) and not everything:
                name = re.sub(r"""[\s"']""", "", header[1])
                ours = name == "tool.hfcount" or name.startswith("tool.hfcount.")
            if ours:
                self._lines.append((number, line))

    def of(self, key: str, waiver: int | None = None) -> int | None:
        """The line of a key, or of the waiver of that number; None if it is not clear."""
        if waiver is not None:
            same = self._of_key(key)
            return same[0] if len(same) == 1 and key != "code" else self.of_waiver(waiver)
        return next(iter(self._of_key(key)), None) or next(iter(self._named(key)), None)

    def of_waiver(self, number: int) -> int | None:
        """The line of the code of a waiver."""
        codes = self._of_key("code")
        return codes[number] if number < len(codes) else None

    def _of_key(self, key: str) -> list[int]:
        assigned = re.compile(rf"""(?<![\w.-])["']?{re.escape(key)}["']?\s*=""")
        return [number for number, line in self._lines for _ in assigned.findall(line.partition("#")[0])]

    def _named(self, key: str) -> list[int]:
        """The lines of tables of that name."""
        return [number for number, line in self._lines if (header := _HEADER.fullmatch(line)) and key in header[1]]
