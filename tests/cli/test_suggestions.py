"""The command line as people type it who see it for the first time: each line ends with what to type next."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import gguf_files
import pytest
from build import COMMIT, TINY, raw, save, save_tiny
from conftest import Command, Run
from loopback import Hub
from tables import over

from hfcount.cli.commands import COMMANDS
from hfcount.fetcher.find_checkpoints import checkpoints

CACHE = f"hub/models--org--name/snapshots/{COMMIT}"
FILES = {
    "trainer-out/trainer_state.json": b"{}",
    "onnx/onnx/model.onnx": b"",
    "tf/tf_model.h5": b"",
    "flax/flax_model.msgpack": b"",
    "alone/model.safetensors": b"",
    "data/train.csv": b"",
    "pipe/model_index.json": b"{}",
    "modules/modules.json": b"[]",
    "modules/1_Pooling/config.json": b"{}",
    "counted/config.json": raw(TINY["llama"]),
    "onnx-too/config.json": raw(TINY["llama"]),
    "onnx-too/model.onnx": b"",
    "rules/config.json": raw(TINY["llama"]),
    "x/pytorch_model.bin": b"",
    "x/model.gguf": b"",
    "torch/model.pth": b"",
    "m.zip": b"",
    "m.tar.gz": b"",
    "notes.txt": b"",
    "good/notes.txt": b"",
    "bad/config.json": b"no JSON",
    "own/config.json": b'{"model_type": "mycool", "auto_map": {"AutoModelForCausalLM": "cool.CoolForCausalLM"}}',
    "class/config.json": b'{"model_type": "LlamaForCausalLM"}',
    "unet/config.json": b'{"_class_name": "Kandinsky3UNet"}',
    "newer/config.json": b'{"model_type": "qwen99"}',
    "typo/config.json": b'{"model_type": "qwenn3"}',
    "list.txt": b"good  # the first\n\nmany/m0\n",
}


@pytest.fixture
def here(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in a folder with what people have."""
    for name in ("good", "one/sub", "my models/x", "many/m0", "many/m1", "pipe/text_encoder", CACHE):
        save_tiny(Path(name))
    for number in (4, 500, 1000):
        save_tiny(Path(f"trainer-out/checkpoint-{number}"))
    for name, content in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    Path("dangling").symlink_to("gone")
    Path("x/model.safetensors").symlink_to("/nowhere/blob")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    return command


# Each line, its exit code, and what it says
LINES: dict[str, tuple[int, str]] = {
    # to begin
    "": (2, "hfcount fix PATH"),
    "help": (0, "What to read:"),
    "help sweep": (0, "hfcount sweep [OPTIONS] OUT"),
    "help fx": (2, "`hfcount fix`"),
    "help nonsense": (2, "Commands: verify, size, serve, gate, fix"),
    "-h": (0, "-r, --recursive every checkpoint in the folder MODEL"),
    "size -h": (0, "--formula the count as a formula"),
    "help gate": (0, "Exit codes: 0 go"),
    # size, serve, gate
    "size good": (0, "counted: "),
    "size good --set num_hidden_layers=2 -q": (0, "parameters; weights "),
    "size good --set num_hidden_layers=2 --json": (0, '"num_hidden_layers": 2'),
    "serve good --memory H100": (0, "fits in 80 GB"),
    "serve good --memory 1KB -q": (1, "does not fit in"),
    "gate good --for transformers --memory H100": (0, "go: good: "),
    "gate good --memory 1KB": (1, "no: good: "),
    "gate bad": (1, "no: bad: "),
    "gate org/name --offline": (3, "unknown: org/name: "),
    "gate good --depth config": (2, "does not go with --set, --quantize and --depth config"),
    "good --memory H100": (0, "fits in 80 GB"),
    "good --formula --depth config": (0, "embedding = d·|V|"),
    "estimate good": (2, "`hfcount serve good`"),
    "count good": (2, "`hfcount size good`"),
    # formats
    "good --format JSON": (0, '"verdict": "verified"'),
    "good -q --json": (0, '"verdict": "verified"'),
    "good --json -q": (0, "good: verified"),
    "good -o sarif:-": (0, '"version": "2.1.0"'),
    "good -o xml:- -q": (2, "Only one format can be printed"),
    "good --format csv": (0, "model,revision,verdict"),
    "good --format png": (2, "name its file, as in -o sizes.png"),
    "good -o -": (2, "write which format, such as json:-"),
    "-rq many": (0, "2 models: 2 verified"),
    # other tools' names
    "good --tensor-parallel-size 2": (2, "Use --tp N"),
    "serve good --max-model-len 4k": (2, "Use --context TOKENS"),
    "good --pp 2": (2, "--tp N is tensor parallelism"),
    "good --token x": (2, "HF_TOKEN"),
    "good --verbose": (2, "Use --details"),
    "good --ignore HF201": (2, "There is no option --ignore. Use --allow CODE."),
    "good --gpu H100": (2, "Use --memory SIZE"),
    "good --xyzzy": (2, "--help` lists all options"),
    "good --ofline": (2, "Did you mean --offline?"),
    "good --quantize int4": (2, "int4 is here awq, gptq or w4a16"),
    "good --quantize q4_k_m": (2, "q4_k_m is a GGUF type."),
    "good --quantize awq,gptq -q": (0, "3 models: 3 counted"),
    "good --kv-dtype auto": (2, "leave out --kv-dtype"),
    "fix good --dry-run": (2, "nothing is written without --write"),
    # words of rules and architectures
    "rules": (0, "`hfcount rules WORD` searches"),
    "rules tied": (0, "HF203 tied-weight-stored"),
    "rules HF301 --json": (0, '"code": "HF301"'),
    "architectures state spaces": (0, "mamba"),
    # names of files
    "good/model.safetensors.index.json -q": (0, "good: verified"),
    "good/trainer_state.json": (3, "there is no folder or file good/trainer_state.json"),
    "org/name/config.json --offline": (3, "there is no local folder org/name"),
    "docs --offline": (2, "`hfcount help`"),
    "ls": (2, "`hfcount -rq DIR`"),
    "ctrl/gpt --offline": (3, "there is no local folder ctrl/gpt"),
    "version": (0, "hfcount 0."),
    "verify": (2, "Name a MODEL"),
    "verify good": (0, "verified"),
    "verify good --json": (0, '"verdict": "verified"'),
    "good --json --format markdown": (0, "### `good`"),
    "good -o r.json -q": (0, "good: verified"),
    "good -o r.txt": (2, "the suffix chooses the format"),
    "rules HF301": (0, "Fix: Correct the config"),
    "rules HF3": (0, "HF302"),
    "rules rank-file": (2, "`hfcount rules` lists them"),
    "architectures llama": (0, "GQA + MLP"),
    "architectures LlamaForCausalLM": (0, "llama: "),
    "architectures Kandinsky3UNet": (2, "--derive-with diffusers takes names and shapes"),
    "schema": (0, '"title": "Report"'),
    "cache": (0, "`hfcount cache clear`"),
    "--install-completion": (0, ".bash_completions/hfcount.sh"),
    "--install-completion powershell": (2, "bash, zsh, fish"),
    # words that are no command
    "verfy good": (2, "`hfcount verify good`"),
    "check 'my models/x'": (2, "`hfcount verify 'my models/x'`"),
    "diff good one": (3, "one has no config.json"),
    "sweeps rows": (2, "`hfcount sweep rows`"),
    "explain HF301": (2, "`hfcount rules HF301`"),
    "fmilies": (2, "`hfcount architectures`"),
    "clean": (2, "`hfcount cache clear`"),
    "login": (2, "`hf auth login`"),
    "quantize good": (2, "the option --quantize"),
    "serve good": (0, "multiply-adds"),
    "good fix": (2, "fix is a command and must come first"),
    "gpt2 --offline": (3, "gpt2 at main is not in the cache"),
    "ctrl --offline": (3, "ctrl at main is not in the cache"),
    "rules HF201": (0, "For the folder of that name, write ./rules"),
    "./rules": (3, "--depth config counts"),
    "size good --plot": (2, "--plot needs a value: --plot FILE."),
    "good -o": (2, "-o needs a value: -o FILE."),
    "fix good --depth data": (2, "no option --depth here, but in `hfcount verify`"),
    "size good --quantize int4": (2, "int4 is here awq, gptq or w4a16. Presets are fp8,"),
    "size good --quantize w9": (2, "there is no preset w9. Presets are fp8,"),
    # fine-tune
    "trainer-out": (3, "`hfcount trainer-out/checkpoint-1000` verifies it, `hfcount -r trainer-out` all"),
    "trainer-out/": (3, "checkpoint-1000, checkpoint-500 and checkpoint-4 have"),
    "trainer-out/checkpoint-600": (3, "trainer-out has checkpoint-"),
    "./trainer-out/checkpoint-1001": (3, "trainer-out has checkpoint-1000"),
    "-r trainer-out -q": (0, "3 models: 3 verified"),
    "trainer-out -r -q": (0, "3 models: 3 verified"),
    "--recursive trainer-out many -q": (0, "5 models: 5 verified"),
    "--recursive=many -q": (0, "2 models: 2 verified"),
    "-r good/config.json -q": (0, "from the config alone"),
    "-r org/name good -q": (3, "which --recursive needs"),
    "-r data": (3, "`hfcount data` shows what is there"),
    "-r good --revision v1": (2, "--recursive does not go with"),
    "--list list.txt -q": (0, "2 models: 2 verified"),
    "fix good": (0, "verified"),
    "fix org/name": (2, "hf download"),
    # merge, quantise
    "one": (3, "`hfcount one/sub` verifies it."),
    "'my models'": (3, "`hfcount 'my models/x'`"),
    "one --subfolder nope": (3, "one has sub"),
    "alone": (3, "copy the config.json"),
    "torch": (3, "copy the config.json"),
    "god/": (3, "Check the path."),
    "'./my models/y'": (3, "my models has x"),
    "./good/notes.tx": (3, "Did you mean `hfcount good/notes.txt`?"),
    "empty": (3, "there is no file in it"),
    "data": (3, "Name a checkpoint's folder"),
    "bad": (1, "is not JSON"),
    "counted": (3, "--depth config counts what it describes"),
    "counted --depth config -q": (0, "from the config alone; nothing was compared"),
    "onnx": (3, "only ONNX (onnx/model.onnx)"),
    "onnx-too": (3, "only ONNX (model.onnx)"),
    "tf": (3, "only TensorFlow (tf_model.h5)"),
    "flax": (3, "save it again"),
    "pipe": (1, "must name the class of the pipeline"),
    "modules": (1, "names no module"),
    "unet": (3, "a class of diffusers"),
    "class": (3, "It is the name of a class: set model_type to llama."),
    "typo": (3, "Nearest known: qwen3"),
    "newer": (3, "Nearest known: qwen, qwen3, qwen2. If the installed transformers has it, --derive-with"),
    "own": (3, "auto_map names cool.CoolForCausalLM. hfcount never runs code"),
    "m.zip": (3, "Unpack it"),
    "m.tar.gz": (3, "Unpack it"),
    "notes.txt": (3, "Name a checkpoint's folder"),
    "good/notes.txt": (3, "`hfcount ./good` verifies"),
    # publish, serve
    "hub": (3, "`hfcount org/name --offline` verifies one"),
    "hub/models--org--name": (3, f"`hfcount {CACHE}` verifies its snapshot"),
    "hub/models--org--name/snapshots": (3, "it is the Hugging Face cache of org/name"),
    CACHE: (0, "verified"),
    "https://huggingface.co/datasets/org/name": (3, "Name a model as org/name"),
    "datasets/org/name": (3, "is a dataset"),
    "spaces/org/name": (3, "is a Space"),
    "org/name/tree/main/sub --offline": (3, "org/name at main is not in the cache"),
    "org/name/sub --offline": (3, "org/name at main is not in the cache"),
    "org/name/": (3, "If a repo is meant: `hfcount org/name`"),
    "nowhere/": (3, "If a repo is meant: `hfcount nowhere`"),
    "many/m0/nope": (3, "many/m0 has "),
    r"'.\x'": (3, "`hfcount ./x`"),
    "dangling": (3, "is a link to gone, which does not exist"),
    "x/model.safetensors": (3, "Download it again"),
    "x/nothing.bin": (3, "x has "),
    "~/nowhere": (3, "there is no folder or file"),
    # study
    "sweep": (2, "`hfcount sweep --out rows MODEL...`"),
    "sweep many": (2, "`hfcount sweep --out rows --tree many`"),
    "sweep rows": (2, "`hfcount sweep rows --tree FOLDER`"),
    "sweep good trainer-out": (3, "`hfcount sweep --out rows good ...`"),
    "sweep good --summary": (3, "Nothing was written"),
    "sweep many good": (3, "holds m0, which is not from a sweep"),
    "sweep data good": (3, "holds train.csv"),
    "sweep org/a org/b": (2, "`hfcount sweep --out rows org/a ...`"),
    "sweep notes.txt good": (2, "notes.txt is a file"),
    "sweep https://hf.co/org/a": (2, "The first argument is OUT"),
}


@over("line", LINES, every=3)
def test_no_line_ends_without_a_next_step(here: Command, line: str) -> None:
    code, said = LINES[line]
    result = here(*shlex.split(line))
    shown = re.sub(r"\s+", " ", result.out + result.err)
    assert (result.code, said in shown, "Traceback" in shown) == (code, True, False), shown


def test_a_tree_is_not_judged_by_a_file_in_it(here: Command) -> None:
    Path("tree/gguf").mkdir(parents=True)
    Path("tree/gguf/tiny.gguf").write_bytes(gguf_files.whole(*gguf_files.model()))
    assert here("tree").code == 0
    shutil.copytree("good", "tree/broken")
    Path("tree/broken/config.json").write_text("{")
    result = here("tree")
    shown = re.sub(r"\s+", " ", result.out)
    assert (result.code, "2 checkpoints below (gguf and broken): `hfcount -r tree` verifies all" in shown) == (3, True)
    assert here("-rq", "tree").code == 1


def test_a_sweep_writes_nothing_into_a_model(here: Command) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path("good").rglob("*")}
    assert here("sweep", "good", "many/m0", "--log", "good.log").code == 3
    assert here("sweep", "good", "--summary").code == 3
    assert {path: path.stat().st_mtime_ns for path in Path("good").rglob("*")} == before
    assert not Path("good.log").exists()


def test_a_folder_of_a_sweep_may_hold_what_git_puts_there(here: Command) -> None:
    for name in (".git/HEAD", ".gitattributes", "README.md"):
        Path("rows", name).parent.mkdir(parents=True, exist_ok=True)
        Path("rows", name).write_text("mine")
    assert here("sweep", "--out", "rows", "good", "many/m0", "--workers", "1", "-q").code == 0
    Path("rows/notes.txt").write_text("mine")
    assert here("sweep", "rows", "good", "--workers", "1", "-q").out.startswith("rows: 0 rows written, 2 already there")


PATHS = """
x/pytorch_model.bin x/model.gguf x/model.safetensors x/config.json x/model.safetensors.index.json dangling
one/sub/ trainer-out trainer-out/checkpoint-7 notes.txt m.zip ./gone ../gone /gone gone/ org/gone/ .\\gone
~/gone many/m0/gone gone/model.safetensors gone/pytorch_model.bin gone/model.gguf gone/config.json
gone.zip C:\\gone
""".split()


def test_the_hub_is_asked_of_no_path(here: Command, hub: Hub, run: Run, tmp_path: Path) -> None:
    """Neither of what is there nor of what can only be a path."""
    for path in [*tmp_path.iterdir()]:
        if path.name != "here":
            path.rename(tmp_path / "here" / path.name)
    result = run(*PATHS)
    assert (len(result.reports), result.err) == (len(PATHS), "")
    assert hub.requests == []


def test_a_folder_of_a_repo_goes_by_its_path(hub: Hub, run: Run, tmp_path: Path) -> None:
    save_tiny(tmp_path / "repo" / "sub")
    hub.publish("org/name", tmp_path / "repo")
    for model in ("org/name/sub", "org/name/tree/main/sub", "hf://org/name/sub"):
        report = run(model).report
        assert (report["model"], report["verdict"]) == ("org/name/sub", "verified")
    message = run("org/name").report["error"]["message"]
    assert "but sub has: add --subfolder sub." in message


def test_models_come_by_standard_input(tmp_path: Path) -> None:
    save_tiny(tmp_path / "a")
    line = [sys.executable, "-m", "hfcount", "-", "./a", "-q"]
    done = subprocess.run(line, cwd=tmp_path, input="./a # a remark\n\n", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "2 models: 2 verified"


@pytest.mark.parametrize(
    ("shell", "script", "startup", "lines"),
    [
        ("bash", ".bash_completions/hfcount.sh", ".bashrc", "source "),
        ("zsh", ".zfunc/_hfcount", ".zshrc", "compinit"),
        ("fish", ".config/fish/completions/hfcount.fish", "", ""),
    ],
)
def test_completion_is_installed_once(
    here: Command, tmp_path: Path, shell: str, script: str, startup: str, lines: str
) -> None:
    if startup:
        (tmp_path / startup).write_text("# mine")
    first, again = here("--install-completion", shell), here("--install-completion", shell)
    assert (first.code, again.code) == (0, 0)
    assert "_HFCOUNT_COMPLETE" in (tmp_path / script).read_text()
    assert f"Wrote {tmp_path / script}" in first.out
    if startup:
        text = (tmp_path / startup).read_text()
        assert (text.startswith("# mine\n"), text.count("# completion of hfcount")) == (True, 1)
        assert (lines in text, str(tmp_path / startup) in first.out, "Added" in again.out) == (True, True, False)


def test_completion_offers_commands_first() -> None:
    shell = {"_HFCOUNT_COMPLETE": "bash_complete", "COMP_WORDS": "hfcount s", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "hfcount"], env=os.environ | shell, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.splitlines() == [
        "plain,size",
        "plain,serve",
        "plain,saves",
        "plain,sweep",
        "plain,schema",
        "plain,skill",
        "file,s",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command: Command, name: str) -> None:
    shown = command(name, "--help")
    assert (shown.code, shown.out) == (0, command("help", name).out)
    assert COMMANDS[name].usage.split()[-1] in shown.out or name in shown.out


# The walk

IGNORED = """
# a remark
/build
*.tmp
!kept.tmp
deep/**/cut
logs/
sp\\ ace
[ab]x
"""


def _tree(root: Path) -> None:
    for name in (
        "a/model",
        "build/model",
        "x.tmp/model",
        "kept.tmp/model",
        "deep/er/cut/model",
        "deep/er/kept/model",
        "a/logs/model",
        "a/build/model",
        "ax/model",
        "cx/model",
        ".hidden/model",
        "node_modules/p/model",
        "venv/lib/model",
    ):
        save(root / name, TINY["llama"], {"weight_map": {}})
    (root / "venv" / "pyvenv.cfg").touch()
    (root / "a" / ".gitignore").write_text("!logs/\n")


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    _tree(tmp_path)
    (tmp_path / ".gitignore").write_text(IGNORED)
    everything = {"a", "build", "x.tmp", "kept.tmp", "deep/er/cut", "deep/er/kept", "a/logs", "a/build", "ax", "cx"}
    assert _found(tmp_path) == everything  # this is no repository
    (tmp_path / ".git").mkdir()
    assert _found(tmp_path) == everything - {"build", "x.tmp", "deep/er/cut", "ax"}
    assert _found(tmp_path / "build") == {"."}  # which is named


def _found(root: Path) -> set[str]:
    return {Path(path).parent.relative_to(root).as_posix() for path in checkpoints(root)}


def test_git_agrees(tmp_path: Path) -> None:
    _tree(tmp_path)
    (tmp_path / ".gitignore").write_text(IGNORED)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    folders = {Path(path).parent for path in checkpoints(tmp_path, everything=True)}
    line = ["git", "-C", str(tmp_path), "check-ignore", *map(str, sorted(folders))]
    ignored = {Path(path) for path in subprocess.run(line, capture_output=True, text=True).stdout.splitlines()}
    left = {path.relative_to(tmp_path) for path in folders - ignored}
    assert {Path(path) for path in _found(tmp_path)} == {
        path for path in left if not {".hidden", "node_modules", "venv"}.intersection(path.parts)
    }


def test_links_are_followed_and_lead_nowhere_twice(tmp_path: Path) -> None:
    save(tmp_path / "t" / "real", TINY["llama"], {"weight_map": {}})
    (tmp_path / "t" / "up").symlink_to(tmp_path / "t")
    (tmp_path / "t" / "link").symlink_to(tmp_path / "t" / "real")
    (tmp_path / "t" / "other").symlink_to(tmp_path / "t" / "real")
    (tmp_path / "t" / "self").symlink_to("self")
    found = [Path(path).relative_to(tmp_path / "t").as_posix() for path in checkpoints(tmp_path / "t")]
    assert found == ["link", "real"]


def test_deep_folders_are_no_recursion(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"d" * 900)
    deep.mkdir(parents=True)
    assert list(checkpoints(tmp_path)) == []


def test_what_is_left_out_is_said_where_nothing_else_is(command: Command, tmp_path: Path) -> None:
    save_tiny(tmp_path / "work" / "outputs" / "a")
    (tmp_path / "work" / ".git").mkdir()
    (tmp_path / "work" / ".gitignore").write_text("outputs/\n")
    result = command("-r", "work")
    assert (result.code, "`hfcount -r work/outputs`" in re.sub(r"\s+", " ", result.out)) == (3, True)
    assert command("-r", "work/outputs").code == 0
