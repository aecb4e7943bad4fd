"""`python marketplace.py FOLDER`: writes the action as the Marketplace wants it: a repository to push.

There an action has a repository of its own with action.yml at its root. The one in this repository installs the source
around it; that in FOLDER installs the released source of the version here, by its address.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ACTION = ROOT / ".github" / "actions" / "hfcount"


def write(folder: Path) -> None:
    """Writes the files of the repository; files of the same names are replaced."""
    text = (ROOT / "hfcount" / "version.py").read_text(encoding="utf-8")
    version, repository = (re.search(rf'^{name} = "(.*)"', text, re.M)[1] for name in ("__version__", "REPOSITORY"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("action.yml", "run.py"):
        shutil.copyfile(ACTION / name, folder / name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    source = f"hfcount @ {repository}/archive/v{version}.zip\n"
    (folder / "source.txt").write_text(source, encoding="utf-8")
    (folder / "README.md").write_text(readme(repository, version), encoding="utf-8")


def readme(repository: str, version: str) -> str:
    """The page of the Marketplace."""
    owner = repository.rpartition("/")[0].rpartition("/")[2]
    return f"""# hfcount

Verifies that model checkpoints hold exactly what their configs say, without their weights: a finding is an annotation
at its line, and the job fails if a checkpoint is not its config's.

```yaml
- uses: actions/checkout@v5
- uses: {owner}/hfcount-action@v{version}
  with:
    models: ./my-checkpoint Qwen/Qwen3-32B
```

[Inputs and outputs]({repository}/blob/v{version}/hfcount/docs/ci.md). This repository is made of
[hfcount]({repository}) by its `.ci/marketplace.py`: changes belong there.
"""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
