"""The files of deploy/ as far as they can be judged without running anything of Tillkeep."""

import json
import pathlib
import re
import shutil
import sys

from kit import anchors, called, need, yaml

LINKS = "https://github.com/tillkeep/tillkeep/blob/main/docs/"
# Who hears of alerts in the secrets that are made here.
TOLD = "http://127.0.0.1:9/told"


def scripts(run):
    """Every shell script of the project, by shellcheck."""
    listed = called(["git", "ls-files", "-z"], cwd=run.root).split("\0")
    paths = [run.root / name for name in listed if name]
    shells = [path for path in paths if path.is_file() and path.read_bytes()[:32].startswith((b"#!/usr/bin/env bash", b"#!/bin/sh"))]
    need(len(shells) > 8, f"only {len(shells)} scripts were found")
    called(["shellcheck", "--severity=warning", *shells], cwd=run.root)
    return f"{len(shells)} scripts by shellcheck, no warning"


def schemas(run):
    """Compose files and workflow against the schemas of their makers, which check-jsonschema has inside."""
    check = pathlib.Path(sys.executable).parent / "check-jsonschema"
    for schema, paths in (
        ("vendor.compose-spec", sorted((run.root / "deploy").glob("compose*.yaml"))),
        ("vendor.github-workflows", sorted((run.root / ".github/workflows").glob("*.yml"))),
    ):
        need(paths, f"nothing for {schema}")
        called([check, "--builtin-schema", schema, *paths])
    return "compose files fit compose-spec, workflows that of GitHub; no Docker was asked"


def pinned(run):
    """The image is built by the versions that everything else is built by."""
    recipe = (run.root / "deploy/Dockerfile").read_text()
    rust = re.search(r'channel = "(.*)"', (run.root / "rust-toolchain.toml").read_text()).group(1)
    node = re.search(r"^NODE=(.*)$", (run.root / "scripts/setup").read_text(), re.MULTILINE).group(1)
    for name, version in (("RUST", rust), ("NODE", node)):
        need(f"ARG {name}={version}\n" in recipe, f"deploy/Dockerfile has another {name} than {version}")
    for line in re.findall(r"^COPY (?!--from)(.*)", recipe, re.MULTILINE):
        for path in line.split()[:-1]:
            need((run.root / path).exists(), f"deploy/Dockerfile copies {path}, which is not there")
    for line in (run.root / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            need((run.root / line[1:]).exists(), f".dockerignore lets {line[1:]} in, which is not there")
    for path in sorted((run.root / "deploy").glob("compose*.yaml")):
        for name, service in yaml(path)["services"].items():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                need(not source.startswith("./") or (path.parent / source).exists(), f"{path.name}: {name} mounts {source}")
    return f"Rust {rust} and Node {node} as everywhere; what is copied and mounted is there"


def networks(run):
    """Who posts to others has a network that leads outside, servers publish no port, and the balancer comes from the network that they
    trust. Whom Prometheus asks and tells, it reaches."""
    posting = []
    for path in sorted((run.root / "deploy").glob("compose*.yaml")):
        file = yaml(path)
        services, given = file["services"], file.get("networks", {"default": {}})
        inner = {name for name, about in given.items() if (about or {}).get("internal")}
        of = {name: set(service.get("networks", ["default"])) for name, service in services.items()}
        for name, service in services.items():
            need(of[name] <= given.keys(), f"{path.name}: {name} is in a network that is not there")
            is_hq = service.get("command", [])[-1:] == ["hq"]
            if is_hq or "alertmanager" in service["image"]:
                need(of[name] - inner, f"{path.name}: {name} posts to others, and its networks lead nowhere: {sorted(of[name])}")
                posting.append(name)
            need(not service.get("ports") or of[name] - inner, f"{path.name}: {name} publishes a port, and its networks lead nowhere")
            if is_hq and "haproxy" in services:
                shared = of[name] & of["haproxy"]
                need("ports" not in service, f"{path.name}: {name} can be asked past the balancer")
                need(len(shared) == 1, f"{path.name}: {name} and haproxy share {sorted(shared)}")
                subnet = given[shared.pop()]["ipam"]["config"][0]["subnet"]
                need(service["environment"]["TRUSTED_PROXIES"] == subnet, f"{path.name}: {name} trusts another network than that of haproxy")
        if "prometheus" in services:
            asks = set(re.findall(r'"([a-z0-9-]+):\d+"', (run.root / "deploy/prometheus/prometheus.yml").read_text()))
            unknown = sorted(name for name in asks if not of.get(name, set()) & of["prometheus"])
            need({"alertmanager", "hq1", "hq2"} <= asks and not unknown, f"Prometheus asks {sorted(asks)}, and does not reach {unknown}")
    return f"{', '.join(posting)} have a way outside; no server is asked past the balancer"


def dumps(run):
    """PostgreSQL of the chain is backed up: by servers with an interval, a place that is kept, and a program that is new enough."""
    file = yaml(run.root / "deploy/compose.chain.yaml")
    recipe = (run.root / "deploy/Dockerfile").read_text()
    server = int(re.search(r"postgres:(\d+)", file["services"]["postgres"]["image"]).group(1))
    client = int(re.search(r"^ARG POSTGRESQL=(\d+)$", recipe, re.MULTILINE).group(1))
    need("postgresql-client-${POSTGRESQL}" in recipe[recipe.rindex("\nFROM ") :], "the image has no pg_dump")
    need(client >= server, f"the image has pg_dump of PostgreSQL {client}, and the server is {server}")
    for name in ("hq1", "hq2"):
        service = file["services"][name]
        about, kept = service["environment"], {volume.split(":")[1]: volume.split(":")[0] for volume in service["volumes"]}
        need("BACKUP_EVERY" in about, f"{name} makes no dumps")
        place = about["BACKUP_DIRECTORY"]
        need(kept.get(place) in file["volumes"], f"dumps of {name} go to {place}, which is no volume")
        need(f" {place}" in recipe[recipe.index("install --directory") :].split("\n")[0], f"{place} does not belong to the user of the image")
    return f"pg_dump of {client} for PostgreSQL {server}, into a volume"


def balancer(run):
    """The configuration of HAProxy: sound, and word by word that of docs/operations.md but for addresses."""
    folder = run.directory / "haproxy"
    shutil.copytree(run.root / "deploy/haproxy", folder)
    secrets = made_secrets(run)
    text = (folder / "haproxy.cfg").read_text()
    text = text.replace("/usr/local/etc/haproxy", str(folder)).replace("/run/secrets", str(secrets))
    (folder / "checked.cfg").write_text(text)
    called([shutil.which("haproxy") or "/usr/sbin/haproxy", "-c", "-f", folder / "checked.cfg"])
    page = (run.root / "docs/operations.md").read_text().split("\n## A balancer\n")[1].split("\n## ")[0]
    shown, away = page.split("```\n")[1], page.split("```\n")[3]
    ours = {line.strip() for line in (folder / "haproxy.cfg").read_text().splitlines()}
    others = re.compile(r"\s*(server |bind |errorfile )")
    missing = [line for line in shown.splitlines() if line.strip() and not others.match(line) and line.strip() not in ours]
    need(not missing, f"deploy/haproxy/haproxy.cfg lacks {missing}")
    need((folder / "away.http").read_text().split() == away.split(), "away.http is another one than that of docs/operations.md")
    return "sound by haproxy -c, and as docs/operations.md shows it"


def made_secrets(run):
    """deploy/make-secrets in a copy, once."""
    copy = run.directory / "secrets-of"
    if not copy.exists():
        shutil.copytree(run.root / "deploy", copy, ignore=shutil.ignore_patterns("secrets"))
        called([copy / "make-secrets", "localhost", TOLD])
    return copy / "secrets"


def secrets(run):
    """make-secrets makes everything that compose.chain.yaml names, keeps others out, and changes nothing the second time."""
    made = made_secrets(run)
    chain = yaml(run.root / "deploy/compose.chain.yaml")
    named = [secret["file"] for secret in chain["secrets"].values()]
    named += [name for service in chain["services"].values() for name in service.get("env_file", [])]
    for name in named:
        need((made.parent / name).is_file(), f"deploy/make-secrets makes no {name}")
    need(made.stat().st_mode & 0o077 == 0, "others may look into deploy/secrets")
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    called([made.parent / "make-secrets", "localhost"])
    need(before == {path.name: path.read_bytes() for path in made.iterdir()}, "a second run changes secrets")
    need((run.root / "deploy/.gitignore").read_text() == "/secrets\n", "deploy/secrets could be checked in")
    called(["openssl", "verify", "-CAfile", made / "hq.crt", "-verify_hostname", "localhost", made / "hq.pem"])
    # Beside a folder for its store that may be written here.
    called(["amtool", "check-config", made / "alertmanager.yml"])
    need(TOLD in (made / "alertmanager.yml").read_text(), "alerts do not go to the address that was named")
    nobody = run.directory / "told-nobody"
    shutil.copytree(run.root / "deploy", nobody, ignore=shutil.ignore_patterns("secrets"))
    need("tells nobody" in called([nobody / "make-secrets", "localhost"]), "make-secrets does not say that nobody is told of alerts")
    called(["amtool", "check-config", nobody / "secrets/alertmanager.yml"])
    nats = (made / "nats.conf").read_text().replace("/data", str(run.directory / "nats-data"))
    (run.directory / "nats.conf").write_text(nats)
    called([shutil.which("nats-server") or "/usr/sbin/nats-server", "--config", run.directory / "nats.conf", "-t"])
    return f"{len(before)} files, for their owner alone, the same after a second run; certificate and NATS configuration are sound"


def rules(run):
    """Alerts and what scrapes: sound, and each alert comes and goes in its tests."""
    folder = run.root / "deploy/prometheus"
    called(["promtool", "check", "config", folder / "prometheus.yml"])
    called(["promtool", "check", "rules", folder / "alerts.yml"])
    called(["promtool", "test", "rules", folder / "alerts.test.yml"])
    blackbox = shutil.which("prometheus-blackbox-exporter")
    called([blackbox, "--config.file", folder / "blackbox.yml", "--config.check"])
    shown = {}
    for test in yaml(folder / "alerts.test.yml")["tests"]:
        for alert in test.get("alert_rule_test", []):
            shown.setdefault(alert["alertname"], set()).add(bool(alert.get("exp_alerts")))
    names = alerts(run)
    wrong = sorted(name for name in names if shown.get(name) != {True, False})
    need(not wrong, f"alerts.test.yml does not show both that {wrong} fire and that they do not")
    need(shown.keys() == names.keys(), f"alerts.test.yml has {sorted(shown.keys() - names.keys())}, which are no alerts")
    return f"{len(names)} alerts, each shown to fire and to be quiet"


def alerts(run):
    groups = yaml(run.root / "deploy/prometheus/alerts.yml")["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def expressions(run):
    """Every query of the board, with the title of its panel."""
    board = json.loads((run.root / "deploy/grafana/tillkeep.json").read_text())
    return [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]


def names(run):
    """What alerts and board ask for is counted by the program, and what an alert says leads somewhere."""
    sources = "".join(path.read_text() for path in (run.root / "crates").glob("*/src/**/*.rs"))
    asked = [rule["expr"] for rule in alerts(run).values()] + [text for _, text in expressions(run)]
    metrics = {name for text in asked for name in re.findall(r"\btillkeep_\w+", text)}
    known = {name for name in metrics if f'"{re.sub("_(bucket|sum|count)$", "", name)}"' in sources}
    need(metrics == known, f"the program counts no {sorted(metrics - known)}")
    page = (run.root / "docs/operations.md").read_text()
    section = page.split("\n## Alerts\n")[1].split("\n## ")[0]
    places = set(anchors(run.root / "docs/operations.md"))
    for name, rule in alerts(run).items():
        said = rule["annotations"]
        need(said.keys() == {"summary", "remedy", "runbook_url"}, f"{name} says {sorted(said)}")
        need(rule["labels"]["severity"] in ("page", "ticket"), f"{name} has another severity")
        need(f"| `{name}` |" in section, f"docs/operations.md, Alerts, has no row of {name}")
        file, place = said["runbook_url"].removeprefix(LINKS).split("#")
        need(file == "operations.md" and place in places, f"{name} leads to {said['runbook_url']}, which is not there")
    rows = set(re.findall(r"^\| `(Tillkeep\w+)` \|", section, re.MULTILINE))
    need(rows == alerts(run).keys(), f"docs/operations.md has rows of {sorted(rows - alerts(run).keys())}")
    return f"{len(metrics)} metrics, all counted; {len(rows)} alerts with a row and a link that are there"


def others(run):
    """What else is there to be read by a machine."""
    read = 0
    for path in [*(run.root / "deploy").rglob("*"), *(run.root / ".github").rglob("*")]:
        if path.suffix in (".yaml", ".yml"):
            yaml(path)
            read += 1
        elif path.suffix == ".json":
            json.loads(path.read_text())
            read += 1
    board = json.loads((run.root / "deploy/grafana/tillkeep.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    need(len(ids) == len(set(ids)), "panels of the board share an id")
    flags = {"--dev", "--pace"}
    for path in (run.root / "deploy").rglob("*"):
        if path.is_file():
            text = path.read_text(errors="replace")
            need(not any(flag in text for flag in flags), f"{path} starts a server for tests")
    return f"{read} files of YAML and JSON can be read"


STEPS = [
    ("shell scripts", scripts),
    ("schemas", schemas),
    ("versions and paths of the image", pinned),
    ("networks of the Compose files", networks),
    ("dumps of the chain", dumps),
    ("secrets of the chain", secrets),
    ("the balancer", balancer),
    ("alerts and their tests", rules),
    ("metrics, links and docs of alerts", names),
    ("other files", others),
]
