"""What all steps use."""

import contextlib
import json
import os
import pathlib
import platform
import re
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from ruamel.yaml import YAML


class Wrong(Exception):
    """What a step found, in words for whoever reads the table."""


def need(is_so, text):
    if not is_so:
        raise Wrong(text)


def called(command, **more):
    """What a command printed; Wrong when it fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        raise Wrong(f"{' '.join(command[:6])} ended with {done.returncode}: {done.stdout.strip()[-1500:]}")
    return done.stdout


def yaml(path):
    """A file of YAML as plain values, what `<<` brings in too."""
    loader = YAML(typ="safe")
    return loader.load(pathlib.Path(path).read_text())


def stopped(process, within=60):
    """Asks a process to end, and says with what it did; kills what does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=within)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Wrong(f"{process.args[0]} did not end within {within} s") from None


def asked(url, body=None, headers=None, trusted=None, timeout=5):
    """Status and text of an answer, whatever it is; no proxy of the environment."""
    context = ssl.create_default_context(cafile=str(trusted)) if trusted else None
    handlers = [urllib.request.ProxyHandler({})] + ([urllib.request.HTTPSHandler(context=context)] if context else [])
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(), headers=headers or {})
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def until(what, ready, seconds=90, pause=0.1):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
            found = ready()
            if found:
                return found
        time.sleep(pause)
    raise Wrong(f"{what} did not come within {seconds} s")


def is_ready(url, trusted=None):
    return lambda: asked(f"{url}/ready", trusted=trusted)[0] == 200


def machine():
    """Where times were taken; of the kernel the first two numbers, for what follows them names who runs the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {kernel}"


def environment(**more):
    base = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return base | {name: str(value) for name, value in more.items()}


def anchors(page):
    """The places of a page of Markdown that links may name."""
    for line in pathlib.Path(page).read_text().splitlines():
        if re.match(r"#{1,6} ", line):
            words = line.lstrip("#").strip().lower().replace("`", "")
            yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
