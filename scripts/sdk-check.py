#!/usr/bin/env python3
"""Runs the official Python SDKs of both providers against `bench mock-server`.

The mock server is our own reading of the providers' pages; the SDKs are theirs. What they send must be taken, what the
server answers must come out as the SDK's typed objects, and its errors as the SDK's typed exceptions.

    python3 scripts/sdk-check.py target/release/bench

The SDKs are installed at pinned versions into a temporary virtual environment (or into the folder named by --venv, which
is kept). Exit code 0: every check held; 1: one did not; 31: the SDKs cannot be installed.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import venv

PINS = ["anthropic==2.14.0", "openai==3.57.0"]

FAULTS = """
schema = 1
[[fault]]
kind = "rate-limited"
draws = ["rate-limited/sdk/1"]
tries = 1
wait_ms = 10
[[fault]]
kind = "rate-limited"
draws = ["always-limited/sdk/1"]
wait_ms = 10
[[fault]]
kind = "overloaded"
billed = false
draws = ["overloaded/sdk/1"]
[[fault]]
kind = "server-error"
billed = true
draws = ["server-error/sdk/1"]
[[fault]]
kind = "timeout"
billed = true
draws = ["timeout/sdk/1"]
[[fault]]
kind = "unauthorized"
draws = ["unauthorized/sdk/1"]
[[fault]]
kind = "not-found"
draws = ["not-found/sdk/1"]
[[fault]]
kind = "too-large"
draws = ["too-large/sdk/1"]
[[fault]]
kind = "reset"
billed = true
draws = ["reset/sdk/1"]
[[fault]]
kind = "slow-headers"
draws = ["slow/sdk/1"]
wait_ms = 3000
[[fault]]
kind = "refusal"
draws = ["refusal/sdk/1"]
[[fault]]
kind = "max-tokens"
draws = ["max-tokens/sdk/1"]
"""


def install(folder):
    """Makes the virtual environment where there is none; returns its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PINS])
    if done.returncode != 0:
        print(f"{', '.join(PINS)} cannot be installed: the check needs a package registry", file=sys.stderr)
        sys.exit(31)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=pathlib.Path, help="the binary")
    parser.add_argument("--venv", type=pathlib.Path, help="virtual environment to make or use, and to keep")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        sys.exit(check(arguments.bench.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        python = install(arguments.venv or pathlib.Path(folder) / "venv")
        sys.exit(subprocess.run([python, __file__, "--inside", str(arguments.bench)]).returncode)


class Checks:
    """Counts what held and what did not."""

    def __init__(self):
        self.failed = 0

    def that(self, fact, held, seen=""):
        self.failed += not held
        print(f"{'ok  ' if held else 'FAIL'} {fact}{'' if held else f': {seen!r}'}")

    def raises(self, fact, exception, call, status=None):
        try:
            seen = call()
        except exception as error:
            found = getattr(error, "status_code", None)
            self.that(fact, type(error) is exception and found == status, (type(error).__name__, found))
        except Exception as error:  # What else came is what the check reports.
            self.that(fact, False, error)
        else:
            self.that(fact, False, seen)


def check(bench):
    """Starts the server, runs both SDKs, stops the server."""
    import json

    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "faults.toml"
        ledger = pathlib.Path(folder) / "ledger.jsonl"
        script.write_text(FAULTS)
        utterance, tools = task_and_tools(bench)
        command = [bench, "mock-server", "--behaviour", "oracle", "--script", script, "--ledger", ledger]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            checks = Checks()
            check_anthropic(checks, url, utterance, tools)
            check_openai(checks, url, utterance, tools)
            lines = [json.loads(line) for line in ledger.read_text().splitlines()]
            lost = [line for line in lines if line.get("draw") == "reset/sdk/1"]
            checks.that(
                "three tries of each SDK at a reset after billing are billed",
                len(lost) == 6 and all(line["billed"] > 0 for line in lost),
                lost,
            )
        finally:
            server.terminate()
            server.wait()
    print(f"{checks.failed} checks failed" if checks.failed else "all checks held")
    return 1 if checks.failed else 0


def task_and_tools(bench):
    """A task of the suite that one call serves, and the raw tool list."""
    import json

    def product(*arguments):
        return subprocess.run([bench, *arguments], check=True, capture_output=True, text=True).stdout

    tasks = (json.loads(line) for line in product("tasks").splitlines())
    task = next(task for task in tasks if task["tool"] == "git_log")
    return task["utterance"], json.loads(product("surface", "--arm", "raw"))["tools"]


def check_anthropic(checks, url, utterance, tools):
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key="sk-test")
    once = client.with_options(max_retries=0)
    model = "claude-haiku-4-5-20251001"
    user = {"role": "user", "content": utterance}

    def ask(client=client, draw=None, **fields):
        headers = {"x-bench-draw": f"{draw}/sdk/1"} if draw else {}
        request = {"model": model, "max_tokens": 1024, "tools": tools, "messages": [user], **fields}
        return client.messages.create(**request, extra_headers=headers)

    print(f"anthropic {anthropic.__version__}")
    reply = ask(system=[{"type": "text", "text": "Use the tools.", "cache_control": {"type": "ephemeral"}}])
    calls = [block for block in reply.content if block.type == "tool_use"]
    checks.that("a call comes as a tool_use block", len(calls) == 1 and isinstance(calls[0].input, dict), reply)
    checks.that("the stop reason is tool_use", reply.stop_reason == "tool_use", reply.stop_reason)
    checks.that("the prefix is written to the cache", reply.usage.cache_creation_input_tokens > 4096, reply.usage)
    checks.that("the request id is in the response", (reply._request_id or "").startswith("req_"), reply._request_id)
    result = {"type": "tool_result", "tool_use_id": calls[0].id, "content": [{"type": "text", "text": "3 commits"}]}
    turn = {"role": "assistant", "content": reply.content}
    done = ask(messages=[user, turn, {"role": "user", "content": [result]}])
    checks.that("the turn behind the result ends in text", done.stop_reason == "end_turn", done)
    raised = lambda **fields: lambda: ask(client=once, **fields)
    checks.raises("a missing result is refused", anthropic.BadRequestError, raised(messages=[user, turn, user]), 400)
    checks.raises("streaming is refused", anthropic.BadRequestError, raised(stream=True), 400)
    checks.raises("an unknown model is not found", anthropic.NotFoundError, raised(model="claude-haiku-4.5"), 404)
    checks.raises("a bad tool name is refused", anthropic.BadRequestError,
                  raised(tools=[{"name": "a.b", "input_schema": {"type": "object"}}]), 400)
    count = client.messages.count_tokens(model=model, tools=tools, messages=[user])
    paid = ask().usage
    total = paid.input_tokens + paid.cache_creation_input_tokens + paid.cache_read_input_tokens
    checks.that("a count is what is billed", count.input_tokens == total, (count, paid))
    ids = [listed.id for listed in client.models.list()]
    checks.that("models are listed", model in ids, ids)
    about = client.models.retrieve("claude-haiku-4-5")
    checks.that("an alias is found", about.id == model, about)
    checks.raises("a retired model is not found", anthropic.NotFoundError,
                  lambda: client.models.retrieve("claude-opus-4-1-20250805"), 404)
    checks.that("a rate limit is retried", ask(draw="rate-limited").stop_reason == "tool_use")
    checks.raises("a rate limit is typed", anthropic.RateLimitError, raised(draw="always-limited"), 429)
    checks.raises("a bad key is typed", anthropic.AuthenticationError, raised(draw="unauthorized"), 401)
    checks.raises("not found is typed", anthropic.NotFoundError, raised(draw="not-found"), 404)
    checks.raises("too large is typed, HTML or not", getattr(anthropic, "RequestTooLargeError", anthropic.APIStatusError),
                  raised(draw="too-large"), 413)
    overloaded = getattr(anthropic._exceptions, "OverloadedError", anthropic.InternalServerError)
    checks.raises("an overload is typed", overloaded, raised(draw="overloaded"), 529)
    checks.raises("a server error is typed", anthropic.InternalServerError, raised(draw="server-error"), 500)
    deadline = getattr(anthropic._exceptions, "DeadlineExceededError", anthropic.InternalServerError)
    checks.raises("a gateway's time-out is typed", deadline, raised(draw="timeout"), 504)
    checks.raises("a reset is a connection error", anthropic.APIConnectionError, lambda: ask(draw="reset"))
    checks.raises("a late reply is a time-out", anthropic.APITimeoutError,
                  lambda: ask(client=client.with_options(timeout=0.5, max_retries=0), draw="slow"))
    refusal = ask(draw="refusal")
    checks.that("a refusal has no content", refusal.stop_reason == "refusal" and refusal.content == [], refusal)
    checks.that("a cut turn says so", ask(draw="max-tokens").stop_reason == "max_tokens")


def check_openai(checks, url, utterance, tools):
    import json

    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-test")
    once = client.with_options(max_retries=0)
    functions = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool["input_schema"],
            },
        }
        for tool in tools
    ]
    user = {"role": "user", "content": utterance}

    def ask(client=client, draw=None, **fields):
        headers = {"x-bench-draw": f"{draw}/sdk/1"} if draw else {}
        request = {"model": "gpt-5-mini", "max_completion_tokens": 1024, "tools": functions, "messages": [user], **fields}
        return client.chat.completions.create(**request, extra_headers=headers)

    print(f"openai {openai.__version__}")
    reply = ask(tool_choice="auto", parallel_tool_calls=True, service_tier="default")
    message = reply.choices[0].message
    call = message.tool_calls[0]
    checks.that("a call comes as a tool call", isinstance(json.loads(call.function.arguments), dict), reply)
    checks.that("the finish reason is tool_calls", reply.choices[0].finish_reason == "tool_calls", reply)
    checks.that("the request id is in the response", (reply._request_id or "").startswith("req_"), reply._request_id)
    done = ask(messages=[user, message, {"role": "tool", "tool_call_id": call.id, "content": "3 commits"}])
    checks.that("the turn behind the result ends in text", done.choices[0].finish_reason == "stop", done)
    cached = done.usage.prompt_tokens_details.cached_tokens
    checks.that("what is cached is part of the prompt", 0 < cached < done.usage.prompt_tokens, done.usage)
    raised = lambda **fields: lambda: ask(client=once, **fields)
    checks.raises("a missing result is refused", openai.BadRequestError, raised(messages=[user, message, user]), 400)
    checks.raises("streaming is refused", openai.BadRequestError, raised(stream=True), 400)
    checks.raises("an unknown model is not found", openai.NotFoundError, raised(model="gpt-5-mni"), 404)
    checks.raises("a temperature that is not 1 is refused", openai.BadRequestError, raised(temperature=0), 400)
    ids = [listed.id for listed in client.models.list()]
    checks.that("models are listed", "gpt-5-mini" in ids, ids)
    checks.that("a model is found", client.models.retrieve("gpt-5-mini").id == "gpt-5-mini")
    checks.raises("an unknown one is not", openai.NotFoundError, lambda: client.models.retrieve("gpt-5-mni"), 404)
    checks.that("a rate limit is retried", bool(ask(draw="rate-limited").choices))
    checks.raises("a rate limit is typed", openai.RateLimitError, raised(draw="always-limited"), 429)
    checks.raises("a bad key is typed", openai.AuthenticationError, raised(draw="unauthorized"), 401)
    checks.raises("not found is typed", openai.NotFoundError, raised(draw="not-found"), 404)
    checks.raises("too large is a status error", openai.APIStatusError, raised(draw="too-large"), 413)
    checks.raises("an overload is a server error", openai.InternalServerError, raised(draw="overloaded"), 503)
    checks.raises("a server error is typed", openai.InternalServerError, raised(draw="server-error"), 500)
    checks.raises("a reset is a connection error", openai.APIConnectionError, lambda: ask(draw="reset"))
    checks.raises("a late reply is a time-out", openai.APITimeoutError,
                  lambda: ask(client=client.with_options(timeout=0.5, max_retries=0), draw="slow"))
    refusal = ask(draw="refusal").choices[0].message
    checks.that("a refusal has its own field", bool(refusal.refusal) and refusal.content is None, refusal)
    checks.that("a cut turn says so", ask(draw="max-tokens").choices[0].finish_reason == "length")


if __name__ == "__main__":
    main()
