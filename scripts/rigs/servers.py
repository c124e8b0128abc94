"""Servers as processes, and people who ask them: what scripts/storm, scripts/memory and the drills of scripts/ops are made of."""

import contextlib
import json
import math
import os
import pathlib
import pwd
import random
import signal
import socket
import sqlite3
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import uuid

# No proxy of the environment: everything here is on this machine.
NO_PROXY = urllib.request.ProxyHandler({})
DIRECT = urllib.request.build_opener(NO_PROXY)
ADMIN = ("root", "739154")
GIVEN = set()


def trusting(authority):
    """Opens addresses over TLS whose certificate this authority signed."""
    context = ssl.create_default_context(cafile=str(authority))
    return urllib.request.build_opener(NO_PROXY, urllib.request.HTTPSHandler(context=context))


def free_port():
    """Below those that Linux gives to connections, and no port twice: a server that is started later, or once more, has it still."""
    while True:
        port = random.SystemRandom().randint(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
            if port not in GIVEN:
                GIVEN.add(port)
                return port


def wait_for(what, ready, seconds=120, pause=0.05):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            found = ready()
            if found:
                return found
        time.sleep(pause)
    raise SystemExit(f"{what} did not come within {seconds} s")


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


class Client:
    """Calls as one person; every answer of 5xx but 503 is kept as wrong."""

    wrong = []
    # Seconds of asking again and again, after which nobody is waited for any more.
    patience = math.inf

    def __init__(self, server, username=ADMIN[0], pin=ADMIN[1]):
        self.server, self.who, self.token = server, (username, pin), None

    def once(self, method, path, body=None, key=None, token=True):
        request = urllib.request.Request(f"{self.server.url}/api/v1{path}", method=method)
        if token and self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        if key:
            request.add_header("Idempotency-Key", key)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with self.server.opener.open(request, timeout=40) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code >= 500 and error.code != 503:
                self.wrong.append(f"{method} {path}: {error.code} {text}")
            raise Refused(error.code, json.loads(text) if text.startswith("{") else {"code": text[:80]}) from None

    def sign_in(self):
        body = {"username": self.who[0], "pin": self.who[1]}
        self.token = self.once("POST", "/auth/login", body, token=False)["data"]["accessToken"]

    def until_answered(self, method, path, body=None, key=None):
        """Again and again until there is an answer for good; `(answer, refusal, tries)`."""
        tries, end = 0, time.monotonic() + self.patience
        while time.monotonic() < end:
            tries += 1
            try:
                if not self.token:
                    self.sign_in()
                return self.once(method, path, body, key), None, tries
            except Refused as refusal:
                if refusal.status == 401:
                    self.token = None
                elif refusal.status not in (408, 425, 429, 503) and refusal.body.get("code") != "in_progress":
                    return None, refusal, tries
            except (OSError, ValueError):
                pass
            time.sleep(random.uniform(0.02, 0.25))
        raise TimeoutError(f"{method} {path} had no answer for good within {self.patience:.0f} s")

    def do(self, method, path, body=None):
        answer, refusal, _ = self.until_answered(method, path, body)
        if refusal:
            raise refusal
        return answer["data"] if answer else None


class Server:
    """A server as a process that is killed and started again in the same place; with the file of an authority it speaks TLS."""

    def __init__(self, binary, kind, directory, environment, authority=None):
        self.kind, self.directory, self.port = kind, directory, free_port()
        self.url = f"https://localhost:{self.port}" if authority else f"http://127.0.0.1:{self.port}"
        self.opener = trusting(authority) if authority else DIRECT
        directory.mkdir(exist_ok=True)
        self.command = [binary, kind, "--data-dir", directory, "--listen", f"127.0.0.1:{self.port}"]
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.environment = base | {"LEAVE_SECONDS": "0", "RUST_LOG": "info"} | environment
        self.start()

    def start(self):
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log)

    def is_up(self):
        if self.process.poll() is not None:
            self.start()
        with contextlib.suppress(urllib.error.HTTPError), self.opener.open(f"{self.url}/ready", timeout=5):
            return True
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)

    def panics(self):
        return [line for line in (self.directory / "log").read_text(errors="replace").splitlines() if "panicked" in line]


class Postgres:
    """A durable PostgreSQL of this run."""

    NAME = "chain"

    def __init__(self, directory):
        versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.bin, self.directory, self.port = versions[-1], directory, free_port()
        self.prefix = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            directory.mkdir()
            os.chown(directory, user.pw_uid, user.pw_gid)
            self.prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        run = [*self.prefix, self.bin / "initdb", "-D", directory, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8"]
        subprocess.run(run, check=True, capture_output=True, cwd="/")
        self.start()
        try:
            wait_for("PostgreSQL", self.is_up)
            self.sql(f"CREATE DATABASE {self.NAME}", "postgres")
        except BaseException:
            # Nobody has it yet who could end it.
            self.kill()
            raise
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/{self.NAME}"

    def start(self):
        run = [*self.prefix, self.bin / "postgres", "-D", self.directory, "-p", str(self.port), "-k", self.directory]
        with (self.directory.parent / "postgres.log").open("ab") as log:
            self.process = subprocess.Popen(run, stdout=log, stderr=log, cwd="/")

    def is_up(self):
        # What was killed leaves its children for a moment, and no second one may start beside them.
        if self.process.poll() is not None:
            self.start()
        self.sql("SELECT 1", "postgres")
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)

    def sql(self, text, database=None):
        run = ["psql", "-XAtq", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        done = subprocess.run([*run, "-d", database or self.NAME, "-c", text], check=True, capture_output=True, text=True)
        return [tuple(line.split("\x1f")) for line in done.stdout.splitlines()]


def plain(value):
    """A value of a file as the other database writes it."""
    if isinstance(value, bytes):
        return str(uuid.UUID(bytes=value))
    return "" if value is None else str(value)


class File:
    """An SQLite database, read after its server has ended."""

    def __init__(self, path):
        self.conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def sql(self, text):
        return [tuple(plain(value) for value in row) for row in self.conn.execute(text)]
