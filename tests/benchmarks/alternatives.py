"""What other tools cost, as hfcount/docs/alternatives.md tells: `python tests/benchmarks/alternatives.py [--bin DIR]`.

Qwen3-32B is served on the loopback interface, its shards as sparse files with their headers. Each tool that is found,
beside this Python or in DIR, runs three times with an empty cache: the median seconds, the most memory, the requests.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

from hub import _Handler, lay_out
from measuring import HF_MEM
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


class Hub(_Handler):
    """Counts what it is asked."""

    asked = 0

    def _answer(self, with_body: bool) -> None:
        Hub.asked += 1
        super()._answer(with_body)


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
            start = [str(home / "python"), "-c", HF_MEM] if name == "hf-mem" else []
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
