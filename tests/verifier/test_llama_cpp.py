"""What llama.cpp makes of GGUF files: by its recorded source, and, where the library is there, as it answers itself."""

import ctypes
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from gguf_files import laid_out, model, source, whole

import hfcount
from hfcount.report.renderers.loaders import line
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.llama_cpp.gguf import Loading, loading

Shapes = dict[str, tuple[int, ...]]
Edit = Callable[[dict[str, Any], Shapes], None]


def without(*names: str) -> Edit:
    """Leaves out keys and tensors."""

    def edit(pairs: dict[str, Any], shapes: Shapes) -> None:
        for name in names:
            pairs.pop(name, None)
            shapes.pop(name, None)

    return edit


def having(shapes: Mapping[str, tuple[int, ...]] = MappingProxyType({}), **values: Any) -> Edit:
    """Sets keys of the architecture, the first _ of which stands for a point, and adds tensors."""

    def edit(pairs: dict[str, Any], held: Shapes) -> None:
        pairs |= {f"qwen3.{key.replace('__', '.')}": value for key, value in values.items()}
        held |= dict(shapes)

    return edit


def renamed(architecture: str) -> Edit:
    """Makes it a file of another architecture."""

    def edit(pairs: dict[str, Any], shapes: Shapes) -> None:
        for key in list(pairs):
            pairs[key.replace("qwen3.", f"{architecture}.")] = pairs.pop(key)
        pairs["general.architecture"] = architecture

    return edit


CASES: dict[str, tuple[Edit, str]] = {
    "as it is": (without(), ""),
    "tied": (without("output.weight"), ""),
    "a key that is needed": (without("qwen3.context_length"), "needs the key qwen3.context_length"),
    "a size by an absent key": (without("qwen3.attention.key_length"), "needs blk.0.attn_q.weight to be (64, 64)"),
    "no tokenizer": (without("tokenizer.ggml.model"), "needs the key tokenizer.ggml.model"),
    "no tensor": (without("blk.1.ffn_up.weight"), "needs the tensor blk.1.ffn_up.weight"),
    "one more": (having({"blk.0.odd.weight": (4,)}), "makes no use of blk.0.odd.weight"),
    "one bias": (having({"blk.0.attn_q.bias": (96,)}), ""),
    "frequencies": (having({"rope_freqs.weight": (12,)}), "makes no use of rope_freqs.weight"),
    "no layers": (having(block_count=0), "aborts"),
    "experts used": (having(expert_used_count=2), "aborts"),
    "a prediction layer that is not used": (having(nextn_predict_layers=1), "makes no use of blk.1."),
    "a list for each layer": (having(attention__head_count_kv=[2, 2]), ""),
    "a list for other layers": (having(attention__head_count_kv=[2, 2, 2]), "needs 2 values"),
    "a number of another type": (having(block_count=(5, b"\x02\0\0\0")), "to be u32, and it is i32"),
    "another architecture": (renamed("nobodys"), "knows no architecture nobodys"),
    "rotated in part": (renamed("llama"), "makes no use of"),
}


def edited(edit: Edit) -> tuple[dict[str, Any], Shapes]:
    pairs, shapes = model()
    edit(pairs, shapes)
    return pairs, shapes


def read(pairs: dict[str, Any], shapes: Shapes) -> Loading:
    return loading(recorded.versions("llama.cpp")[-1], source(pairs, laid_out(shapes)).read())


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_loaded_or_refused(name: str) -> None:
    edit, says = CASES[name]
    result = read(*edited(edit))
    assert (result.loads, says in result.says) == (not says, True), result


def test_a_refusal_has_its_line() -> None:
    assert read(*edited(without("blk.1.ffn_up.weight"))).source.startswith("src/models/qwen3.cpp:")


def test_what_it_does_without_is_known() -> None:
    assert "blk.1.attn_q.bias" in read(*edited(having({"blk.0.attn_q.bias": (96,)}))).absent


@pytest.mark.parametrize(
    ("left", "asked", "verdict"),
    [("", (), "explained"), ("", ("llama.cpp",), "mismatch"), ("tokenizer.ggml.tokens", (), "mismatch")],
)
def test_a_file_without_a_vocabulary_is_for_other_programs(
    left: str, asked: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    gone = [key for key in model()[0] if key.startswith("tokenizer.") and key != left]
    (tmp_path / "m.gguf").write_bytes(whole(*edited(without(*gone))))
    report = hfcount.verify(tmp_path, loaders=asked)
    (outcome,) = (loader.outcome for loader in report.loaders if loader.loader == "llama.cpp")
    assert (report.verdict, outcome) == (verdict, "refuses")
    why = "Not known to load whole anywhere: llama.cpp 0.5 needs the key tokenizer.ggml.model"
    assert line(report) == (why if verdict == "explained" else "")


LIBRARY = os.environ.get("LLAMA_LIB", "")


@pytest.mark.long
@pytest.mark.skipif(not LIBRARY, reason="LLAMA_LIB names no folder with libllama.so, as npm's @node-llama-cpp has it")
@pytest.mark.parametrize("name", CASES)
def test_the_library_says_the_same(name: str, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(whole(*edited(CASES[name][0])))
    assert loaded(file) == (not CASES[name][1])


def loaded(file: Path) -> bool:
    """Whether llama.cpp loads a file, in a process of its own, since it may abort."""
    child = os.fork()
    if child == 0:
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        os._exit(0 if _load(file) else 1)
    return os.waitpid(child, 0)[1] == 0


class _Parameters(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_byte * 512),)


def _load(file: Path) -> bool:
    folder = Path(LIBRARY)
    base = ctypes.CDLL(str(folder / "libggml-base.so"), ctypes.RTLD_GLOBAL)
    ggml, llama = (
        ctypes.CDLL(str(next(folder.glob(f"lib{name}.v*.so"))), ctypes.RTLD_GLOBAL) for name in ("ggml", "llama")
    )
    del base
    ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    ggml.ggml_backend_load_all_from_path(LIBRARY.encode())
    llama.llama_model_default_params.restype = _Parameters
    llama.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Parameters]
    llama.llama_model_load_from_file.restype = ctypes.c_void_p
    llama.llama_backend_init()
    return bool(llama.llama_model_load_from_file(str(file).encode(), llama.llama_model_default_params()))
