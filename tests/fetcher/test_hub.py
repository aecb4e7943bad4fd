"""The command against a Hub: what it reads, what it says when it cannot, and who gets the token."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CLOSED, Run
from loopback import Fault, Hub, Server, write_checkpoint

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "torch_dtype": "bfloat16",
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "tie_word_embeddings": False,
}
WIDER = CONFIG | {"intermediate_size": 192}

# Counted by hand: two matrices of embeddings, and for each layer q and o, k and v, the MLP, two norms and two of heads.
TOTAL = 2 * 512 * 64 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64 + 2 * 16) + 64

MODEL, CONFIG_NAME, INDEX_NAME = "org/tiny", "config.json", "model.safetensors.index.json"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A checkpoint of CONFIG, in two shards."""
    return write_checkpoint(tmp_path / "tiny", CONFIG)


def folder_of(path: Path, **files: str) -> Path:
    """A folder with these files; `__` in a name stands for its dot."""
    path.mkdir()
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)
    return path


def resolved(hub: Hub, method: str) -> list[str]:
    """`revision/file` of every request for a file."""
    return [path.partition("/resolve/")[2] for path in hub.paths(method) if "/resolve/" in path]


# What is read


def test_a_repo_is_verified_at_one_commit_by_its_index(hub: Hub, run: Run, tiny: Path) -> None:
    commit = hub.publish(MODEL, tiny)
    code, report = (result := run(MODEL)).code, result.report
    assert (code, report["verdict"], report["source"], report["depth"]) == (0, "verified", "hub", "index")
    assert (report["model"], report["revision"], report["family"]) == (MODEL, commit, "qwen3")
    assert (report["parameters"]["total"], report["parameters"]["stored"]) == (TOTAL, TOTAL)
    assert (report["evidence"]["total_size"], report["evidence"]["shards"]) == (2 * TOTAL, 2)
    # config.json is asked for while the listing is: its answer says of which commit it is.
    assert sorted(resolved(hub, "GET")) == sorted([f"main/{CONFIG_NAME}", f"{commit}/{INDEX_NAME}"])


@pytest.mark.parametrize(
    ("shards", "depth", "cold", "warm"),
    [
        pytest.param(3, "index", 3, 1, id="the index"),
        pytest.param(1, "auto", 3, 1, id="a single file"),
        pytest.param(5, "headers", 5 + 3, 1, id="every header"),
    ],
)
def test_a_run_asks_no_more_than_it_must(
    hub: Hub, run: Run, tmp_path: Path, shards: int, depth: str, cold: int, warm: int
) -> None:
    """A listing, the config once, the index or the headers; then the listing alone, which names the commit."""
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, shards))
    first = run(MODEL, "--depth", depth).report
    assert (len(hub.requests), sum(CONFIG_NAME in path for path in hub.paths())) == (cold, 1)
    assert hub.paths("HEAD") == []
    hub.requests.clear()
    assert run(MODEL, "--depth", depth).report == first
    assert len(hub.requests) == warm


@pytest.mark.parametrize(
    ("revision", "total_of"),
    [
        pytest.param(None, "main", id="main is the default"),
        pytest.param("main", "main", id="branch"),
        pytest.param("v2.0", "other", id="tag"),
        pytest.param("refs/pr/1", "other", id="pull request"),
        pytest.param("commit", "other", id="commit"),
    ],
)
def test_revision_chooses_the_commit(
    hub: Hub, run: Run, tiny: Path, tmp_path: Path, revision: str | None, total_of: str
) -> None:
    commits = {"main": hub.publish(MODEL, tiny)}
    commits["other"] = hub.publish(MODEL, write_checkpoint(tmp_path / "wider", WIDER), ref="v2.0")
    hub.repos[MODEL].refs["refs/pr/1"] = [commits["other"]]
    asked = [] if revision is None else ["--revision", commits["other"] if revision == "commit" else revision]
    report = run(MODEL, *asked).report
    total = {"main": TOTAL, "other": TOTAL + 2 * 3 * 64 * 64}[total_of]
    assert (report["revision"], report["parameters"]["total"]) == (commits[total_of], total)
    assert report["verdict"] == "verified"


def test_subfolder_is_read_in_place_of_the_root(hub: Hub, run: Run, tiny: Path) -> None:
    write_checkpoint(tiny / "text" / "large", WIDER)
    hub.publish(MODEL, tiny)
    report = run(MODEL, "--subfolder", "text/large").report
    assert (report["model"], report["verdict"]) == (f"{MODEL}/text/large", "verified")
    assert report["parameters"]["total"] == TOTAL + 2 * 3 * 64 * 64
    assert all(path.partition("/")[2].startswith("text/large/") for path in resolved(hub, "GET"))


def test_a_difference_is_a_mismatch(hub: Hub, run: Run, tiny: Path) -> None:
    (tiny / CONFIG_NAME).write_text(json.dumps(CONFIG | {"num_hidden_layers": 3}))
    hub.publish(MODEL, tiny)
    result = run(MODEL)
    assert (result.code, result.report["verdict"]) == (1, "mismatch")
    assert "HF201" in [finding["code"] for finding in result.report["findings"]]


def test_the_worst_of_several_models_decides(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny)
    result = run(MODEL, "org/absent")
    assert result.code == 3
    assert [report["verdict"] for report in result.reports] == ["verified", "unverified"]


@pytest.mark.parametrize("late", [CONFIG_NAME, INDEX_NAME])
def test_a_push_between_two_requests_mixes_no_commits(
    hub: Hub, run: Run, tiny: Path, tmp_path: Path, late: str
) -> None:
    """The file that is late is seen at the newer commit, whose sizes differ."""
    hub.publish(MODEL, tiny)
    hub.publish(MODEL, write_checkpoint(tmp_path / "wider", WIDER))
    hub.faults[late] = [Fault(delay=0.4, times=1)]
    report = run(MODEL).report
    assert report["verdict"] == "verified"
    assert f"{report['revision']}/{INDEX_NAME}" in resolved(hub, "GET")


@pytest.mark.parametrize("listing", ["tree", "none"])
def test_a_mirror_without_the_listing_is_read_by_its_files(hub: Hub, run: Run, tiny: Path, listing: str) -> None:
    commit = hub.publish(MODEL, tiny)
    hub.faults["revision/main"] = [Fault(status=404)]
    if listing == "none":
        hub.faults[f"tree/{commit}"] = [Fault(status=404)]
    report = run(MODEL).report
    assert (report["verdict"], report["revision"]) == ("verified", commit)
    assert report["depth"] == ("index" if listing == "tree" else "headers")
    assert sum(CONFIG_NAME in path for path in hub.paths()) == 1


def test_a_listing_without_sizes_leaves_them_to_the_headers(hub: Hub, run: Run, tiny: Path) -> None:
    commit = hub.publish(MODEL, tiny)
    siblings = [{"rfilename": path.name} for path in tiny.iterdir()]
    hub.faults["revision/main"] = [Fault(body=json.dumps({"sha": commit, "siblings": siblings}).encode())]
    report = run(MODEL).report
    assert (report["verdict"], report["depth"]) == ("verified", "headers")
    assert "the size of model-00001-of-00002.safetensors is not known" in report["depth_reason"]
    report = run(MODEL, "--depth", "index", "--no-cache").report
    assert (report["verdict"], report["error"]["kind"]) == ("unverified", "NotOpened")


ODD = {
    "not JSON": b"[[[[",
    "a list of anything": b"[1,2,null]",
    "no files": b'{"sha": "0123456789abcdef0123456789abcdef01234567"}',
    "files without names": b'{"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [{"type":"file"}]}',
    "no commit": b'{"siblings": []}',
    "a commit that is a path": b'{"sha": "../../x", "siblings": []}',
    "an HTML page": b"<!DOCTYPE html>",
}


@pytest.mark.parametrize("body", ODD.values(), ids=list(ODD))
def test_what_is_no_listing_is_not_believed(hub: Hub, run: Run, tiny: Path, body: bytes) -> None:
    commit = hub.publish(MODEL, tiny)
    hub.faults = {"revision/main": [Fault(body=body)], f"tree/{commit}": [Fault(body=body)]}
    report = run(MODEL).report
    assert (report["verdict"], report["revision"], report["depth"]) == ("verified", commit, "headers")


def test_a_listing_of_several_pages_is_read_to_its_end(hub: Hub, run: Run, tiny: Path) -> None:
    commit = hub.publish(MODEL, tiny)
    hub.faults["revision/main"] = [Fault(status=404)]
    entries = json.dumps([{"type": "file", "path": CONFIG_NAME, "size": (tiny / CONFIG_NAME).stat().st_size}])
    more = {"Link": f'<{hub.url}/api/models/{MODEL}/tree/{commit}?cursor=2>; rel="next"'}
    hub.faults[f"tree/{commit}"] = [Fault(body=entries.encode(), headers=more, times=1)]
    assert run(MODEL).report["depth"] == "index"
    assert len([path for path in hub.paths() if "/tree/" in path]) == 2


@pytest.mark.parametrize("link", ["{cdn}/next", "//evil.test/next", "http://[::1"])
def test_a_listing_that_goes_on_elsewhere_is_refused(hub: Hub, run: Run, tiny: Path, link: str) -> None:
    hub.publish(MODEL, tiny)
    target = link.replace("{cdn}", hub.cdn.url)
    hub.faults["revision/main"] = [Fault(headers={"Link": f'<{target}>; rel="next"'})]
    assert_not_looked(run(MODEL, env=TOKEN), "HubError", "another host")
    assert hub.cdn.requests == []


def test_a_listing_without_an_end_is_left(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny)
    again = {"Link": f'<{hub.url}/api/models/{MODEL}/revision/main?blobs=true>; rel="next"'}
    hub.faults["revision/main"] = [Fault(headers=again)]
    assert_not_looked(run(MODEL), "HubError", "100 pages")


def test_what_is_in_folders_below_belongs_to_other_models(hub: Hub, run: Run, tmp_path: Path) -> None:
    place = write_checkpoint(tmp_path / "tiny", CONFIG, shards=1)
    write_checkpoint(place / "draft", WIDER, shards=1)
    (place / "onnx").mkdir()
    (place / "onnx" / "pytorch_model.bin").write_bytes(b"PK")
    hub.publish(MODEL, place)
    report = run(MODEL).report
    assert (report["verdict"], report["evidence"]["shards"], report["evidence"]["unlisted"]) == ("verified", 1, [])


# What cannot be read


@pytest.mark.parametrize(
    ("kind", "model", "options", "says"),
    [
        pytest.param("NoSuchRepo", "org/absent", [], "org/absent", id="no such repo"),
        pytest.param("NoSuchRepo", "org/private", [], "HF_TOKEN", id="a private repo, without a token"),
        pytest.param("GatedRepo", "org/gated", [], "Accept its terms", id="a gated repo"),
        pytest.param("NoSuchRevision", MODEL, ["--revision", "v9"], "v9", id="no such revision"),
        pytest.param("NoSuchRevision", MODEL, ["--revision", "0" * 40], "0" * 40, id="no such commit"),
        pytest.param("NoConfig", MODEL, ["--subfolder", "vae"], "no files in vae. Check", id="no such subfolder"),
        pytest.param("NoConfig", "org/readme", [], "config.json", id="no config.json"),
        pytest.param(
            "NoHeaders", "org/adapter", [], "no adapter_model.safetensors", id="only the settings of an adapter"
        ),
        pytest.param("NoConfig", "org/own", [], "params.json", id="weights in their author's own layout"),
    ],
)
def test_says_why_it_could_not_look(
    hub: Hub, run: Run, tiny: Path, tmp_path: Path, kind: str, model: str, options: list[str], says: str
) -> None:
    hub.publish(MODEL, tiny)
    hub.publish("org/private", tiny, access="private")
    hub.publish("org/gated", tiny, access="gated")
    hub.publish("org/readme", folder_of(tmp_path / "readme", README__md="# Tiny"))
    hub.publish("org/adapter", folder_of(tmp_path / "adapter", adapter_config__json='{"peft_type": "LORA"}'))
    hub.publish("org/own", folder_of(tmp_path / "own", params__json="{}"))
    assert_not_looked(run(model, *options), kind, says)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param({}, "safetensors", id="no weights at all"),
        pytest.param({"flax_model__msgpack": "x"}, "neither", id="Flax"),
    ],
)
def test_a_repo_without_an_index_is_counted_and_unverified(
    hub: Hub, run: Run, tmp_path: Path, files: dict[str, str], says: str
) -> None:
    hub.publish(MODEL, folder_of(tmp_path / "bare", config__json=json.dumps(CONFIG), **files))
    result = run(MODEL)
    assert (result.code, result.report["verdict"]) == (3, "unverified")
    assert result.report["parameters"]["total"] == TOTAL
    assert says in result.report["error"]["message"]


@pytest.mark.parametrize(("model", "kind"), [("org/gated", "GatedRepo"), ("org/private", "NoSuchRepo")])
def test_a_token_that_was_sent_is_not_asked_for(hub: Hub, run: Run, tiny: Path, model: str, kind: str) -> None:
    hub.publish(model, tiny, access="gated" if kind == "GatedRepo" else "private")
    bare, sent = run(model), run(model, env={"HF_TOKEN": "hf_OfAnotherAccount"})
    assert_not_looked(bare, kind, "set HF_TOKEN")
    assert_not_looked(sent, kind, "account")
    assert "set HF_TOKEN" not in sent.out
    assert "token that was sent" in sent.out or "send the token" in sent.out


NAMES = {
    "a/b/c:d": "BadName",
    "foo--bar": "BadName",
    "foo..bar/baz": "BadName",
    "org/tiny?download=true": "BadName",
    "org/%2e%2e": "BadName",
    "https://example.com/org/tiny": "BadName",
    "org/" + "n" * 97: "BadName",
    "org/\x1b[31mred": "BadName",
    "../x": "NoSuchFolder",
    "./org/tiny": "NoSuchFolder",
}


@pytest.mark.parametrize("where", [[], ["--offline"]], ids=["online", "offline"])
def test_a_name_that_no_repo_can_have_is_not_asked_for(hub: Hub, run: Run, where: list[str]) -> None:
    result = run(*where, *NAMES)
    kinds = [report["error"]["kind"] for report in result.reports]
    assert (result.code, dict(zip(NAMES, kinds, strict=True))) == (3, NAMES)
    assert resolved(hub, "HEAD") == []
    assert not any("\x1b" in report["error"]["message"] for report in result.reports)


@pytest.mark.parametrize("subfolder", ["..", "../other", "text/../../other", "/etc", "../../../../api/whoami-v2"])
def test_a_subfolder_stays_in_its_repo(hub: Hub, run: Run, tiny: Path, subfolder: str) -> None:
    hub.publish(MODEL, tiny)
    assert_not_looked(run(MODEL, "--subfolder", subfolder), "BadName")
    assert resolved(hub, "HEAD") == []


# A network that is not there, and one that is not well


def test_no_network_is_said_at_once(run: Run) -> None:
    """huggingface_hub alone would retry for more than 20 seconds."""
    assert_not_looked(run(MODEL, endpoint=CLOSED), "NoNetwork", CLOSED)


ONCE = {
    "429": Fault(status=429, times=1),
    "429 twice, with Retry-After": Fault(status=429, headers={"Retry-After": "0"}, times=2),
    "500": Fault(status=500, times=1),
    "slow": Fault(delay=0.3),
    "closed half-way": Fault(cut=0.5, method="GET", times=1),
    "closed before the first byte": Fault(cut=0.0, method="GET", times=1),
    "compressed": Fault(gzip=True, method="GET"),
}


@pytest.mark.parametrize("fault", ONCE.values(), ids=list(ONCE))
def test_a_fault_that_passes_changes_nothing(hub: Hub, run: Run, tiny: Path, fault: Fault) -> None:
    commit = hub.publish(MODEL, tiny)
    hub.faults = {CONFIG_NAME: [fault], INDEX_NAME: [fault]}
    result = run(MODEL)
    assert (result.code, result.report["verdict"], result.report["revision"]) == (0, "verified", commit)


AT_ONCE = {"Retry-After": "0"}
NOT_VALID = {"X-Error-Message": "Invalid credentials in Authorization header"}
DISABLED = {"X-Error-Message": "Access to this resource is disabled."}
GONE = {"X-Error-Code": "EntryNotFound"}


@pytest.mark.parametrize(
    ("faults", "kind", "says"),
    [
        pytest.param([Fault(status=403)], "HubError", "403", id="403"),
        pytest.param([Fault(status=418)], "HubError", "418", id="a status without a meaning"),
        pytest.param([Fault(status=503, headers=AT_ONCE, method="GET")], "HubError", "503", id="503 for the body"),
        pytest.param(
            [Fault(status=503, method="GET")], "HubError", "503", id="503 and no word of when", marks=pytest.mark.long
        ),
        pytest.param([Fault(status=401, headers=NOT_VALID)], "HubError", "HF_TOKEN", id="a token that is not valid"),
        pytest.param([Fault(status=403, headers=DISABLED)], "HubError", "disabled", id="a disabled repo"),
        pytest.param([Fault(status=404, headers=GONE)], "HubError", "listed", id="gone between two requests"),
        pytest.param([Fault(status=302, headers={"Location": ""})], "HubError", "redirect", id="a redirect to itself"),
        pytest.param([Fault(short=0.5)], "HubError", "by the listing", id="shorter than listed"),
        pytest.param([Fault(body=b"[]" * 9999)], "HubError", "by the listing", id="longer than listed"),
        pytest.param([Fault(headers={"Content-Encoding": "gzip"})], "HubError", "gzip", id="said to be compressed"),
        pytest.param([Fault(headers={"Content-Encoding": "br"})], "HubError", "br", id="compressed in another way"),
        pytest.param(
            [Fault(headers={"Content-Length": "300000000"})], "UnreadableFile", "300,000,000", id="too big by its word"
        ),
        pytest.param([Fault(spaces=257_000_000)], "UnreadableFile", "at most", id="too big", marks=pytest.mark.slow),
    ],
)
def test_a_fault_that_stays_is_named(hub: Hub, run: Run, tiny: Path, faults: list[Fault], kind: str, says: str) -> None:
    """The index is never taken for absent."""
    hub.publish(MODEL, tiny)
    hub.faults[INDEX_NAME] = faults
    assert_not_looked(run(MODEL), kind, says)


@pytest.mark.slow
def test_503_for_ever_is_a_hub_error(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny)
    hub.faults[CONFIG_NAME] = [Fault(status=503, headers=AT_ONCE)]
    assert_not_looked(run(MODEL), "HubError", "503")


def test_an_html_page_in_place_of_the_config_is_malformed(hub: Hub, run: Run, tiny: Path) -> None:
    (tiny / CONFIG_NAME).write_text("<!DOCTYPE html><title>Please log in</title>")
    hub.publish(MODEL, tiny)
    result = run(MODEL)
    (finding,) = result.report["findings"]
    assert (result.code, result.report["verdict"], finding["code"]) == (1, "mismatch", "HF001")
    assert "HTML" in finding["message"]


def test_a_login_page_in_place_of_the_hub_is_no_finding(hub: Hub, run: Run, tiny: Path) -> None:
    """It says nothing of the model."""
    hub.publish(MODEL, tiny)
    page = Fault(body=b"<!DOCTYPE html>", headers={"X-Repo-Commit": None, "ETag": None})
    hub.faults = {CONFIG_NAME: [page], INDEX_NAME: [page], "revision/main": [page]}
    assert_not_looked(run(MODEL), "HubError", hub.url)


# Documents kept: the cache, --save


OFFLINE: list[Any] = [
    pytest.param(["--offline"], {}, id="--offline"),
    pytest.param([], {"HF_HUB_OFFLINE": "1"}, id="HF_HUB_OFFLINE"),
]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="main"),
        pytest.param(["--revision", "v2"], id="tag"),
        pytest.param(["--revision", "refs/pr/1"], id="pull request"),
        pytest.param(["--revision", "commit"], id="commit"),
        pytest.param(["--subfolder", "text"], id="subfolder"),
    ],
)
@pytest.mark.parametrize(("offline", "env"), OFFLINE)
def test_offline_reads_what_an_online_run_left(
    hub: Hub, run: Run, tiny: Path, options: list[str], offline: list[str], env: dict[str, str]
) -> None:
    write_checkpoint(tiny / "text", WIDER)
    commit = hub.publish(MODEL, tiny)
    hub.repos[MODEL].refs |= {"v2": [commit], "refs/pr/1": [commit]}
    asked = [commit if option == "commit" else option for option in options]
    online = run(MODEL, *asked).report
    hub.requests.clear()
    result = run(MODEL, *asked, *offline, env=env)
    assert (result.code, result.report) == (0, online | {"source": "cache"})
    assert hub.requests == []


@pytest.mark.parametrize(("offline", "env"), OFFLINE)
def test_offline_says_what_is_not_cached(
    hub: Hub, run: Run, tiny: Path, offline: list[str], env: dict[str, str]
) -> None:
    hub.publish(MODEL, tiny)
    assert_not_looked(run(MODEL, *offline, env=env), "NotCached", "without --offline")
    assert hub.requests == []


def test_a_second_run_reads_the_newer_commit(hub: Hub, run: Run, tiny: Path, tmp_path: Path) -> None:
    """The cache saves the download, not the question."""
    hub.publish(MODEL, tiny)
    before = run(MODEL).report
    hub.repos.clear()
    commit = hub.publish(MODEL, write_checkpoint(tmp_path / "wider", WIDER))
    after = run(MODEL).report
    assert (before["parameters"]["total"], after["parameters"]["total"]) == (TOTAL, TOTAL + 2 * 3 * 64 * 64)
    assert after["revision"] == commit


def test_a_second_run_downloads_nothing_again(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny)
    first = run(MODEL).report
    hub.requests.clear()
    assert run(MODEL).report == first
    assert resolved(hub, "GET") == []


@pytest.mark.parametrize(
    ("config", "verdict", "subfolder"),
    [
        pytest.param(CONFIG, "verified", None, id="verified"),
        pytest.param(CONFIG | {"torch_dtype": "float32"}, "explained", None, id="explained"),
        pytest.param(CONFIG | {"num_hidden_layers": 3}, "mismatch", None, id="mismatch"),
        pytest.param(CONFIG, "verified", "text", id="a subfolder"),
    ],
)
def test_save_then_fixtures_says_the_same(
    hub: Hub, run: Run, tiny: Path, tmp_path: Path, config: dict[str, Any], verdict: str, subfolder: str | None
) -> None:
    place = write_checkpoint(tiny / subfolder, CONFIG) if subfolder else tiny
    (place / CONFIG_NAME).write_text(json.dumps(config))
    hub.publish(MODEL, tiny)
    options = ["--subfolder", subfolder] if subfolder else []
    online = run(MODEL, *options, "--save", tmp_path / "saved")
    hub.requests.clear()
    replay = run(MODEL, *options, "--fixtures", tmp_path / "saved")
    assert online.report["verdict"] == verdict
    assert (replay.code, replay.report) == (online.code, online.report | {"source": "fixtures"})
    assert hub.requests == []


# The token

TOKEN = {"HF_TOKEN": Hub.token}


def bearers(server: Server) -> set[str | None]:
    """What the requests had for authorization."""
    return {seen.headers["Authorization"] for seen in server.requests}


def test_the_token_opens_a_private_repo(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny, access="private")
    result = run(MODEL, env=TOKEN)
    assert result.report["verdict"] == "verified"
    assert bearers(hub) == {f"Bearer {Hub.token}"}
    assert Hub.token not in result.out + result.err


def test_without_a_token_none_is_sent(hub: Hub, run: Run, tiny: Path) -> None:
    hub.publish(MODEL, tiny)
    assert run(MODEL).code == 0
    assert bearers(hub) == {None}


@pytest.mark.parametrize("name", [CONFIG_NAME, INDEX_NAME])
def test_a_file_on_another_host_is_read_without_the_token(hub: Hub, run: Run, tiny: Path, name: str) -> None:
    hub.publish(MODEL, tiny, access="private")
    hub.on_cdn = (name,)
    result = run(MODEL, env=TOKEN)
    assert (result.code, result.report["verdict"]) == (0, "verified")
    assert [f"/{name}?" in path for path in hub.cdn.paths()] == [True]
    assert (bearers(hub), bearers(hub.cdn)) == ({f"Bearer {Hub.token}"}, {None})


@pytest.mark.parametrize("shards", [1, 2], ids=["one file without an index", "two shards"])
def test_headers_on_another_host_are_read_without_the_token(hub: Hub, run: Run, tmp_path: Path, shards: int) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, shards), access="private")
    hub.on_cdn = (".safetensors",)
    report = run(MODEL, "--depth", "headers", env=TOKEN).report
    assert (report["verdict"], report["depth"], report["evidence"]["shards"]) == ("verified", "headers", shards)
    assert (bearers(hub), bearers(hub.cdn)) == ({f"Bearer {Hub.token}"}, {None})


@pytest.mark.parametrize(
    ("kind", "model", "faults"),
    [
        pytest.param("NoSuchRepo", "org/absent", [], id="no such repo"),
        pytest.param("GatedRepo", MODEL, [Fault(status=403, headers={"X-Error-Code": "GatedRepo"})], id="gated"),
        pytest.param("HubError", MODEL, [Fault(status=418)], id="an odd status"),
        pytest.param("HubError", MODEL, [Fault(status=503, headers=AT_ONCE, method="GET")], id="503 for the body"),
    ],
)
def test_no_message_holds_the_token(hub: Hub, run: Run, tiny: Path, kind: str, model: str, faults: list[Fault]) -> None:
    hub.publish(MODEL, tiny)
    hub.faults[CONFIG_NAME] = faults
    result = run(model, env=TOKEN)
    assert_not_looked(result, kind)
    assert bearers(hub) == {f"Bearer {Hub.token}"}
    assert Hub.token not in result.out + result.err


def assert_not_looked(result: Any, kind: str, says: str = "") -> None:
    """Exit code 3 and a report that gives the reason; nothing but warnings beside it."""
    assert "Traceback" not in result.err
    report = result.report
    assert (result.code, report["verdict"], report["error"]["kind"]) == (3, "unverified", kind)
    assert says in report["error"]["message"]
