"""What other tools cost, as hfcount/docs/alternatives.md tells: `python tests/benchmarks/alternatives.py [--bin DIR]`.

Qwen3-32B is served on the loopback interface, its shards as sparse files with their headers. Each tool that is found,
beside this Python or in DIR, runs three times with an empty cache: the median seconds, the most memory, the requests.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

from hub import COMMIT, _Handler, lay_out
from run import DENSE, FIXTURES, INDEX, config

import hfcount

ROUNDS = 3

_RUN = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
seconds, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, seconds, usage.ru_maxrss)
sys.stderr.write(done.stderr)
"""

_META = """
import sys, torch
from transformers import AutoConfig, AutoModelForCausalLM
with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(sys.argv[1]))
print(sum(parameter.numel() for parameter in model.parameters()))
"""

# hf-mem has the Hub's address written into it.
_HF_MEM = """
import os, runpy, sys
import httpx2
build = httpx2.AsyncClient.build_request
def here(self, method, url, **others):
    return build(self, method, str(url).replace("https://huggingface.co", os.environ["HF_ENDPOINT"]), **others)
httpx2.AsyncClient.build_request = here
path = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(path, run_name="__main__")
"""


class Hub(_Handler):
    """Also a repo's facts and tree, as other clients ask for them."""

    asked = 0

    def _answer(self, with_body: bool) -> None:
        Hub.asked += 1
        found = re.fullmatch(r"/api/models/(?P<repo>[^/?]+/[^/?]+)(?P<tree>/tree/[^?]+)?(\?.*)?", self.path)
        if not found:
            super()._answer(with_body)
            return
        files = sorted(Path(self.directory, found["repo"]).iterdir())
        facts: Any = {"id": found["repo"], "sha": COMMIT, "tags": [], "library_name": "transformers", "downloads": 1}
        facts |= {"config": {"model_type": "qwen3"}, "siblings": [{"rfilename": path.name} for path in files]}
        if found["tree"]:
            facts = [{"type": "file", "path": path.name, "size": path.stat().st_size, "oid": "0"} for path in files]
        self._send(200, {"Content-Type": "application/json"}, json.dumps(facts).encode(), with_body)


def tools(folder: Path, home: Path) -> Iterator[tuple[str, list[str]]]:
    """The tools that are there, each with what it is run as."""
    ours = [sys.executable, "-m", "hfcount", DENSE]
    yield "hfcount", ours
    yield "hfcount --depth headers", [*ours, "--depth", "headers"]
    yield "transformers on the meta device", [sys.executable, "-c", _META, DENSE]
    asked = {
        "hf-mem": ["--model-id", DENSE, "--experimental"],
        "accelerate": ["estimate-memory", DENSE, "--library_name", "transformers"],
        "mlx-model-doctor": ["check", "local", str(folder)],
    }
    for name, given in asked.items():
        script = home / name
        if script.exists():
            start = [str(home / "python"), "-c", _HF_MEM] if name == "hf-mem" else []
            yield name, [*start, str(script), *given]


def measured(command: list[str], environment: Mapping[str, str]) -> str:
    """The cells of a row."""
    seconds, memory, requests = [], [], 0
    for turn in range(ROUNDS + 1):  # the first does not count: it may write bytecode
        before = Hub.asked
        with tempfile.TemporaryDirectory() as home:
            given = {**os.environ, **environment, "HF_HOME": home}
            done = subprocess.run([sys.executable, "-c", _RUN, *command], env=given, capture_output=True, text=True)
        code, took, most = done.stdout.split()
        if code != "0":
            return f"exit {code}: {done.stderr[-300:]}"
        if not turn:
            continue
        seconds.append(float(took))
        memory.append(int(most) * (1 if sys.platform == "darwin" else 1024))
        requests = Hub.asked - before
    return f"{requests} | {median(seconds):.1f} | {median(memory) / 1e6:,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=Path(sys.executable).parent, help="where the tools are")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source, folder = FIXTURES / DENSE, Path(scratch, DENSE)
        shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(config(DENSE)).tensors()}
        lay_out(folder, (source / "config.json").read_bytes(), (source / INDEX).read_bytes(), shapes, "BF16")
        server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Hub(*given, directory=scratch))
        Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "NO_PROXY": "127.0.0.1",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        print("| tool | requests | seconds | memory |\n|---|--:|--:|--:|")
        for name, command in tools(folder, options.bin):
            print(f"| {name} | {measured(command, environment)} |", flush=True)
        server.shutdown()


if __name__ == "__main__":
    main()
