"""The servers of the image and the compose files, without containers: the same environment, arguments, user and read-only root,
with addresses of this machine in place of those of a network of containers."""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time

from files import TOLD, made_secrets
from kit import asked, called, environment, is_ready, need, stopped, until, yaml
from rigs.servers import Postgres, free_port

# Of the image; no such user has to be there.
USER = 10001
# Volumes that the servers of a chain have together.
SHARED = ("keys", "backups")


def image(run):
    """Variables, entry point, arguments and health check of the image."""
    recipe = (run.root / "deploy/Dockerfile").read_text().replace("\\\n", " ")
    last = recipe[recipe.rindex("\nFROM "):]
    variables = dict(re.findall(r"(\w+)=(\S+)", re.search(r"^ENV (.*)", last, re.MULTILINE).group(1)))
    word = {name: json.loads(re.search(rf"^{name} (\[.*\])$", last, re.MULTILINE).group(1)) for name in ("ENTRYPOINT", "CMD")}
    health = json.loads(re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", last, re.MULTILINE).group(1))
    need(f"--uid {USER} " in last and "\nUSER tillkeep\n" in last, "the image has another user")
    return variables, word["ENTRYPOINT"], word["CMD"], health


def substituted(value):
    """${NAME:-default} as Compose reads it where nothing is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))


def started(run, name, service, variables, changed):
    """One service: its environment over that of the image, `changed` over both; text pairs of `moved` are put in their place."""
    data = run.directory / name
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    everything = variables | {key: substituted(value) for key, value in (service.get("environment") or {}).items()} | {"DATA_DIR": str(data)} | changed
    need(service["read_only"] and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"], f"{name} may do more than it has to")
    settings = run.root / "deploy/hq.toml"
    words = [str(settings) if word == "/etc/tillkeep/tillkeep.toml" else word for word in service["command"]]
    program = run.directory / "tillkeep"
    if not program.exists():
        shutil.copy(run.binary, program)
        shutil.copy(settings, run.directory / "hq.toml")
    words = [str(run.directory / "hq.toml") if word == str(settings) else word for word in words]
    # What may be written there: its data, the temporary directory, and keys that servers share.
    writable = [data, *(path for path in (run.directory / name for name in SHARED) if path.exists())]
    binds = " && ".join(f"mount --bind {path} {path}" for path in writable)
    inside = (
        f"{binds} && mount -o remount,bind,ro / && exec setpriv --reuid={USER} --regid={USER} --clear-groups --bounding-set=-all "
        f"--inh-caps=-all --no-new-privs {program} {' '.join(words)}"
    )
    with (run.directory / f"{name}.log").open("ab") as log:
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside]
        process = subprocess.Popen(command, env=environment(**everything), stdout=log, stderr=log, cwd="/")
    run.at_end(lambda: process.poll() is None and process.kill())
    return process, everything


def log_of(run, name):
    return (run.directory / f"{name}.log").read_text(errors="replace")[-700:]


def healthy(run, health, variables):
    """The health check, as the user of the image."""
    command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *health]
    return subprocess.run(command, env=environment(**variables), capture_output=True, timeout=10).returncode == 0


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)([sm])", text).groups()
    return int(number) * {"s": 1, "m": 60}[unit]


def alone(run):
    """deploy/compose.yaml."""
    variables, entry, command, health = image(run)
    service = yaml(run.root / "deploy/compose.yaml")["services"]["hq"]
    need(entry == ["tillkeep"] and service["command"] == command, "the image runs something else by itself")
    address = f"0.0.0.0:{free_port()}"
    server, everything = started(run, "alone", service, variables, {"TILLKEEP_LISTEN": address})
    need(not healthy(run, health, everything) or server.poll() is None, "healthy without a server")
    until(f"headquarters ({log_of(run, 'alone')})", is_ready(f"http://{address.replace('0.0.0.0', '127.0.0.1')}"))
    need(healthy(run, health, everything), "the health check does not say so")
    need(re.search(r"admin +PIN \d+", (run.directory / "alone.log").read_text()), "its log has no PIN of admin")
    need(stopped(server, seconds(service["stop_grace_period"])) == 0, f"it did not end with 0: {log_of(run, 'alone')}")
    need(not healthy(run, health, everything), "healthy after its end")
    return "starts as another user on a root that is read only, is healthy, says a PIN once, ends with 0"


def chain(run):
    """deploy/compose.chain.yaml: PostgreSQL, NATS, two servers and the balancer, asked over TLS."""
    variables, _, _, health = image(run)
    services, secrets = yaml(run.root / "deploy/compose.chain.yaml")["services"], made_secrets(run)
    folder = run.directory / "chain"
    folder.mkdir()
    postgres = Postgres(folder / "postgres")
    run.at_end(lambda: postgres.process.poll() is None and postgres.kill())
    password = (secrets / "postgres-password").read_text().strip()
    postgres.sql(f"CREATE ROLE tillkeep LOGIN PASSWORD '{password}'", "postgres")
    postgres.sql("CREATE DATABASE tillkeep OWNER tillkeep TEMPLATE template0 ENCODING 'UTF8'", "postgres")
    nats = free_port()
    broker = (secrets / "nats.conf").read_text().replace("0.0.0.0:4222", f"127.0.0.1:{nats}").replace("/data", str(folder / "nats"))
    (folder / "nats.conf").write_text(broker)
    spawn(run, [shutil.which("nats-server") or "/usr/sbin/nats-server", "--config", folder / "nats.conf"], folder / "nats.log")
    for name in SHARED:
        (run.directory / name).mkdir(mode=0o700)
        os.chown(run.directory / name, USER, USER)
    given = dict(line.split("=", 1) for line in (secrets / "hq.env").read_text().splitlines())
    given["DATABASE_URL"] = given["DATABASE_URL"].replace("@postgres:5432", f"@127.0.0.1:{postgres.port}")
    given["NATS_URL"] = given["NATS_URL"].replace("@nats:4222", f"@127.0.0.1:{nats}")
    pin = run.directory / "admin-pin"
    shutil.copy(secrets / "admin-pin", pin)
    pin.chmod(0o644)
    ports, running = {}, {}
    for name in ("hq1", "hq2"):
        ports[name], figures = free_port(), free_port()
        changed = given | {
            "TILLKEEP_LISTEN": f"127.0.0.1:{ports[name]}",
            "METRICS_LISTEN": f"127.0.0.1:{figures}",
            "TILLKEEP_PIN_KEY_FILE": str(run.directory / "keys/pin.key"),
            "TRUSTED_PROXIES": "127.0.0.1",
            "BACKUP_DIRECTORY": str(run.directory / "backups"),
            # The first is due when the database is that old.
            "BACKUP_EVERY": "1m",
        }
        if "ADMIN_PIN_FILE" in services[name]["environment"]:
            changed["ADMIN_PIN_FILE"] = str(pin)
        running[name], everything = started(run, name, services[name], variables, changed)
        until(f"{name} ({log_of(run, name)})", lambda name=name: healthy(run, health, everything), 60)
        until(f"{name}, ready", is_ready(f"http://127.0.0.1:{ports[name]}"))
        need("tillkeep_broker_up 1" in asked(f"http://127.0.0.1:{figures}/metrics")[1], f"{name} has no broker: {log_of(run, name)}")
    front = free_port()
    rules = (run.root / "deploy/haproxy/haproxy.cfg").read_text()
    for there, here in (
        ("maxconn 20000", "maxconn 1000"),
        ("bind :443", f"bind 127.0.0.1:{front}"),
        ("bind :8404", f"bind 127.0.0.1:{free_port()}"),
        ("/run/secrets", str(secrets)),
        ("/usr/local/etc/haproxy", str(run.root / "deploy/haproxy")),
        ("hq1:8080", f"127.0.0.1:{ports['hq1']}"),
        ("hq2:8080", f"127.0.0.1:{ports['hq2']}"),
    ):
        need(there in rules, f"{there} is not in haproxy.cfg")
        rules = rules.replace(there, here)
    (folder / "haproxy.cfg").write_text(rules)
    spawn(run, [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", folder / "haproxy.cfg"], folder / "haproxy.log")
    url, trusted = f"https://localhost:{front}", secrets / "hq.crt"
    until("the balancer", is_ready(url, trusted), 30)
    body = {"username": "root", "pin": pin.read_text().strip()}
    status, text = asked(f"{url}/api/v1/auth/login", body, trusted=trusted)
    need(status == 200, f"root cannot sign in: {status} {text[:200]}")
    bearer = {"Authorization": f"Bearer {json.loads(text)['data']['accessToken']}"}
    # Whichever server is asked, the token and the PIN are good.
    for _ in range(4):
        need(asked(f"{url}/api/v1/auth/me", headers=bearer, trusted=trusted)[0] == 200, "a server does not know a token of the other")
    shop = json.loads(asked(f"{url}/api/v1/stores", {"code": "S01", "name": "Shop"}, bearer, trusted)[1])["data"]["id"]
    told = json.loads(asked(f"{url}/api/v1/stores/{shop}/provision", {}, bearer, trusted)[1])["data"]
    need("HQ_URL=https://localhost" in told["env"], f"stores are told another address: {told['env'][-80:]}")
    dumped = until("a dump of PostgreSQL", lambda: list((run.directory / "backups").glob("hq-*.dump")), 150)
    called([run.binary, "backup", "check", dumped[0]])
    running["hq1"].kill()
    running["hq1"].wait()
    until("the other server", lambda: asked(f"{url}/api/v1/auth/me", headers=bearer, trusted=trusted)[0] == 200, 10)
    need(stopped(running["hq2"], seconds(services["hq2"]["stop_grace_period"])) == 0, f"hq2 did not end with 0: {log_of(run, 'hq2')}")
    status, text = asked(f"{url}/ready", trusted=trusted)
    need(status == 503 and json.loads(text)["code"] == "unavailable", f"without a server the balancer answers {status} {text[:100]}")
    return (
        "two servers with one key behind HAProxy over TLS, and a dump that can be read; one is killed, the other goes on; without both 503 "
        "as documented"
    )


def told(run):
    """Alertmanager with the configuration that make-secrets makes: what Prometheus tells it comes to the address, and its end too."""
    came = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
    run.at_end(receiver.shutdown)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    folder, address = run.directory / "alertmanager", f"127.0.0.1:{free_port()}"
    folder.mkdir()
    text = (made_secrets(run) / "alertmanager.yml").read_text()
    for there, here in (
        (TOLD, f"http://127.0.0.1:{receiver.server_port}/told"),
        ("group_wait: 30s", "group_wait: 1s"),
        ("group_interval: 5m", "group_interval: 1s"),
    ):
        need(there in text, f"{there} is not in alertmanager.yml")
        text = text.replace(there, here)
    (folder / "alertmanager.yml").write_text(text)
    options = [f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}", f"--web.listen-address={address}", "--cluster.listen-address="]
    spawn(run, ["prometheus-alertmanager", *options], run.directory / "alertmanager.log")
    until("Alertmanager", lambda: asked(f"http://{address}/-/ready")[0] == 200, 30)

    def tell(**more):
        names = {severity: {"labels": {"alertname": f"Tried{severity}", "severity": severity}} for severity in ("page", "ticket")}
        status, said = asked(f"http://{address}/api/v2/alerts", [alert | more for alert in names.values()])
        need(status == 200, f"Alertmanager answers {status}: {said[:200]}")

    def came_as(state):
        found = {alert["labels"]["severity"] for post in came for alert in post["alerts"] if alert["status"] == state}
        return found == {"page", "ticket"}

    tell()
    until("posts of both alerts", lambda: came_as("firing"), 30)
    tell(endsAt=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    until("posts of their end", lambda: came_as("resolved"), 30)
    return "an alert of either severity, and its end, come to the address that was named"


def spawn(run, command, log):
    with log.open("ab") as file:
        process = subprocess.Popen([str(word) for word in command], stdout=file, stderr=file)
    run.at_end(lambda: process.poll() is None and stopped(process, 20))
    return process


STEPS = [("headquarters alone", alone), ("two servers", chain), ("alerts reach somebody", told)]
