"""Lines of files: of keys however deep, of names in an index, of what is no JSON, and of what findings are about."""

import json
from pathlib import Path

from build import TINY, config, index, save
from tables import over

from hfcount import Report
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.fetcher import Request
from hfcount.formats.line_numbers import line_of_error, line_of_key, line_of_name, line_of_text

TEXT = b"""{
  "a": {"b": "c: [{",
    "hidden": 1, "1": {
      "deep": [1,
        {"x": "\\"hidden\\": ,"},
        [2, 3]]}},
  "m.n": {"k": null},
  "other": {"hidden": 2, "none": {}},
  "hidden": 3, "o": []
}
"""

LINES = {
    "a": 2,
    "a.b": 2,
    "a.hidden": 3,
    "a.1": 3,
    "a.1.deep": 4,
    "a.1.deep[0]": 4,
    "a.1.deep[1]": 5,
    "a.1.deep[1].x": 5,
    "a.1.deep[2][1]": 6,
    "a.1.deep[7]": 4,
    "m.n": 7,
    "m.n.k": 7,
    "other.hidden": 8,
    "other.lacking": 8,
    "other.none.lacking": 8,
    "hidden": 9,
    "o[0]": 9,
    "lacking": None,
    "lacking.b": None,
    "m": None,
    "": None,
}


@over("key", LINES)
def test_the_line_of_a_key(key: str) -> None:
    assert line_of_key(TEXT, key) == LINES[key]


def test_what_leads_to_another_key_is_passed_over() -> None:
    raw = b'{"a": {"b": [1,\n{"c": 2}], "d": {\n"b": 3}},\n"d": {"b": 4, "c": [{"b":\n5}]}}'
    assert [line_of_key(raw, key) for key in ("a.b[1].c", "a.d.b", "d.b", "d.c[0].b", "d.c[1].b", "c")] == [
        *(2, 3, 4, 4, 4),
        None,
    ]


@over(
    "raw", [b"", b"null", b"[1, 2]", b'{"a"', b'{"a": "', b"}}]]", b'{"\xff": 1,\n"b": 2}', b'{"a": 1' * 3, b"\xff\xfe"]
)
def test_what_is_no_object_has_no_line_or_a_line(raw: bytes) -> None:
    assert line_of_key(raw, "b") in (None, 2)
    assert line_of_name(raw, "b") in (None, 2)
    assert line_of_error(raw) in (None, 1)


def test_the_line_of_a_name_and_of_an_error() -> None:
    assert line_of_name(b'{"weight_map": {\n"x.y": "f",\n"z\\"": "x.y"}}', 'z"') == 3
    assert line_of_name(b'{"weight_map": {\n"x.y": "f"}}', "f") is None
    assert line_of_text(b'{"weight_map": {\n"x.y":\n"f"}}', "f") == 3
    assert line_of_text(b'{"weight_map": {"x.y": "f"}}', "g") is None
    assert line_of_error(b'{\n"a": 1\n"b": 2}') == 3
    assert line_of_error(TEXT) is None


def _places(report: Report) -> list[tuple[str, str, int | None]]:
    return [(one.code, one.location.file, one.location.line) for one in report.findings if one.location]


def _inspected(folder: Path) -> Report:
    return inspect(Request(str(folder)), Options("index"))


def test_findings_stand_at_the_key_or_at_the_entry_of_the_index(tmp_path: Path) -> None:
    listed = index(TINY["llama"])
    listed["weight_map"]["model.layers.1.extra.weight"] = "model.safetensors"
    listed["weight_map"]["model.layers.1.other.weight"] = "lost.safetensors"
    save(tmp_path, config("llama", num_towers=3), listed)
    texts = {name: json.dumps(json.loads((tmp_path / name).read_text()), indent=2) for name in _DOCUMENTS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    wanted = {
        code: (name, next(n for n, line in enumerate(texts[name].splitlines(), 1) if f'"{key}"' in line))
        for code, name, key in (
            ("HF102", "config.json", "num_towers"),
            ("HF202", "model.safetensors.index.json", "model.layers.1.extra.weight"),
            ("HF005", "model.safetensors.index.json", "lost.safetensors"),
        )
    }
    found = {code: (file, line) for code, file, line in _places(_inspected(tmp_path))}
    assert {code: found[code] for code in wanted} == wanted


_DOCUMENTS = ("config.json", "model.safetensors.index.json")


def test_what_is_no_json_stands_where_it_stops(tmp_path: Path) -> None:
    save(tmp_path, TINY["llama"], index(TINY["llama"]))
    (tmp_path / "config.json").write_text('{\n "model_type": "llama",\n "hidden_size" 8\n}\n')
    assert _places(_inspected(tmp_path)) == [("HF001", "config.json", 3)]


def test_what_is_missing_stands_at_the_config(tmp_path: Path) -> None:
    listed = index(TINY["llama"])
    del listed["weight_map"]["lm_head.weight"]
    save(tmp_path, TINY["llama"], listed)
    found = {code: file for code, file, _ in _places(_inspected(tmp_path))}
    assert found["HF201"] == "config.json"
