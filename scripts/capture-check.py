#!/usr/bin/env python3
"""Captures the eight reference servers again and compares the bytes with the vendored catalogs.

Opt-in (it needs npm, pip and their registries): installs the versions that tasks/catalogs/index.toml names into a
temporary folder, runs `bench catalog capture` on each, and says per server `same` or `differs` and where. Exit code 0:
all are the same; 1: one differs; 2: something that is needed is missing.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CATALOGS = ROOT / "tasks" / "catalogs"


def need(program: str) -> None:
    if shutil.which(program) is None:
        print(f"capture-check needs {program}; install it and try again", file=sys.stderr)
        sys.exit(2)


def run(arguments: list, **options) -> None:
    done = subprocess.run([str(word) for word in arguments], capture_output=True, text=True, **options)
    if done.returncode != 0:
        said = done.stderr[-2000:] or done.stdout[-2000:]
        print(f"{' '.join(map(str, arguments))} failed with {done.returncode}:\n{said}", file=sys.stderr)
        sys.exit(2)


def install(servers: list, folder: pathlib.Path) -> None:
    """One prefix for npm, and one virtual environment per Python server, since their dependencies may disagree."""
    npm = [f"{server['package']}@{server['version']}" for server in servers if server["registry"] == "npm"]
    if npm:
        run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder / "npm", *npm])
    for server in servers:
        if server["registry"] == "pypi":
            home = folder / server["server"]
            run([sys.executable, "-m", "venv", home])
            run([home / "bin" / "pip", "install", "--quiet", f"{server['package']}=={server['version']}"])


def command(server: dict, folder: pathlib.Path) -> list:
    """The recorded command with the installed program in the launcher's place, and a folder that exists."""
    words = server["command"].split()
    arguments = words[words.index(server["package"]) + 1 :]
    arguments = [str(folder / "demo") if word == "/srv/demo" else word for word in arguments]
    if server["registry"] == "pypi":
        return [str(folder / server["server"] / "bin" / server["package"]), *arguments]
    manifest = json.loads((folder / "npm" / "node_modules" / server["package"] / "package.json").read_text())
    names = manifest["bin"] if isinstance(manifest["bin"], dict) else {server["package"].split("/")[-1]: None}
    return [str(folder / "npm" / "node_modules" / ".bin" / next(iter(names))), *arguments]


def first_difference(ours: bytes, theirs: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    start = max(0, at - 30)
    return f"byte {at}: vendored {theirs[start : at + 30]!r}, captured {ours[start : at + 30]!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="bench", help="the bench binary")
    parser.add_argument("--only", help="only this server")
    options = parser.parse_args()
    index = tomllib.loads((CATALOGS / "index.toml").read_text())
    servers = [server for server in index["servers"] if options.only in (None, server["server"])]
    registries = {server["registry"] for server in servers}
    if not servers:
        print(f"there is no server {options.only} in {CATALOGS / 'index.toml'}", file=sys.stderr)
        sys.exit(2)
    for program in [*(["npm", "node"] if "npm" in registries else []), "git", options.bench]:
        need(program)
    bench = str(pathlib.Path(shutil.which(options.bench)).resolve())
    differing = 0
    with tempfile.TemporaryDirectory(prefix="bench-capture-") as name:
        folder = pathlib.Path(name)
        (folder / "demo").mkdir()
        run(["git", "init", "--quiet", folder / "demo"])
        install(servers, folder)
        for server in servers:
            environment = os.environ | dict(pair.split("=", 1) for pair in server["env"])
            out = folder / f"{server['server']}.json"
            capture = [bench, "catalog", "capture", "--timeout", "120", "--out", out, "--", *command(server, folder)]
            run(capture, env=environment)
            ours, theirs = out.read_bytes(), (CATALOGS / f"{server['server']}.json").read_bytes()
            version = f"{server['package']} {server['version']}"
            if ours == theirs:
                print(f"same     {server['server']:<20} {version}, {len(ours)} bytes, sha256 {hashlib.sha256(ours).hexdigest()}")
            else:
                differing += 1
                print(f"differs  {server['server']:<20} {version}: {first_difference(ours, theirs)}")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
