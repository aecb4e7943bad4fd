"""Brings all that is generated up to date, and says which files changed: `python tests/tools/update.py`.

In the order in which one reads what another wrote: the address of the repository (address.py), the names of each type's
modules, by which a checkpoint that differs is held against types (modules.py), the lines of all architectures
(catalogue.py), the schemas of the JSON (hfcount/docs/*.schema.json), the skill for agents (SKILL.md), what the commands
of the tutorials print (tutorials.py), the generated parts of README.md and the pages (readme.py), and a digest of every
report (guard.py --record). The extra `test` is enough, unless a type of transformers is new or its classes change: then
the extra `oracle` is needed, and what runs says so.

`--transformers` first records what the installed version of transformers declares (classes.py, reference.py, values.py
readers.py, defaults.py and loaders.py): for a new version of it, or a type that it did not have before.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = Path(__file__).parent
SKILL = ROOT / "hfcount" / ".agents" / "skills" / "hfcount" / "SKILL.md"

DECLARED = ("classes.py", "reference.py", "values.py", "readers.py", "defaults.py", "loaders.py")
GENERATED = (
    "address.py",
    "modules.py",
    "catalogue.py",
    "schema",
    "skill",
    "tutorials.py",
    "readme.py",
    "guard.py --record",
)


def changed(steps: tuple[str, ...]) -> Iterator[Path]:
    """Takes each step, and gives the files that are another text after it.

    Raises:
        SystemExit: a step failed; what it said is printed.
    """
    before = _texts()
    for step in steps:
        print(f"{step} ...", file=sys.stderr, flush=True)
        if step == "schema":
            for of in ("report", "diff"):
                (ROOT / "hfcount" / "docs" / f"{of}.schema.json").write_bytes(_run("-m", "hfcount", "schema", of))
        elif step == "skill":
            SKILL.write_bytes(_run("-m", "hfcount", "skill"))
        else:
            name, *arguments = step.split()
            _run(str(TOOLS / name), *arguments)
    after = _texts()
    yield from sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _texts() -> dict[Path, bytes]:
    """The files that a step may write."""
    folders = (
        "hfcount/architectures/*.json",
        "hfcount/mapper/*.json",
        "hfcount/verifier/causes/*.json",
        "hfcount/verifier/loaders/*.json",
        "fixtures/*.json",
    )
    suffixes = ("md", "json", "svg", "txt")
    pages = ("*.md", ".github/*.md", *(f"hfcount/docs/**/*.{suffix}" for suffix in suffixes))
    paths = (path for pattern in (*folders, *pages) for path in ROOT.glob(pattern))
    return {path: path.read_bytes() for path in (*paths, SKILL)}


def _run(*arguments: str) -> bytes:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformers", action="store_true", help="record what transformers declares, too")
    steps = (DECLARED if parser.parse_args().transformers else ()) + GENERATED
    found = [str(path.relative_to(ROOT)) for path in changed(steps)]
    print("\n".join(found) or "Everything was up to date.")


if __name__ == "__main__":
    main()
