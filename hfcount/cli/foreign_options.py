"""Answers options and schemes that other tools have with those of hfcount."""

from collections.abc import Mapping
from difflib import get_close_matches

import click

_LIKE = 0.8
"""Below this likeness nothing is guessed."""

_OURS: Mapping[str, str] = {
    "--tp N": "tensor-parallel-size tp-size tensor-parallel num-gpus gpus gpu-count num-devices n-gpu-layers",
    "--context TOKENS": "max-model-len max-len max-length context-length ctx-size n-ctx max-seq-len seq-len num-tokens"
    " max-position-embeddings max-total-tokens",
    "--batch N": "max-num-seqs batch-size max-batch-size parallel num-sequences concurrency max-running-requests",
    "--memory SIZE": "gpu device hardware vram gpu-memory max-memory ram gpu-type accelerator",
    "--engine vllm:0.9, with --memory": "gpu-memory-utilization mem-util",
    "--engine raw, with the memory that the engine may use as --memory": "mem-fraction-static free-gpu-memory-fraction",
    "--kv-dtype DTYPE": "kv-cache-dtype cache-type-k cache-type-v kv-cache kv",
    "--quantize SCHEME": "quantization quant quantise quantisation load-in-4bit load-in-8bit bits q",
    "--depth headers": "deep full thorough headers",
    "--depth data": "check-nan nan values data",
    "--depth config": "no-weights count-only dry-run config-only shallow",
    "--allow CODE": "ignore skip disable suppress exclude-rule waive ignore-errors",
    "--strict": "fail-on werror warnings-as-errors pedantic error-on-warning fail-on-warnings",
    "--offline": "local-files-only local no-network",
    "--revision REV": "branch commit tag rev ref",
    "--format FORMAT": "output-format report-format fmt reporter as style",
    "-o FILE": "out output-file save-to report outfile file write-to dest",
    "--details": "verbose verbosity v all-details long",
    "-q": "silent short brief summary",
    "-r": "recurse depth-first walk tree",
    "--for LOADER": "loader engine-version target-engine framework backend library with",
    "--base MODEL": "base-model base-model-name-or-path adapter-base",
    "--no-cache": "force-download refresh no-store",
    "--timeout S": "time-limit deadline",
    "--debug": "trace traceback log-level loglevel",
    "--tensors": "list-tensors show-tensors names keys layers",
    "--formula": "explain breakdown formulas",
    "--plot FILE": "chart figure draw graph",
    "--derive-with transformers": "use-transformers with-transformers",
    "--set KEY=VALUE": "override hf-overrides config-override what-if json-model-override-args",
}

_ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "pp",
            "pipeline-parallel-size",
            "pp-size",
            "dp",
            "data-parallel-size",
            "ep",
            "ep-size",
            "enable-expert-parallel",
        ),
        "Pipeline, data and expert parallelism are not computed; --tp N is tensor parallelism.",
    ),
    **dict.fromkeys(
        ("token", "hf-token", "auth-token", "use-auth-token", "api-key"),
        "The token is read from HF_TOKEN, or from the file of `hf auth login`.",
    ),
    **dict.fromkeys(
        ("cache-dir", "download-dir", "hf-home", "local-dir"), "Set HF_HOME or HF_HUB_CACHE to move the cache."
    ),
    **dict.fromkeys(("endpoint", "hub-url", "mirror"), "Set HF_ENDPOINT to use another Hub."),
    **dict.fromkeys(("proxy",), "Set HTTPS_PROXY to use a proxy."),
    **dict.fromkeys(
        ("trust-remote-code", "trust-code"),
        "hfcount never runs code of a repo; --derive-with asks an installed library.",
    ),
    **dict.fromkeys(("no-color", "no-colour", "color", "colour"), "Set NO_COLOR=1 or FORCE_COLOR=1."),
    **dict.fromkeys(
        ("model", "model-path", "model-id", "path", "repo-id", "m"), "MODEL needs no option: `hfcount MODEL`."
    ),
    **dict.fromkeys(("fix", "write", "repair"), "`hfcount fix FOLDER` shows repairs, and --write makes them."),
    **dict.fromkeys(
        ("dtype", "torch-dtype"), "The dtype comes from the config; --set dtype=float16 counts with another."
    ),
    **dict.fromkeys(
        ("workers", "jobs", "j", "num-workers"), "`hfcount sweep OUT MODEL... --workers N` runs in parallel."
    ),
}

SCHEMES: Mapping[str, str] = {
    "int4": "awq, gptq or w4a16",
    "4bit": "nf4, awq or gptq",
    "4-bit": "nf4, awq or gptq",
    "bnb": "nf4 or bnb-int8",
    "bnb-4bit": "nf4",
    "bitsandbytes": "nf4 or bnb-int8",
    "8bit": "bnb-int8 or int8",
    "8-bit": "bnb-int8 or int8",
    "w8a8": "int8 or fp8",
    "w4a16-awq": "awq",
    "fp4": "nvfp4 or mxfp4",
    "mlx": "mlx-4 or mlx-8",
    "fp8_e4m3": "fp8 or fp8-dynamic",
    "fp8-e4m3": "fp8 or fp8-dynamic",
    "compressed-tensors": "w4a16, int8 or fp8-dynamic",
    "torchao": "not a preset: name such a checkpoint as MODEL",
    "auto": "one of them by name",
}
"""Names that other tools have for schemes, and what is meant here."""


def unknown(name: str, command: click.Command, context: click.Context) -> str:
    """What to write for an option that there is not."""
    bare = name.lstrip("-").replace("_", "-").lower()
    if bare in _ANSWERS:
        return f"There is no option {name}. {_ANSWERS[bare]}"
    ours = next((ours for ours, names in _OURS.items() if bare in names.split()), None)
    known = {opt for param in command.get_params(context) for opt in (*param.opts, *param.secondary_opts)}
    if ours and ours.split()[0].rstrip(",") in known:
        return f"There is no option {name}. Use {ours}."
    near = get_close_matches(name, sorted(opt for opt in known if opt.startswith("--")), 1, _LIKE)
    if "--write" in known and bare in ("dry-run", "check", "diff", "preview"):
        return f"There is no option {name}, and none is needed: nothing is written without --write."
    meant = f"Did you mean {near[0]}?" if near else f"`{context.command_path} --help` lists all options."
    elsewhere = "" if near else _of_another_command(name)
    return f"There is no option {name}{elsewhere}. {meant}"


def _of_another_command(name: str) -> str:
    """The commands that have an option, as the end of a sentence; empty if none has it."""
    from hfcount.cli.commands import COMMANDS, find

    having = [other for other in COMMANDS if any(name in param.opts for param in find(other).params)]
    return f" here, but in {', '.join(f'`hfcount {other}`' for other in having[:3])}" if having else ""


def scheme(name: str) -> str:
    """What to write for a quantisation that there is not."""
    if name in SCHEMES:
        return f"{name} is here {SCHEMES[name]}."
    if name.startswith(("q2_", "q3_", "q4_", "q5_", "q6_", "q8_", "iq", "f16", "gguf", "tq")):
        return f"{name} is a GGUF type. Its size depends on the file: `hfcount org/name-GGUF:{name.upper()}`."
    return ""
