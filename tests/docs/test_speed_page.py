"""The page of costs is written by the benchmarks, between its marks."""

import subprocess
import sys
from pathlib import Path

from paths import BENCHMARKS

_WRITE = """
import sys
from pathlib import Path
import page
from measuring import Row
rows = [Row("a", "1 s", "2 s json.loads", 0.5, "<= 1", True), Row("  b", "3 MB")]
page.write([("On disk", rows), ("Very many", [])], page.machine(), int(sys.argv[2]), Path(sys.argv[1]))
"""


def test_the_table_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    page = (BENCHMARKS / "page.py").parents[2] / "hfcount" / "docs" / "speed.md"
    (copy := tmp_path / "speed.md").write_text(page.read_text())
    for rounds in ("3", "5"):
        line = [sys.executable, "-c", _WRITE, str(copy), rounds]
        subprocess.run(line, cwd=BENCHMARKS, check=True)
    before, _, table = copy.read_text().partition("<!-- measured -->\n")
    assert page.read_text().startswith(before)
    assert table.splitlines()[2:] == [
        "| | hfcount | beside it | ratio |",
        "|---|--:|--:|--:|",
        "| **On disk** | | | |",
        "| a | 1 s | 2 s json.loads | 0.50 |",
        "| b | 3 MB |  |  |",
        "| **Very many** | | | |",
        "<!-- /measured -->",
    ]
    assert "Medians of 5 turns or fewer." in table
    assert "Python 3." in table


def test_every_measure_says_what_it_is() -> None:
    program = "import run; print([one.__name__ for one in run.MEASURES if not one.__doc__])"
    done = subprocess.run([sys.executable, "-c", program], cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
