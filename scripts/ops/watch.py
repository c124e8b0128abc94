"""Alerts and board on a real Prometheus beside a chain at work: the demo with its tills, and headquarters on PostgreSQL with a
broker and a certificate."""

import contextlib
import json
import shutil
import subprocess
import time
import urllib.parse

from containers import port, spawn
from files import alerts, expressions, made_secrets
from kit import asked, environment, is_ready, need, stopped, until
from rigs.servers import Postgres

# As long as series are looked at, so that rates have begun: three of its looks.
BEHIND = "20s"


def at_work(run):
    """The demo, and one server that has what the demo has not."""
    folder = run.directory / "watch"
    folder.mkdir()
    run.targets = {"tillkeep-hq": [], "tillkeep-store": []}
    with (folder / "demo.log").open("ab") as log:
        command = [run.binary, "demo", "--stores", "2", "--data-dir", folder / "demo", "--pace", "60"]
        demo = subprocess.Popen(command, env=environment(HOME=folder), stdout=log, stderr=log)
    run.at_end(lambda: stopped(demo))
    secrets, nats, run.https, run.figures = made_secrets(run), port(), port(), port()
    postgres = Postgres(folder / "postgres")
    run.at_end(lambda: postgres.process.poll() is None and postgres.kill())
    spawn(run, [shutil.which("nats-server") or "/usr/sbin/nats-server", "-js", "-sd", folder / "nats", "-a", "127.0.0.1", "-p", nats], folder / "nats.log")
    # Certificate and key of one file, which the balancer wants so.
    variables = {
        "DATABASE_URL": postgres.url,
        "NATS_URL": f"nats://127.0.0.1:{nats}",
        "METRICS_LISTEN": f"127.0.0.1:{run.figures}",
        "TLS_CERT": secrets / "hq.pem",
        "TLS_KEY": secrets / "hq.pem",
        "LEAVE_SECONDS": "0",
        "ADMIN_USERNAME": "root",
        "ADMIN_PIN": "739154",
    }
    with (folder / "hq.log").open("ab") as log:
        command = [run.binary, "hq", "--data-dir", folder / "hq", "--listen", f"127.0.0.1:{run.https}"]
        run.second = subprocess.Popen(command, env=environment(**variables), stdout=log, stderr=log)
    run.at_end(lambda: run.second.poll() is None and run.second.kill())
    until("headquarters on PostgreSQL", is_ready(f"https://localhost:{run.https}", secrets / "hq.crt"))
    for name, job in (("hq", "tillkeep-hq"), ("s01", "tillkeep-store"), ("s02", "tillkeep-store")):
        file = folder / "demo" / name / "address"
        url = until(f"{name} of the demo", lambda file=file: file.exists() and file.read_text().strip(), 180)
        until(f"{name} of the demo, ready", is_ready(url))
        run.targets[job].append(url.split("//")[1])
    return f"the demo with {len(run.targets['tillkeep-store'])} stores; headquarters on PostgreSQL with NATS and TLS"


def configured(run, folder):
    """deploy/prometheus with addresses of this machine, and short pauses."""
    shutil.copytree(run.root / "deploy/prometheus", folder)
    exporters = {"node": port(), "blackbox": port()}
    nodes = ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporters['node']}"]
    probes = ["prometheus-blackbox-exporter", f"--web.listen-address=127.0.0.1:{exporters['blackbox']}", f"--config.file={folder}/blackbox.yml"]
    for command in (nodes, probes):
        spawn(run, command, run.directory / f"{command[0]}.log")
    text = (folder / "prometheus.yml").read_text()
    own = [*run.targets["tillkeep-hq"]]
    for there, here in (
        ("scrape_interval: 15s", "scrape_interval: 2s"),
        ("evaluation_interval: 15s", "evaluation_interval: 2s"),
        ('["hq1:9090", "hq2:9090"]', json.dumps([f"127.0.0.1:{run.figures}"])),
        ('["node-exporter:9100"]', json.dumps([f"127.0.0.1:{exporters['node']}"])),
        ('["haproxy:443"]', json.dumps([f"localhost:{run.https}"])),
        ("replacement: blackbox:9115", f"replacement: 127.0.0.1:{exporters['blackbox']}"),
        ('["haproxy:8404"]', "[]"),
        ("  # Headquarters says how each store", f"      - targets: {json.dumps(own)}\n\n  # Headquarters says how each store"),
        ("  - job_name: haproxy", f"  - job_name: tillkeep-store\n    static_configs:\n      - targets: {json.dumps(run.targets['tillkeep-store'])}\n\n  - job_name: haproxy"),
    ):
        need(there in text, f"{there} is not in prometheus.yml")
        text = text.replace(there, here, 1)
    (folder / "prometheus.yml").write_text(text)


def scraped(run):
    folder, run.prometheus = run.directory / "prometheus", f"http://127.0.0.1:{port()}"
    configured(run, folder)
    address = run.prometheus.split("//")[1]
    options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
    spawn(run, ["prometheus", *options], run.directory / "prometheus.log")
    until("Prometheus", lambda: asked(f"{run.prometheus}/-/ready")[0] == 200)

    def all_up():
        targets = got(run, "targets")["activeTargets"]
        return len(targets) >= 6 and all(target["health"] == "up" for target in targets) and targets

    with contextlib.suppress(Exception):
        until("all targets", all_up, 40)
    targets = got(run, "targets")["activeTargets"]
    bad = [f"{target['scrapeUrl']}: {target['lastError']}" for target in targets if target["health"] != "up"]
    need(not bad and len(targets) >= 6, f"not scraped: {bad}")
    return f"{len(targets)} targets, every one is up"


def got(run, path, **asking):
    status, text = asked(f"{run.prometheus}/api/v1/{path}?{urllib.parse.urlencode(asking)}", timeout=20)
    said = json.loads(text)
    need(status == 200 and said["status"] == "success", f"{asking.get('query', path)}: {said.get('error', text[:200])}")
    return said["data"]


def value(run, expr):
    return got(run, "query", query=expr.replace("$__rate_interval", BEHIND))["result"]


def board(run):
    """No query of the board is wrong, and none is empty."""
    queries, end, empty = expressions(run), time.monotonic() + 60, []
    while True:
        empty = [f"{title}: {expr}" for title, expr in queries if not value(run, expr)]
        if not empty or time.monotonic() > end:
            break
        time.sleep(2)
    need(not empty, f"{len(empty)} of {len(queries)} queries are empty: {empty}")
    return f"{len(queries)} queries, each with an answer"


def judged(run):
    """Prometheus takes every alert, and every expression can be answered."""
    rules = [rule for group in got(run, "rules")["groups"] for rule in group["rules"]]
    wrong = [f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}" for rule in rules if rule["health"] != "ok"]
    need(not wrong, f"not evaluated: {wrong}")
    need({rule["name"] for rule in rules} == alerts(run).keys(), "Prometheus has other alerts")
    true = sorted(name for name, rule in alerts(run).items() if value(run, rule["expr"]))
    # A chain that is well: nothing but what this run leaves out, backups, and the disk of this machine.
    others = [name for name in true if name not in ("TillkeepBackupMissing", "TillkeepDiskNearlyFull")]
    need(not others, f"a chain that is well has {others}")
    return f"{len(rules)} alerts, each evaluated; true of a chain that is well: {', '.join(true) or 'none'}"


def down(run):
    """One that is seen to come."""
    expr = alerts(run)["TillkeepServerDown"]["expr"]
    run.second.kill()
    run.second.wait()
    until("the alert of a server that is down", lambda: value(run, expr), 20)
    until("its alert", lambda: state(run, "TillkeepServerDown") == "pending", 20)
    return "a server that is killed is seen within seconds, and its alert waits for two minutes"


def state(run, name):
    return next(rule["state"] for group in got(run, "rules")["groups"] for rule in group["rules"] if rule["name"] == name)


STEPS = [
    ("a chain at work", at_work),
    ("Prometheus scrapes it", scraped),
    ("the board", board),
    ("the alerts", judged),
    ("a server is killed", down),
]
