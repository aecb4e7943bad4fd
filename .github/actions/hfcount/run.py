"""What the action does, on Linux, macOS and Windows: `run.py prepare`, then `run.py verify`. Standard library only.

`prepare` says where pip may keep what it downloads, and under which key of the cache; `verify` installs hfcount, of the
version that the action itself is, into an environment of its own, verifies $MODELS with $ARGUMENTS, writes annotations,
the step's summary and its outputs, and exits as hfcount does. Inputs are read from the environment alone.
"""

import glob
import hashlib
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile

HOME = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", ".."))
SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "source.txt")
"""What to install, where the action has a repository of its own: a requirement with the address of a release."""
OLDEST = (3, 11)
ORDER = ("mismatch", "unverified", "allowed", "explained", "verified")
WINDOWS = os.name == "nt"


class Misuse(Exception):
    """An input that cannot be understood, or a Python that cannot be used."""


def words(text, windows=WINDOWS):
    """Words as a shell takes them, over any number of lines, of which those that begin with # are remarks.

    On Windows a backslash stands in paths, and quotes nothing.

    Raises:
        Misuse: a quote is not closed.
    """
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    reader = shlex.shlex("\n".join(lines), posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    if windows:
        reader.escape = ""
    try:
        return list(reader)
    except ValueError as error:
        raise Misuse(f"{str(error).lower()}: {json.dumps(text)}") from None


def expanded(models):
    """Models with patterns such as checkpoints/* replaced by the folders that match, or else by the files.

    What exists by that very name, or matches nothing, is left as it is.
    """
    for model in models:
        found = [] if os.path.lexists(model) or not re.search(r"[*?\[]", model) else glob.glob(model, recursive=True)
        folders = [path for path in found if os.path.isdir(path)]
        yield from sorted(folders or found) or [model]


def script(environment, name, windows=WINDOWS):
    """The path of a command in a virtual environment."""
    return os.path.join(environment, "Scripts", name + ".exe") if windows else os.path.join(environment, "bin", name)


def source():
    """What pip installs: the requirement beside this file, or else the source around the action."""
    if not os.path.exists(SOURCE):
        return HOME
    with open(SOURCE, encoding="utf-8") as file:
        return file.read().strip()


def named():
    """The text that another version of hfcount or of its dependencies has changed."""
    path = SOURCE if os.path.exists(SOURCE) else os.path.join(HOME, "pyproject.toml")
    with open(path, "rb") as file:
        return file.read()


def digest():
    """What is installed: another one for another version of hfcount or its dependencies, or another Python."""
    facts = named(), HOME.encode(), sys.version.encode(), sys.executable.encode()
    return hashlib.sha256(b"\0".join(facts)).hexdigest()[:16]


def environment():
    """Where hfcount is installed, once a job."""
    return os.path.join(os.environ["RUNNER_TEMP"], "hfcount-" + digest())


def cache():
    """Where pip keeps what it downloads."""
    return os.path.join(os.environ["RUNNER_TEMP"], "hfcount-pip")


def install():
    """Installs hfcount, unless an earlier step of the job has.

    Raises:
        Misuse: this Python is too old.
        CalledProcessError: pip has failed, and has said why.
    """
    if sys.version_info < OLDEST:
        given = f"{sys.executable} is {platform.python_version()}"
        raise Misuse(f"hfcount needs Python 3.11 or later, and {given}. Leave out the input `python`, or name another.")
    place = environment()
    command = script(place, "hfcount")
    done = os.path.join(place, "installed")
    if not os.path.exists(done):
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [script(place, "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--cache-dir", cache(), source()], check=True)
        open(done, "w").close()
    append("GITHUB_PATH", os.path.dirname(command))
    return command


def append(variable, line):
    """Adds a line to one of the runner's files."""
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def outputs(report):
    """The outputs of the step, from the report, one JSON object a line; it is empty if hfcount could not begin."""
    with open(report, encoding="utf-8") as file:
        verdicts = [json.loads(line)["verdict"] for line in file if line.strip()]
    return {
        "verdict": next((name for name in ORDER if name in verdicts), "unverified"),
        "models": len(verdicts),
        "mismatches": verdicts.count("mismatch"),
        "report": report if verdicts else "",
    }


def write(values):
    """Sets outputs of the step."""
    for name, value in values.items():
        append("GITHUB_OUTPUT", f"{name}={value}")


def fail(text):
    """Annotates the step; no text can begin a command of its own."""
    print("::error title=hfcount::" + text.replace("%", "%25").replace("\n", "%0A").replace("##[", "#%23["), flush=True)


def prepare():
    """Sets where pip's cache is and its key."""
    wanted = hashlib.sha256(named()).hexdigest()[:16]
    system = "-".join((platform.system(), platform.machine(), platform.python_version())).lower()
    write({"cache": cache(), "key": f"hfcount-pip-{system}-{wanted}"})
    return 0


def verify():
    """Verifies the models; the exit code of hfcount."""
    handle, report = tempfile.mkstemp(".jsonl", "hfcount-", os.environ["RUNNER_TEMP"])
    os.close(handle)
    variables = dict(os.environ, PYTHONUTF8="1")
    if os.environ.get("SUMMARY", "true").lower() != "true":
        variables.pop("GITHUB_STEP_SUMMARY", None)
    try:
        given = words(os.environ.get("ARGUMENTS", ""))
        models = list(expanded(words(os.environ.get("MODELS", ""))))
        command = [install(), "--format", "github", "--output", "json:" + report, *given, "--", *models]
        code = subprocess.run(command, env=variables).returncode
    except Misuse as error:
        fail(str(error))
        code = 2
    except subprocess.CalledProcessError as error:
        fail(f"hfcount could not be installed: exit code {error.returncode} of pip or venv")
        code = 3
    write(outputs(report))
    return code


if __name__ == "__main__":
    sys.exit({"prepare": prepare, "verify": verify}[sys.argv[1]]())
