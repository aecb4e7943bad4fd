"""MODEL as people paste it: what it names, without asking anybody."""

from pathlib import Path

import pytest
from build import save_tiny
from tables import over

import hfcount
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.fetcher.model_names import public, understood

NAMES = {
    "org/name": ("org/name", None, None),
    "gpt2": ("gpt2", None, None),
    "org/name@v1": ("org/name", "v1", None),
    "org/name@refs/pr/1": ("org/name", "refs/pr/1", None),
    "org/name@feature/x": ("org/name", "feature/x", None),
    "gpt2@main": ("gpt2", "main", None),
    "https://huggingface.co/org/name": ("org/name", None, None),
    "https://huggingface.co/org/name/": ("org/name", None, None),
    "http://www.huggingface.co/org/name": ("org/name", None, None),
    "https://huggingface.co/models/org/name": ("org/name", None, None),
    "https://huggingface.co/org/name.git": ("org/name", None, None),
    "https://huggingface.co/org/name?library=transformers#usage": ("org/name", None, None),
    "https://huggingface.co/org/name/tree/v1": ("org/name", "v1", None),
    "https://huggingface.co/org/name/tree/v1/": ("org/name", "v1", None),
    "https://huggingface.co/org/name/tree/v1/sub/folder": ("org/name", "v1", "sub/folder"),
    "https://huggingface.co/org/name/tree/v1/a%20b": ("org/name", "v1", "a b"),
    "https://huggingface.co/org/name/tree/refs%2Fpr%2F1": ("org/name", "refs/pr/1", None),
    "https://huggingface.co/org/name/tree/refs%2Fpr%2F1/sub": ("org/name", "refs/pr/1", "sub"),
    "https://huggingface.co/org/name/tree/refs/pr/12/sub": ("org/name", "refs/pr/12", "sub"),
    "https://huggingface.co/org/name/tree/feature%2Fx": ("org/name", "feature/x", None),
    "https://huggingface.co/org/name/tree": ("org/name", None, None),
    "https://huggingface.co/org/name/blob/v1/config.json": ("org/name", "v1", None),
    "https://huggingface.co/org/name/blob/v1/sub/README.md": ("org/name", "v1", "sub"),
    "https://huggingface.co/org/name/raw/v1/config.json": ("org/name", "v1", None),
    "https://huggingface.co/org/name/resolve/v1/sub/model.safetensors?download=true": ("org/name", "v1", "sub"),
    "https://huggingface.co/org/name/commit/0123abcd": ("org/name", "0123abcd", None),
    "https://huggingface.co/gpt2/tree/main": ("gpt2", "main", None),
    "https://hf.co/org/name": ("org/name", None, None),
    "hf.co/org/name": ("org/name", None, None),
    "huggingface.co/org/name/blob/main/config.json": ("org/name", "main", None),
    "huggingface.co/org/name/blob/main/unet/config.json": ("org/name", "main", "unet"),
    "huggingface.co/org/name/resolve/v1/a/b/model.safetensors": ("org/name", "v1", "a/b"),
    "huggingface.co/models/org/name/blob/main/unet/config.json": ("org/name", "main", "unet"),
    "huggingface.co/gpt2/blob/main/onnx/config.json": ("gpt2", "main", "onnx"),
    "huggingface.co/org/name/config.json": ("org/name", None, None),
    "org/raw/config.json": ("org/raw", None, None),
    "http://hub.local:8080/mirror/org/name/tree/v1": ("org/name", "v1", None),
    "hf://org/name": ("org/name", None, None),
    "hf://models/org/name": ("org/name", None, None),
    "hf://gpt2@main": ("gpt2", "main", None),
    "hf://org/name@v1": ("org/name", "v1", None),
    "hf://org/name@v1/sub/folder": ("org/name", "v1", "sub/folder"),
    "hf://org/name@v1/sub/model.safetensors": ("org/name", "v1", "sub"),
    "hf://org/name/config.json": ("org/name", None, None),
    "hf://org/name@refs/pr/1/sub": ("org/name", "refs/pr/1", "sub"),
    "hf://org/name@refs/convert/x/config.json": ("org/name", "refs/convert/x", None),
    "hf://org/name@feature%2Fx/sub": ("org/name", "feature/x", "sub"),
    "org/name/resolve/main/config.json": ("org/name", "main", None),
    "org/name/raw/v1/sub/model.safetensors": ("org/name", "v1", "sub"),
    "git@hf.co:org/name": ("git@hf.co:org/name", None, None),
    "./org/name@v1": ("./org/name@v1", None, None),
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.local:8080/mirror")


@over("model", NAMES)
def test_a_name_is_taken_apart_once(model: str) -> None:
    found = understood(Request(model))
    assert (found.model, found.revision, found.subfolder) == NAMES[model]
    assert model[0] == "." or understood(found) == found


@pytest.mark.parametrize(
    ("model", "revision", "subfolder"),
    [
        ("org/name/m.Q4_K_M.gguf", None, None),
        ("org/name/sub/m.Q4_K_M.gguf", None, "sub"),
        ("org/name/blob/main/m.Q4_K_M.gguf", "main", None),
        ("org/name/resolve/v1/sub/m.Q4_K_M.gguf", "v1", "sub"),
        ("hf.co/org/name/resolve/v1/sub/m.Q4_K_M.gguf", "v1", "sub"),
        ("https://huggingface.co/org/name/resolve/v1/sub/m.Q4_K_M.gguf?download=true", "v1", "sub"),
    ],
)
def test_a_gguf_file_of_a_repo_is_that_file(tmp_path: Path, model: str, revision: str | None, subfolder: str) -> None:
    wanted = Request("org/name", revision, subfolder, file="m.Q4_K_M.gguf")
    assert understood(Request(model)) == understood(wanted) == wanted
    (tmp_path / "org").mkdir()
    if model.startswith("org/"):
        assert understood(Request(model)).model.startswith("org/name/")  # what is on disk is no repo


def test_what_is_asked_besides_stays(tmp_path: Path) -> None:
    given = Request("hf://org/name", "v2", "sub", offline=True, timeout=3.0, cache=False)
    assert understood(given) == Request("org/name", "v2", "sub", offline=True, timeout=3.0, cache=False)
    replayed = Request("org/name@v1", fixtures=tmp_path)
    assert understood(replayed) == replayed


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("https://huggingface.co/datasets/org/name", "a dataset"),
        ("https://huggingface.co/spaces/org/name/tree/main", "a Space"),
        ("hf://datasets/org/name", "a dataset"),
        ("hf://buckets/org/name", "a bucket"),
        ("https://example.com/org/name", "elsewhere"),
        ("https://huggingface.co.example.com/org/name", "elsewhere"),
        ("http://hub.local:9999/org/name", "elsewhere"),
        ("s3://bucket/name", "elsewhere"),
        ("https://[::1/org/name", "elsewhere"),
        ("https://example.com:99999/", "elsewhere"),
        ("https://huggingface.co", "does not name a model. Write it as org/name."),
        ("https://huggingface.co/models", "does not name a model. Write it as org/name."),
        ("https://huggingface.co/org/name/discussions/1", "not a page of a model's files"),
    ],
)
def test_what_is_no_model_is_said(model: str, said: str) -> None:
    with pytest.raises(FetchError, match=said) as caught:
        understood(Request(model))
    assert caught.value.kind == "BadName"


@pytest.mark.parametrize("endpoint", ["http://[::1", "http://hub:99999", ""])
def test_a_broken_endpoint_is_no_host(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    assert understood(Request("https://huggingface.co/org/name")).model == "org/name"
    with pytest.raises(FetchError, match="elsewhere"):
        understood(Request("https://hub/org/name"))


def test_what_may_be_secret_is_not_shown() -> None:
    assert public("https://me:secret@example.com/x?signature=secret#secret") == "https://example.com/x"
    assert public("a?b") == "a?b"


@pytest.mark.parametrize(
    ("model", "revision", "subfolder", "said"),
    [
        ("org/name@v1", "v2", None, "names the revision v1, but the option names v2"),
        ("https://huggingface.co/org/name/tree/main", "v2", None, "names the revision main, but the option names v2"),
        ("hf://org/name@v1/a", None, "b", "names the subfolder a, but the option names b"),
        ("./nowhere", "v1", None, "no revisions"),
        ("here", "v1", None, "here is a local folder, which has no revisions"),
        ("here/config.json", "v1", None, "here/config.json is a local file, which has no revisions"),
        ("here/model.safetensors.index.json", "v1", None, "no revisions"),
    ],
)
def test_what_contradicts_itself_is_wrong_usage(
    tmp_path: Path, model: str, revision: str | None, subfolder: str | None, said: str
) -> None:
    save_tiny(tmp_path / "here")
    with pytest.raises(ValueError, match=said):
        understood(Request(model, revision, subfolder))
    understood(Request("org/name@v1", "v1"))


def test_the_recorded_have_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--fixtures is a local folder, which has no revisions"):
        understood(Request("org/name", "v1", fixtures=tmp_path))


def test_a_weight_file_stands_for_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny(tmp_path / "here")
    (tmp_path / "here" / "model-00001-of-00002.safetensors").touch()
    for name in ("model.safetensors.index.json", "model-00001-of-00002.safetensors"):
        for folder in ("here", "./here", str(tmp_path / "here")):
            assert understood(Request(f"{folder}/{name}")).model == folder
    assert hfcount.verify("here/model.safetensors.index.json").model == "here"
    monkeypatch.chdir("here")
    assert understood(Request("model.safetensors.index.json")).model == "."


def test_a_local_folder_goes_before_any_other_meaning(tmp_path: Path) -> None:
    for name in ("org/name@v1", "hf.co/org/name", "https:/huggingface.co/org/name"):
        (tmp_path / name).mkdir(parents=True)
        assert understood(Request(name)).model == name
    assert understood(Request("https://huggingface.co/org/name")).model == "https://huggingface.co/org/name"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_run_may_wait_some_time_and_not_for_ever(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        hfcount.verify("org/name", timeout=timeout)
