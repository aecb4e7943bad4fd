"""The page about locks: every command prints what it shows, and every field is described.

`PYTHONPATH=tests:tests/support python tests/docs/test_lock_page.py` writes that anew.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from damaged import FIRST, says, sound
from forking import Forks
from paths import ROOT

from hfcount.diffing.locks.model import FileChange, LockCheck, LockedTensor
from hfcount.diffing.locks.statement import PREDICATE, SCHEMA
from hfcount.report.part import as_json

PAGE = ROOT / "hfcount" / "docs" / "lock.md"
BLOCK = re.compile(r"```console\n\$ (.+)\n((?:.*\n)*?)```")


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of each command, run one after the other."""
    sound(folder / "my-checkpoint")
    (folder / "my-checkpoint" / "README.md").write_text("# My checkpoint\n")
    tampered = shutil.copytree(folder / "my-checkpoint", folder / "tampered")
    says(rope_theta=500000.0)(tampered)
    raw = (tampered / FIRST).read_bytes()
    (tampered / FIRST).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    (tampered / "modeling_mine.py").write_text("import os\n")
    (tampered / "README.md").write_text("# Yours\n")
    return BLOCK.sub(
        lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks, int('./tampered' in block[1]))}```",
        text,
    )


def output(command: str, folder: Path, forks: Forks, code: int) -> str:
    """What a command prints that ends with this exit code."""
    name, *given = shlex.split(command)
    assert name == "hfcount"
    ended, out, err = forks.run(given, folder, os.environ, 600)
    assert (ended, err) == (code, "")
    return out


def test_every_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert generated(text, tmp_path, _forks) == text
    lock = json.loads((tmp_path / "hfcount.lock").read_text())
    shown = set(re.findall(r"`(?:predicate\.)?(\w+)`", text))
    assert set(lock) - {"_type", "predicate"} | set(lock["predicate"]) <= shown
    assert {key for row in lock["predicate"]["tensors"] for key in row} <= shown


def test_every_field_of_json_is_described() -> None:
    shown = set(re.findall(r"`(\w+)`", PAGE.read_text().partition("## JSON")[2]))
    fields = {*as_json(LockCheck(model="", lock="", agrees=None, depth=""))}
    assert fields | {*FileChange._fields} | {*LockedTensor._fields} <= shown
    assert f"`{PREDICATE}{SCHEMA}`" in PAGE.read_text()


def test_the_workflow_holds_the_folder_against_the_lock() -> None:
    workflow, _ = yaml_blocks()
    command = "hfcount verify --locked hfcount.lock ./my-checkpoint"
    assert workflow["jobs"]["locked"]["steps"][-1]["run"] == command


def test_the_hook_holds_the_folder_against_the_lock(tmp_path: Path, _forks: Forks) -> None:
    """As pre-commit runs it: the entry, then the args; its own are for a repository that is the checkpoint."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (hook,) = (hook for hook in hooks if hook["id"] == "hfcount-locked")
    _, used = yaml_blocks()
    assert hook["pass_filenames"] is False
    folder = sound(tmp_path / "my-checkpoint")
    for args, place in ((used["repos"][0]["hooks"][0]["args"], tmp_path), (hook["args"], folder)):
        name, *words = shlex.split(hook["entry"])
        assert name == "hfcount"
        assert _forks.run(["lock", args[1]], place, os.environ, 600)[0] == 0
        assert _forks.run([*words, *args], place, os.environ, 600)[0] == 0
    says(rope_theta=5.0)(folder)
    assert _forks.run([*words, *args], place, os.environ, 600)[0] == 1


def yaml_blocks() -> list[Any]:
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)]


# What signs a lock


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _forks: Forks) -> Path:
    """A folder with a lock and keys, in which the page's commands are run."""
    sound(tmp_path / "my-checkpoint")
    assert _forks.run(["lock", "./my-checkpoint"], tmp_path, os.environ, 600)[0] == 0
    monkeypatch.chdir(tmp_path)
    return tmp_path


def signing(program: str) -> list[str]:
    """The page's commands of a program: the one that signs, and the one that verifies."""
    lines = [line for text in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL) for line in text.splitlines()]
    return [line for line in lines if line.startswith(f"{program} ")]


def shell(command: str) -> int:
    return subprocess.run(["sh", "-c", command], capture_output=True, check=False).returncode


def is_refused_when_changed(folder: Path, verify: str) -> bool:
    """Whether a signature of the lock holds, and no longer does when one word of the lock is another."""
    holds = shell(verify) == 0
    lock = folder / "hfcount.lock"
    lock.write_text(lock.read_text().replace('"verified"', '"explained"', 1))
    return holds and shell(verify) != 0


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH is not installed")
def test_openssh_signs_a_lock(signed: Path) -> None:
    assert shell("ssh-keygen -q -t ed25519 -N '' -f id_ed25519") == 0
    (signed / "allowed_signers").write_text(f"me@example.org {(signed / 'id_ed25519.pub').read_text()}")
    sign, verify = signing("ssh-keygen")
    assert shell(sign) == 0
    assert is_refused_when_changed(signed, verify)


@pytest.mark.long
def test_model_signing_signs_a_lock(signed: Path, _forks: Forks) -> None:
    pytest.importorskip("model_signing", reason="pip install model-signing pyopenssl")
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = ec.generate_private_key(ec.SECP256R1())
    Path("key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    Path("key.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    sign, verify = (
        line.replace("model_signing", f"{sys.executable} -m model_signing") for line in signing("model_signing")
    )
    assert shell(sign) == 0
    shutil.copy("hfcount.lock", "my-checkpoint/hfcount.lock")
    folder = [
        line.replace("hfcount.lock", "my-checkpoint", 1).replace("hfcount.lock", "my-checkpoint/model")
        for line in (sign, verify)
    ]
    assert [shell(line) for line in folder] == [0, 0]
    words = ["verify", "--locked", "my-checkpoint/hfcount.lock", "my-checkpoint"]
    code, out, _ = _forks.run(words, signed, os.environ, 600)
    assert (code, "added model.sig, which no loader of models reads" in out) == (0, True)
    assert is_refused_when_changed(signed, verify)


def test_a_lock_is_a_statement_for_the_library_of_in_toto(signed: Path) -> None:
    statements = pytest.importorskip("in_toto_attestation.v1.statement", reason="pip install in-toto-attestation")
    from google.protobuf import json_format
    from in_toto_attestation.v1 import statement_pb2

    raw = (signed / "hfcount.lock").read_bytes()
    message = json_format.Parse(raw, statement_pb2.Statement())
    statements.Statement.copy_from_pb(message).validate()
    assert json.loads(json_format.MessageToJson(message)) == json.loads(raw)


@pytest.mark.long
def test_a_lock_is_signed_in_an_envelope(signed: Path) -> None:
    dsse = pytest.importorskip("securesystemslib.dsse", reason="pip install securesystemslib[crypto]")
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import CryptoSigner

    raw = (signed / "hfcount.lock").read_bytes()
    signer = CryptoSigner.generate_ed25519()
    envelope = dsse.Envelope(raw, "application/vnd.in-toto+json", {})
    envelope.sign(signer)
    kept = json.loads(json.dumps(envelope.to_dict()))
    assert dsse.Envelope.from_dict(kept).verify([signer.public_key], 1)
    other = dsse.Envelope(raw.replace(b"verified", b"mismatch"), "application/vnd.in-toto+json", envelope.signatures)
    with pytest.raises(VerificationError):
        other.verify([signer.public_key], 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(generated(PAGE.read_text(), Path(folder), Forks()))
