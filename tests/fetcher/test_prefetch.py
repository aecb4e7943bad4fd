"""What is asked for before it is certain to be needed: the config of an unknown repo, and headers beside the index."""

import json
from pathlib import Path

import pytest
from conftest import Run
from loopback import Fault, Hub, write_checkpoint
from test_hub import CONFIG, CONFIG_NAME, INDEX_NAME, MODEL, TOKEN, TOTAL, WIDER, bearers, resolved

from hfcount.errors import FetchError
from hfcount.fetcher import Request, fetch, finish
from hfcount.fetcher.hub.shards import HubShards
from hfcount.fetcher.interface import Early

GATED = {"X-Error-Code": "GatedRepo"}


def weights(hub: Hub) -> list[str]:
    """The weight files that were asked for."""
    return sorted(path.rpartition("/")[2] for path in hub.paths() if path.endswith(".safetensors"))


@pytest.mark.parametrize(
    ("depth", "shards", "asked"),
    [("config", 1, 0), ("index", 1, 0), ("auto", 1, 1), ("headers", 1, 1), ("auto", 3, 0), ("headers", 3, 3)],
)
def test_no_header_is_asked_for_that_the_depth_leaves_out(
    hub: Hub, run: Run, tmp_path: Path, depth: str, shards: int, asked: int
) -> None:
    folder = write_checkpoint(tmp_path / "tiny", CONFIG, shards)
    for apart in ("consolidated.safetensors", "adapter_model.safetensors", "optimizer.safetensors"):
        (folder / apart).write_bytes(b"{}")
    hub.publish(MODEL, folder)
    assert run(MODEL, "--depth", depth).report["parameters"]["total"] == TOTAL
    assert len(weights(hub)) == len(set(weights(hub))) == asked


def test_a_what_if_asks_for_no_header(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, 1))
    run(MODEL, "--set", "num_hidden_layers=3")
    assert weights(hub) == []


def test_headers_of_files_that_nobody_expected_are_read_besides(hub: Hub, run: Run, tmp_path: Path) -> None:
    """The index names a file that is most often none of the model."""
    folder = write_checkpoint(tmp_path / "tiny", CONFIG, 2)
    for path in folder.glob("model-0*"):
        path.rename(folder / path.name.replace("model", "consolidated"))
    index = (folder / INDEX_NAME).read_text().replace('"model-0', '"consolidated-0')
    (folder / INDEX_NAME).write_text(index)
    hub.publish(MODEL, folder)
    report = run(MODEL, "--depth", "headers").report
    assert (report["verdict"], report["depth"], len(weights(hub))) == ("verified", "headers", 2)


# The config of an unknown repo


@pytest.mark.parametrize("late", [CONFIG_NAME, "revision/main"])
def test_a_config_of_another_commit_is_not_used(hub: Hub, run: Run, tmp_path: Path, late: str) -> None:
    """Each look at the branch sees the next commit; their configs are of one length."""
    commits = [hub.publish(MODEL, write_checkpoint(tmp_path / str(n), one)) for n, one in enumerate((CONFIG, WIDER))]
    hub.faults[late] = [Fault(delay=0.4, times=1)]
    report = run(MODEL, "--depth", "headers").report
    assert report["verdict"] == "verified"
    assert report["revision"] == commits[late != CONFIG_NAME]
    assert {one.partition("/")[0] for one in resolved(hub, "GET")} == {"main", report["revision"]}
    assert f"{report['revision']}/{CONFIG_NAME}" in resolved(hub, "GET")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(headers={"X-Repo-Commit": None}, times=1), id="of no commit"),
        pytest.param(Fault(headers={"X-Repo-Commit": "../../x"}, times=1), id="of a path"),
        pytest.param(Fault(body=b"{}", times=1), id="of another length than listed"),
        pytest.param(Fault(status=404, times=1), id="not there"),
        pytest.param(Fault(status=403, headers=GATED, times=1), id="gated, of no commit"),
        pytest.param(Fault(body=b" " * 10_000_001, times=1), id="too long"),
    ],
)
def test_a_config_that_is_not_surely_of_the_commit_is_asked_for_there(
    hub: Hub, run: Run, tmp_path: Path, fault: Fault
) -> None:
    commit = hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    hub.faults[CONFIG_NAME] = [fault]
    report = run(MODEL).report
    assert (report["verdict"], report["revision"]) == ("verified", commit)
    assert sorted(resolved(hub, "GET")) == sorted(
        [f"main/{CONFIG_NAME}", f"{commit}/{CONFIG_NAME}", f"{commit}/{INDEX_NAME}"]
    )


def test_a_gated_repo_is_asked_for_nothing_further(hub: Hub, run: Run, tmp_path: Path) -> None:
    commit = hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, 12))
    hub.faults[CONFIG_NAME] = [Fault(status=403, headers={**GATED, "X-Repo-Commit": commit})]
    report = run(MODEL, "--depth", "headers").report
    assert report["error"]["kind"] == "GatedRepo"
    assert weights(hub) == []
    assert sum(CONFIG_NAME in path for path in hub.paths()) == 1


@pytest.mark.parametrize("revision", ["main", "commit"])
def test_a_repo_that_was_read_before_is_asked_for_its_commit_alone(
    hub: Hub, run: Run, tmp_path: Path, revision: str
) -> None:
    commit = hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    asked = [MODEL, "--revision", commit if revision == "commit" else "main", "--depth", "headers"]
    first = run(*asked).report
    hub.requests.clear()
    assert run(*asked).report == first
    assert [path.partition("?")[0] for path in hub.paths()] == [f"/api/models/{MODEL}/revision/{asked[2]}"]


def test_what_is_asked_ahead_of_another_host_goes_without_the_token(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, 6), access="private")
    hub.on_cdn = (CONFIG_NAME, ".safetensors")
    report = run(MODEL, "--depth", "headers", env=TOKEN).report
    assert report["verdict"] == "verified"
    assert (len(hub.cdn.requests), len(weights(hub))) == (7, 6)
    assert (bearers(hub), bearers(hub.cdn)) == ({f"Bearer {hub.token}"}, {None})


def test_the_commit_is_what_the_endpoint_says_not_where_the_file_lies(hub: Hub, run: Run, tmp_path: Path) -> None:
    commit = hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    hub.on_cdn = (CONFIG_NAME,)
    hub.cdn.faults[CONFIG_NAME] = [Fault(headers={"X-Repo-Commit": "f" * 40})]
    report = run(MODEL).report
    assert (report["verdict"], report["revision"]) == ("verified", commit)
    assert sum(CONFIG_NAME in path for path in hub.paths()) == 1


# In one process


@pytest.fixture
def endpoint(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The loopback Hub as the one that this process asks."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    return hub


@pytest.mark.parametrize("headers", ["all", "unindexed", None])
def test_what_nobody_reads_ends_with_the_run(endpoint: Hub, tmp_path: Path, headers: Early | None) -> None:
    """The files are slow, and the run ends before it has looked at them."""
    import threading

    folder = write_checkpoint(tmp_path / "tiny", CONFIG, 1)
    endpoint.publish(MODEL, folder)
    endpoint.faults["model.safetensors"] = [Fault(delay=1.0)]
    before = set(threading.enumerate())
    request = Request(MODEL, cache=False, headers=headers)
    finish(request, fetch(request))
    assert not {one for one in set(threading.enumerate()) - before if "process_request" not in one.name}


def test_an_index_that_cannot_be_had_ends_what_was_begun(endpoint: Hub, tmp_path: Path) -> None:
    import threading

    endpoint.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG, 8))
    endpoint.faults = {INDEX_NAME: [Fault(status=418, delay=0.3)], "of-00008.safetensors": [Fault(delay=1.0)]}
    before = set(threading.enumerate())
    with pytest.raises(FetchError, match="418"):
        fetch(Request(MODEL, cache=False, headers="all"))
    assert not {one for one in set(threading.enumerate()) - before if "process_request" not in one.name}


def test_what_waits_to_be_read_is_bounded(endpoint: Hub, tmp_path: Path) -> None:
    """A listing may name any number of files, and say that their headers are long."""
    folder = write_checkpoint(tmp_path / "tiny", CONFIG, 2)
    commit = endpoint.publish(MODEL, folder)
    sizes = {CONFIG_NAME: (folder / CONFIG_NAME).stat().st_size, INDEX_NAME: (folder / INDEX_NAME).stat().st_size}
    listed = sizes | {f"extra-{number:05}.safetensors": 10**6 for number in range(20_000)}
    siblings = [{"rfilename": name, "size": size} for name, size in listed.items()]
    endpoint.faults["revision/main"] = [Fault(body=json.dumps({"sha": commit, "siblings": siblings}).encode())]
    request = Request(MODEL, cache=False, headers="all", timeout=600)
    documents = fetch(request)
    assert isinstance(documents.shards, HubShards) and documents.shards._begun
    begun = documents.shards._begun._reading
    finish(request, documents)
    assert 1_000 < len(begun) <= 32_000_000 // 8_192
