"""Folders of the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
ARCHITECTURES = FIXTURES / "architectures"
BENCHMARKS = ROOT / "tests" / "benchmarks"
SUPPORT = Path(__file__).parent
