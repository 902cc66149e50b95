#!/usr/bin/env python3
"""Compares the arms L0, L1 and L2 with the released package they describe, over every vendored catalog.

Each catalog is served by a replay server (this file, `--replay`), wrapped by `distil mcp wrap` in a home of its own, and
its tool list is compared with what `bench surface` prints for the same catalog alone: tools and their order, schemas,
descriptions, index lines, meta tools, sizes; and what fetching, calling and invoking a tool does. Every difference must be
explained by a row of EXPLANATIONS, and every row must explain one.

stdout is a Markdown report, stderr the talk. Needs only the standard library; the package goes into a temporary folder.
Exit codes: 0 all differences explained, 1 not so, 2 usage, 30 malformed input, 31 a runtime is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "distil-llm"
VERSION = "1.58.0"
WHEEL = "sha256:4f98a0f44a86077a20a76cc89f6500d74a990149f4c167ec347f763c870faca7"
LEVELS = ("L0", "L1", "L2")
# L1 over a catalog with one wordy tool more, so that no server is served at L0 and every summary is compared.
PADDED = "L1 padded"
PADDING = {
    "name": "zz_padding",
    "description": "Does nothing. " + "This sentence is here to be left out of a summary. " * 80,
    "inputSchema": {"type": "object"},
}
PROTOCOL = "2025-11-25"
# Sizes may differ by this share without a word: levels.md says "within a few percent".
SIZE_SHARE = 0.05
# Seconds that any one answer may take: much, since a loaded machine must not look like a difference.
PATIENCE = 300.0
OK, UNEXPLAINED, MALFORMED, RUNTIME_MISSING = 0, 1, 30, 31


class Stop(Exception):
    """Ends the run with a message and an exit code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Difference(NamedTuple):
    """One thing that the two sides do not do alike."""

    level: str
    kind: str
    place: str
    ours: Any
    theirs: Any


class Explanation(NamedTuple):
    """Why differences of one kind at one level are expected; `places` is a pattern that must match the whole place."""

    level: str
    kind: str
    places: str
    reason: str

    def covers(self, difference: Difference) -> bool:
        return (self.level, self.kind) == (difference.level, difference.kind) and bool(
            re.fullmatch(self.places, difference.place)
        )


EXPLANATIONS = (
    Explanation(
        "L1",
        "served level",
        "everything",
        "never larger than L0: theirs counts by a word heuristic, ours in o200k tokens, and L1 saves little on this server",
    ),
    Explanation("L1", "meta wording", r"[a-z-]+__get_tool_schema", "wording is ours"),
    Explanation(PADDED, "meta wording", r"[a-z-]+__get_tool_schema", "wording is ours"),
    Explanation("L2", "meta wording", r"[a-z-]+__(get_tool_schema|invoke_tool)", "wording is ours"),
    Explanation(
        "L2",
        "size",
        "fetch|sequential-thinking|time",
        "the wording alone (the rest is compared to the byte): a fixed saving, large beside an index of one or two lines",
    ),
)


# The replay server


def replay(catalog: Path) -> int:
    """Serves a captured catalog over stdio: its pages as sent, and an empty result for any call."""
    capture = read_catalog(catalog)
    pages = capture["tools_list_pages"]
    after = {page["nextCursor"]: number + 1 for number, page in enumerate(pages) if page.get("nextCursor")}
    outputs = {tool["name"]: "outputSchema" in tool for page in pages for tool in page["tools"]}
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method is None or "id" not in message:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            answer["result"] = {**capture["initialize"], "protocolVersion": params.get("protocolVersion", PROTOCOL)}
        elif method == "tools/list":
            answer["result"] = pages[after.get(params.get("cursor"), 0)]
        elif method == "tools/call":
            asked = json.dumps({"name": params.get("name"), "arguments": params.get("arguments")}, sort_keys=True)
            answer["result"] = {"content": [{"type": "text", "text": asked}]}
            if outputs.get(params.get("name")):
                answer["result"]["structuredContent"] = {}
        elif method in ("ping", "logging/setLevel"):
            answer["result"] = {}
        elif method in ("resources/list", "resources/templates/list", "prompts/list"):
            answer["result"] = {method.split("/")[-2] if method.count("/") == 1 else "resourceTemplates": []}
        else:
            answer["error"] = {"code": -32601, "message": f"method not found: {method}"}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    return OK


def read_catalog(path: Path) -> dict[str, Any]:
    """A captured catalog; says which file is broken where it is."""
    try:
        capture = json.loads(path.read_text(encoding="utf-8"))
        for page in capture["tools_list_pages"]:
            for tool in page["tools"]:
                if not isinstance(tool["name"], str):
                    raise TypeError("a tool's name is no string")
        if not isinstance(capture["initialize"], dict):
            raise TypeError("`initialize` is no object")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Stop(MALFORMED, f"catalog {path}: {type(error).__name__}: {error}") from error
    return capture


# The package under comparison


def install(folder: Path) -> Path:
    """Installs the pinned wheel into a fresh environment and returns its command."""
    python = folder / "venv" / "bin" / "python"
    run([sys.executable, "-m", "venv", str(folder / "venv")], "making a Python environment (is the venv module installed?)")
    pin = folder / "requirements.txt"
    pin.write_text(f"{PACKAGE}=={VERSION} --hash={WHEEL}\n", encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip += ["--only-binary", ":all:", "--require-hashes", "-r", str(pin)]
    run(pip, f"installing {PACKAGE} {VERSION} (is a package registry reachable?)")
    return folder / "venv" / "bin" / "distil"


def run(command: list[str], what: str) -> str:
    """Runs a step of the set-up and returns its output; its failure means that a runtime is missing."""
    print(f"{what.split(' (')[0]} …", file=sys.stderr)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Stop(RUNTIME_MISSING, f"{what}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise Stop(RUNTIME_MISSING, f"{what}: exit code {done.returncode}: {last}")
    return done.stdout.strip()


class Session:
    """A client's session with one wrapped server, in a home that nothing else uses."""

    def __init__(self, distil: Path, server: str, catalog: Path, level: str) -> None:
        self.what = f"{PACKAGE} over {server} at {level}"
        self.home = tempfile.TemporaryDirectory(prefix="differential-home-")
        home = self.home.name
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": home,
            "DISTIL_HOME": f"{home}/distil",
            "XDG_CONFIG_HOME": f"{home}/config",
            "XDG_CACHE_HOME": f"{home}/cache",
            "XDG_DATA_HOME": f"{home}/data",
            "LANG": "C.UTF-8",
        }
        command = [str(distil), "mcp", "wrap", "--name", server, "--level", level, "--"]
        command += [sys.executable, str(Path(__file__).resolve()), "--replay", str(catalog)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=home,
            text=True,
            encoding="utf-8",
        )
        self.inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.last_id = 0
        self.list_changes = 0

    def __enter__(self) -> Session:
        client = {"name": "differential", "version": "1"}
        self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.home.cleanup()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.inbox.put(json.loads(line))
            except ValueError:
                break
        self.inbox.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _next(self, seconds: float) -> dict[str, Any]:
        message = self.inbox.get(timeout=seconds)
        if message is None:
            raise Stop(UNEXPLAINED, f"{self.what}: ended its output, or wrote a line that is no JSON")
        if message.get("method") == "notifications/tools/list_changed":
            self.list_changes += 1
        return message

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; an error is a result with `error` in it."""
        self.last_id += 1
        try:
            self._send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
            while True:
                message = self._next(PATIENCE)
                if message.get("id") == self.last_id and "method" not in message:
                    return message.get("result", {"error": message.get("error")})
                if "id" in message and "method" in message:
                    refusal = {"code": -32601, "message": "method not found"}
                    self._send({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
        except queue.Empty:
            raise Stop(UNEXPLAINED, f"{self.what}: no answer to {method} in {PATIENCE:.0f} s") from None
        except OSError as error:
            raise Stop(UNEXPLAINED, f"{self.what}: {method}: {error}") from error

    def tools(self) -> list[dict[str, Any]]:
        """The tool list as it is now."""
        return self.request("tools/list", {}).get("tools", [])

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """The text of a call's answer."""
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return "".join(part.get("text", "") for part in result.get("content", []))

    def changes(self, wanted: int) -> int:
        """The list-changed notices so far, waiting a little for the wanted one: it may follow the answer."""
        try:
            while self.list_changes < wanted:
                self._next(PATIENCE / 10)
        except queue.Empty:
            pass
        return self.list_changes


# Both sides in one form: what a model is shown of a tool, under our names


class Names(NamedTuple):
    """One server's names: upstream ones in order, and theirs to ours."""

    server: str
    upstream: list[str]
    ours: dict[str, str]
    schema: str
    invoke: str


def names_of(bench: Path, folder: Path, server: str, capture: dict[str, Any]) -> Names:
    """Reads our names off the raw surface, which has the upstream order."""
    upstream = [tool["name"] for page in capture["tools_list_pages"] for tool in page["tools"]]
    shown = [tool["name"] for tool in surface(bench, folder, "raw")]
    if len(shown) != len(upstream):
        raise Stop(MALFORMED, f"catalog {server}: {len(upstream)} tools, but the raw surface has {len(shown)}")
    metas = {f"{server}_{suffix}": f"{server}__{suffix}" for suffix in ("get_tool_schema", "invoke_tool")}
    table = {**dict(zip(upstream, shown)), **metas}
    return Names(server, upstream, table, f"{server}_get_tool_schema", f"{server}_invoke_tool")


def surface(bench: Path, folder: Path, arm: str) -> list[dict[str, Any]]:
    """What `bench surface` prints for the catalogs of a folder."""
    command = [str(bench), "surface", "--arm", arm, "--catalogs", str(folder), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise Stop(MALFORMED, f"`bench surface --arm {arm}`: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)["tools"]


def model_view(tool: dict[str, Any], names: Names) -> dict[str, Any]:
    """Name, description and schema of a tool of theirs, under our name and in our order."""
    view = {"name": names.ours.get(tool["name"], tool["name"])}
    if "description" in tool:
        view["description"] = tool["description"]
    view["input_schema"] = tool["inputSchema"]
    return view


def size(value: Any) -> int:
    """Bytes of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def same(ours: Any, theirs: Any) -> bool:
    """Equality that also tells `1` from `true`, `1` from `1.0`, and one order of keys from another."""
    return json.dumps(ours) == json.dumps(theirs)


def parts(ours: Any, theirs: Any, pointer: str = "") -> list[tuple[str, Any, Any]]:
    """The smallest parts in which two schemas differ, by JSON Pointer."""
    if same(ours, theirs):
        return []
    if isinstance(ours, dict) and isinstance(theirs, dict) and list(ours) == list(theirs):
        escaped = {key: key.replace("~", "~0").replace("/", "~1") for key in ours}
        return [part for key in ours for part in parts(ours[key], theirs[key], f"{pointer}/{escaped[key]}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs))
        return [part for index, (a, b) in pairs for part in parts(a, b, f"{pointer}/{index}")]
    return [(pointer, ours, theirs)]


def signature(tool: dict[str, Any]) -> str:
    """`name(required, optional?)`, read off a tool's own definition."""
    schema = tool["inputSchema"]
    properties, required = schema.get("properties", {}), schema.get("required", [])
    arguments = [key if key in required else f"{key}?" for key in properties]
    arguments += [key for key in required if key not in properties]
    return f"{tool['name']}({', '.join(arguments)})"


def wordless(tools: list[dict[str, Any]], metas: tuple[str, ...]) -> list[dict[str, Any]]:
    """The tools with the first line, which is wording, taken off the meta tools' descriptions."""
    cut = {tool["name"]: tool["description"].partition("\n")[2] for tool in tools if tool["name"] in metas}
    return [{**tool, "description": cut[tool["name"]]} if tool["name"] in cut else tool for tool in tools]


# The comparison


class Comparison:
    """Collects what differs, and the sizes."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.sizes: list[tuple[str, str, int, int, int, str]] = []
        self.checks = 0

    def equal(self, level: str, kind: str, place: str, ours: Any, theirs: Any) -> None:
        """Notes a difference unless both are the same."""
        self.checks += 1
        if not same(ours, theirs):
            self.differences.append(Difference(level, kind, place, ours, theirs))

    def tool(self, level: str, kind: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        """Compares two tools of one name; `kind` is put before the kinds of what differs."""
        place = ours["name"]
        self.equal(level, f"{kind}description", place, ours.get("description"), theirs.get("description"))
        self.checks += 1
        for pointer, mine, other in parts(ours["input_schema"], theirs["input_schema"]):
            texts = isinstance(mine, str) and isinstance(other, str) and pointer.endswith("/description")
            what = "property description" if texts else "schema"
            self.differences.append(Difference(level, kind + what, place + pointer, mine, other))

    def level(self, level: str, names: Names, ours: list[dict[str, Any]], listed: list[dict[str, Any]]) -> bool:
        """Compares the lists at the start of a session; false where the two serve different levels."""
        theirs = [model_view(tool, names) for tool in listed]
        schema = names.ours[names.schema]
        asked = level.split(" ")[0]
        served = [asked if any(tool["name"] == schema for tool in side) else "L0" for side in (ours, theirs)]
        mine, other = size(ours), size(theirs)
        self.sizes.append((names.server, level, size(listed), other, mine, "/".join(dict.fromkeys(served))))
        self.equal(level, "served level", names.server, *served)
        if served[0] != served[1]:
            return False
        self.equal(level, "tools", names.server, [t["name"] for t in ours], [t["name"] for t in theirs])
        self.checks += 1
        if abs(mine / other - 1) > SIZE_SHARE:
            self.differences.append(Difference(level, "size", names.server, mine, other))
        metas = (schema, names.ours[names.invoke])
        self.equal(level, "size beside the wording", names.server, *(size(wordless(side, metas)) for side in (ours, theirs)))
        by_name = {tool["name"]: tool for tool in theirs}
        for tool in (tool for tool in ours if tool["name"] in by_name):
            if tool["name"] in metas:
                self.meta(level, tool, by_name[tool["name"]])
            else:
                self.tool(level, "", tool, by_name[tool["name"]])
        return True

    def meta(self, level: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        """Compares a meta tool: the schema, the wording, and the lines of an index."""
        self.equal(level, "meta schema", ours["name"], ours["input_schema"], theirs["input_schema"])
        wording, *lines = ours["description"].split("\n")
        their_wording, *their_lines = theirs["description"].split("\n")
        self.equal(level, "meta wording", ours["name"], wording, their_wording)
        self.equal(level, "index length", ours["name"], len(lines), len(their_lines))
        for line, other in zip(lines, their_lines):
            self.equal(level, "index line", f"{ours['name']}: {line.split('(')[0]}", line, other)

    def reply(self, level: str, names: Names, tool: dict[str, Any], lossless: dict[str, Any], text: str) -> None:
        """Compares their answer to a fetch with our L0 definition: signature, full description, schema."""
        place = lossless["name"]
        head = signature(tool) + (f": {lossless['description']}" if "description" in lossless else "")
        self.equal(level, "reply head", place, head, text[: len(head)])
        try:
            schema, end = json.JSONDecoder().raw_decode(text[len(head) :].lstrip("\n"))
            rest = text[len(head) :].lstrip("\n")[end:].strip()
        except ValueError:
            schema, rest = None, ""
        self.equal(level, "reply schema", place, lossless["input_schema"], schema)
        # Only a lazy level has something to say after the schema: where the tool now stands.
        self.equal(level, "reply note", place, level == "L2", f"`{tool['name']}`" in rest and names.invoke in rest)


def compare_server(comparison: Comparison, bench: Path, distil: Path, catalog: Path) -> None:
    """Compares one catalog at all levels, and padded at L1."""
    with tempfile.TemporaryDirectory(prefix="differential-catalog-") as folder:
        alone = Path(folder) / "alone"
        padded = Path(folder) / "padded"
        alone.mkdir()
        padded.mkdir()
        shutil.copy(catalog, alone)
        capture = read_catalog(catalog)
        capture["tools_list_pages"][-1]["tools"].append(PADDING)
        (padded / catalog.name).write_text(json.dumps(capture, ensure_ascii=False), encoding="utf-8")
        for level in LEVELS:
            compare_level(comparison, bench, distil, alone / catalog.name, level)
        compare_level(comparison, bench, distil, padded / catalog.name, PADDED)


def compare_level(comparison: Comparison, bench: Path, distil: Path, catalog: Path, level: str) -> None:
    """Compares a catalog, alone in its folder, at one level: the list, and what the meta tools answer and do."""
    server, arm, capture = catalog.stem, level.split(" ")[0], read_catalog(catalog)
    tools = [tool for page in capture["tools_list_pages"] for tool in page["tools"]]
    names = names_of(bench, catalog.parent, server, capture)
    lossless = {tool["name"]: tool for tool in surface(bench, catalog.parent, "L0")}
    with Session(distil, server, catalog, arm) as session:
        listed = session.tools()
        alike = comparison.level(level, names, surface(bench, catalog.parent, arm), listed)
        comparison.equal(level, "stable list", server, listed, session.tools())
        if not any(tool["name"] == names.schema for tool in listed):
            return
        if alike and level == "L2":
            unlocks(comparison, session, names, lossless, listed)
        for tool in tools:
            text = session.call(names.schema, {"tool_name": tool["name"]})
            comparison.reply(level, names, tool, lossless[names.ours[tool["name"]]], text)
        unknown = session.call(names.schema, {"tool_name": f"{tools[0]['name']}x"})
        close = unknown.partition("Did you mean: ")[2].rstrip("?").split(", ")
        found = [tools[0]["name"] in close, len(close) <= 3]
        comparison.equal(level, "close matches", server, [True, True], found)


def unlocks(
    comparison: Comparison, session: Session, names: Names, lossless: dict[str, Any], listed: list[dict[str, Any]]
) -> None:
    """Brings every tool out, by fetching, calling and invoking in turn: each must be appended in its L0 form."""
    for number, tool in enumerate(names.upstream):
        route = ("fetched", "called", "invoked")[number % 3]
        arguments = {"probe": number}
        if route == "fetched":
            session.call(names.schema, {"tool_name": tool})
        else:
            wrapped = {"tool_name": tool, "arguments": arguments}
            text = session.call(*((tool, arguments) if route == "called" else (names.invoke, wrapped)))
            sent = json.dumps({"name": tool, "arguments": arguments}, sort_keys=True)
            comparison.equal("L2", f"forwarded when {route}", names.ours[tool], sent, text)
        comparison.equal("L2", f"notice when {route}", names.ours[tool], number + 1, session.changes(number + 1))
        now = session.tools()
        comparison.equal("L2", f"list when {route}", names.ours[tool], listed, now[:-1])
        if now:
            comparison.equal("L2", f"appended when {route}", names.ours[tool], tool, now[-1]["name"])
            comparison.tool("L2", "unlocked ", lossless[names.ours[tool]], model_view(now[-1], names))
        listed = now


# The report


def report(comparison: Comparison, all_servers: bool) -> int:
    """Prints sizes and differences; the exit code."""
    print("| server | level | served | theirs, whole | theirs, shown | ours, shown | ours to theirs |")
    print("|---|---|---|--:|--:|--:|--:|")
    for server, level, whole, theirs, ours, served in comparison.sizes:
        print(f"| {server} | {level} | {served} | {whole:,} | {theirs:,} | {ours:,} | {(ours / theirs - 1) * 100:+.1f} % |")
    for level in (*LEVELS, PADDED):
        rows = [row for row in comparison.sizes if row[1] == level]
        whole, theirs, ours = (sum(row[column] for row in rows) for column in (2, 3, 4))
        print(f"| all | {level} | | {whole:,} | {theirs:,} | {ours:,} | {(ours / theirs - 1) * 100:+.1f} % |")
    print("\n| level | kind | differences | where | why |\n|---|---|--:|---|---|")
    stale = []
    for row in EXPLANATIONS:
        covered = [difference for difference in comparison.differences if row.covers(difference)]
        if covered:
            where = ", ".join(f"`{difference.place}`" for difference in covered[:3]) + (", …" if covered[3:] else "")
            print(f"| {row.level} | {row.kind} | {len(covered)} | {where} | {row.reason} |")
        else:
            stale.append(row)
    unexplained = [d for d in comparison.differences if not any(row.covers(d) for row in EXPLANATIONS)]
    for difference in unexplained:
        print(f"unexplained: {difference.level}, {difference.kind}, {difference.place}", file=sys.stderr)
        print(f"  ours:   {json.dumps(difference.ours, ensure_ascii=False)}", file=sys.stderr)
        print(f"  theirs: {json.dumps(difference.theirs, ensure_ascii=False)}", file=sys.stderr)
    explained = len(comparison.differences) - len(unexplained)
    print(f"\n{comparison.checks} checks, {explained} explained differences, {len(unexplained)} unexplained.")
    # Some of the servers need not show every difference that the table explains.
    for row in stale if all_servers else []:
        print(f"explains nothing any more: {row.level}, {row.kind}, {row.places}", file=sys.stderr)
    return UNEXPLAINED if unexplained or (stale and all_servers) else OK


def default_bench() -> Path:
    """Where a release build of this workspace puts the binary."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "bench"


def main() -> int:
    parser = argparse.ArgumentParser(description=f"Compares L0, L1 and L2 with {PACKAGE} {VERSION}.")
    parser.add_argument("--bench", type=Path, default=default_bench(), help="the binary (default: the release build)")
    parser.add_argument("--catalogs", type=Path, default=ROOT / "tasks" / "catalogs", help="folder of catalogs")
    parser.add_argument("--distil", type=Path, help=f"an installed `distil` {VERSION} (default: install it)")
    parser.add_argument("--server", action="append", help="only this server; may be repeated")
    parser.add_argument("--replay", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        if options.replay:
            return replay(options.replay)
        if not os.access(options.bench, os.X_OK):
            raise Stop(RUNTIME_MISSING, f"no binary at {options.bench}: run `cargo build --release`, or give --bench")
        files = sorted(options.catalogs.glob("*.json"))
        files = [file for file in files if file.name != "index.json"]
        chosen = [file for file in files if not options.server or file.stem in options.server]
        if not chosen:
            parser.error(f"no catalog of that name in {options.catalogs}")
        comparison = Comparison()
        with tempfile.TemporaryDirectory(prefix="differential-") as folder:
            distil = (options.distil or install(Path(folder))).absolute()
            found = run([str(distil), "--version"], "asking the package for its version")
            if found.split()[-1:] != [VERSION]:
                raise Stop(RUNTIME_MISSING, f"{distil} is `{found.partition(chr(10))[0]}`, but the comparison is with {PACKAGE} {VERSION}")
            ours = run([str(options.bench.resolve()), "--version"], "asking the binary for its version")
            print(f"{ours}, {PACKAGE} {VERSION}, Python {sys.version.split()[0]}\n")
            for file in chosen:
                print(f"comparing {file.stem} …", file=sys.stderr)
                compare_server(comparison, options.bench.resolve(), distil, file.resolve())
        return report(comparison, chosen == files)
    except Stop as stop:
        print(f"error: {stop}", file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
