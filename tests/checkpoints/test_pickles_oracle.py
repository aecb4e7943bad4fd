"""What hfcount says of pickled weights is what torch and transformers make of them."""

import random
from collections import OrderedDict
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from hfcount import blueprint
from hfcount.checkpoints.pickle.check import examine
from hfcount.formats.dtypes import stored_as
from hfcount.formats.pickles import Broken, Pickle, look
from hfcount.formats.pickles.safe_globals import ALLOWED

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

from pickled import called, legacy, state, storage, tensor  # noqa: E402 - imports torch, which may be absent

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns of further protocols, and of quantised tensors

State = dict[str, Any]

DTYPES = """float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 float8_e4m3fn
    float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu uint16 uint32 uint64 complex32""".split()
VALUES: dict[str, Any] = {
    "epoch": 3,
    "names": ["a", ("b", 1.5)],
    "config": {"a": [1, {"b": None}], 5: 2**70},
    "inner": {"w": torch.ones(2)},
    "size": torch.Size([2, 3]),
    "device": torch.device("cpu"),
    "dtype": torch.bfloat16,
    "set": {1, 2},
    "bytes": b"abc",
    "array": bytearray(b"xyz"),
    "complex": 1j,
    "flag": True,
}


def saved(value: Any, **more: Any) -> bytes:
    out = BytesIO()
    torch.save(value, out, **more)
    return out.getvalue()


def read(raw: bytes) -> Pickle | Broken:
    return look("x.bin", len(raw), lambda start, stop: raw[start:stop])


def refused(file: Pickle | Broken) -> bool:
    return isinstance(file, Broken) or bool(file.globals or file.opcodes)


def loaded(raw: bytes) -> Any:
    """What torch reads by default; the error if it refuses."""
    try:
        return torch.load(BytesIO(raw), weights_only=True, map_location="cpu")
    except Exception as error:
        return error


def some_tensor(rng: random.Random) -> Any:
    shape = [rng.choice((1, 2, 3, 5)) for _ in range(rng.choice((0, 1, 2, 2, 3)))]
    made = torch.zeros(shape).to(getattr(torch, rng.choice(DTYPES)))
    views: list[Callable[[Any], Any]] = [lambda one: one] * 3
    if made.dim():
        views += [lambda one: one.transpose(0, -1), lambda one: one[1:], lambda one: one[..., ::2]]
        views += [lambda one: one[:1].expand(4, *one.shape[1:])]
    if made.dtype in (torch.float32, torch.bfloat16):
        views.append(torch.nn.Parameter)
    return rng.choice(views)(made)


def some_state(rng: random.Random) -> State:
    made: State = rng.choice((dict, OrderedDict))()
    for number in range(rng.randrange(1, 6)):
        made[f"layer.{number}.w{rng.choice(('', 'é', chr(10), '𝔘'))}"] = some_tensor(rng)
    made["tied"] = made[rng.choice(list(made))]
    if rng.random() < 0.4:
        made |= dict([rng.choice(list(VALUES.items()))])
    return made


def described(state: State) -> dict[str, Any]:
    def named(dtype: Any) -> str:
        name = str(dtype).removeprefix("torch.")
        return (stored_as(name) or (name, 0))[0]

    return {
        name: (
            named(value.dtype),
            tuple(value.shape),
            value.stride(),
            value.storage_offset(),
            value.untyped_storage().nbytes(),
        )
        for name, value in state.items()
        if isinstance(value, torch.Tensor)
    }


def test_takes_the_names_that_torch_takes() -> None:
    from torch._weights_only_unpickler import _get_allowed_globals

    assert set(_get_allowed_globals()) == ALLOWED


@pytest.mark.parametrize("seed", range(40))
def test_reads_what_torch_reads(seed: int) -> None:
    rng = random.Random(seed)
    raw = saved(
        some_state(rng),
        _use_new_zipfile_serialization=rng.random() < 0.6,
        pickle_protocol=rng.choice((2, 2, 3, 4)),
    )
    result, file = loaded(raw), read(raw)
    assert refused(file) == isinstance(result, Exception), file
    if not isinstance(result, Exception):
        assert isinstance(file, Pickle)
        assert described(result) == {
            name: (one.dtype, one.shape, one.stride, one.offset, one.storage.bytes if one.storage else 0)
            for name, one in file.tensors.items()
        }
    length = rng.randrange(1, len(raw))
    assert refused(read(raw[:length])) == isinstance(loaded(raw[:length]), Exception)


OLD = b"N"  # behind the elements of a storage in a file before torch 1.6
FIRST, SECOND = storage("0", 12, view=OLD), storage("1", 5, "torch.BFloat16Storage", OLD)
PARAMETER = called("torch._utils._rebuild_parameter", tensor(FIRST, (2, 4), (4, 1), 4), b"\x88", b"N")
WHOLE = legacy(
    state(a=tensor(FIRST, (3, 4), (4, 1)), b=tensor(SECOND, (5,), (1,)), c=PARAMETER),
    {"0": (12, bytes(48)), "1": (5, bytes(10))},
)


@pytest.mark.parametrize("seed", range(10))
def test_refuses_of_a_damaged_pickle_what_torch_refuses(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        raw = bytearray(WHOLE)
        raw[rng.randrange(len(raw) - 80)] = rng.choice((rng.randrange(256), *b".(tuqhR}]0N"))
        result, file = loaded(bytes(raw)), read(bytes(raw))
        if isinstance(result, Exception):
            assert refused(file), (bytes(raw), result)
        elif isinstance(result, dict) and isinstance(file, Pickle) and not refused(file):
            found = {name: (one.shape, one.stride, one.offset) for name, one in file.tensors.items()}
            assert found == {name: one[1:4] for name, one in described(result).items() if isinstance(name, str)}


CONFIG = transformers.LlamaConfig(
    vocab_size=16, hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, dtype="float32"
)
QUERY = "model.layers.0.self_attn.q_proj.weight"


def with_query(change: Callable[[Any], Any]) -> Callable[[State], State]:
    return lambda state: {**state, QUERY: change(state[QUERY])}


@pytest.mark.parametrize(
    ("change", "more"),
    [
        pytest.param(lambda state: state, {}, id="whole"),
        pytest.param(lambda state: state, {"pickle_protocol": 3}, id="protocol 3"),
        pytest.param(lambda state: state, {"pickle_protocol": 4}, id="protocol 4"),
        pytest.param(lambda state: state, {"_use_new_zipfile_serialization": False}, id="before torch 1.6"),
        pytest.param(lambda state: {**state, "epoch": 3}, {}, id="a number behind"),
        pytest.param(lambda state: {**state, "more": {"a": torch.ones(2)}}, {}, id="a dictionary behind"),
        pytest.param(lambda state: {"epoch": 3, **state}, {}, id="a number before"),
        pytest.param(lambda state: {**state, 5: torch.ones(2)}, {}, id="a number for a name"),
        pytest.param(lambda state: {"state_dict": state}, {}, id="nested"),
        pytest.param(lambda state: list(state.values()), {}, id="a list"),
        pytest.param(lambda state: {}, {}, id="empty"),
        pytest.param(lambda state: torch.nn.Linear(2, 2), {}, id="a module"),
        pytest.param(with_query(lambda one: one.to_sparse()), {}, id="sparse"),
        pytest.param(with_query(lambda one: one.to("meta")), {}, id="meta"),
        pytest.param(with_query(lambda one: torch.quantize_per_tensor(one, 0.1, 0, torch.qint8)), {}, id="quantised"),
        pytest.param(with_query(lambda one: one.t().contiguous().t()), {}, id="transposed in memory"),
        pytest.param(with_query(torch.nn.Parameter), {}, id="a parameter"),
        pytest.param(with_query(lambda one: torch.cat([one, one])[:8]), {}, id="a view"),
        pytest.param(with_query(lambda one: one[:4]), {}, id="another shape"),
        pytest.param(with_query(lambda one: one.double()), {}, id="another dtype"),
    ],
)
def test_errors_are_what_from_pretrained_does_not_load_whole(
    change: Callable[[State], Any], more: State, tmp_path: Path
) -> None:
    model = transformers.AutoModelForCausalLM.from_config(CONFIG)
    whole = model.state_dict()
    CONFIG.save_pretrained(tmp_path)
    raw = saved(change(dict(whole)), **more)
    (tmp_path / "pytorch_model.bin").write_bytes(raw)
    try:
        result, info = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, output_loading_info=True)
        same = all(map(torch.equal, whole.values(), result.state_dict().values()))
        good = same and not (info["missing_keys"] or info["mismatched_keys"])
    except Exception:
        good = False
    plan = blueprint({**CONFIG.to_dict(), "architectures": ["LlamaForCausalLM"], "dtype": "float32"})
    assert good == all(finding.severity == "note" for finding in examine(plan, [read(raw)]).findings)
