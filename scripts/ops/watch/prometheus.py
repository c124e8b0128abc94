"""Prometheus with deploy/prometheus: the addresses of this machine, short pauses, and rules that wait for seconds."""

import json
import re
import shutil
import signal
import threading
import time
import urllib.parse

from containers import spawn
from kit import asked, need, until, yaml
from rigs.servers import free_port

# How often it looks, and how often it judges.
SCRAPE, JUDGE = "2s", "1s"
# What `for` is, and how far back a rule looks, where each is seen to fire and to end.
WAITS, LOOKS_BACK = "3s", "20s"
# What a rule says of how long something goes on already, in seconds.
GOES_ON = {"TillkeepStoreSilent": ("> 1800", "> 10"), "TillkeepStoreLost": ("> 86400", "> 20")}


class Prometheus:
    def __init__(self, run):
        self.run, self.folder, self.url = run, run.directory / "prometheus", f"http://127.0.0.1:{free_port()}"
        self.configured()
        # From where it stands, so that its pages name files without the place of this run.
        options = f"--config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address={self.url.split('//')[1]}"
        self.process = spawn(run, ["sh", "-c", f"cd '{self.folder}' && exec prometheus {options}"], run.directory / "prometheus.log")
        until("Prometheus", lambda: asked(f"{self.url}/-/ready")[0] == 200)

    def configured(self):
        """deploy/prometheus with addresses of this machine, and short pauses."""
        run, targets = self.run, self.run.site.targets()
        shutil.copytree(run.root / "deploy/prometheus", self.folder)
        exporters = {"node": free_port(), "blackbox": free_port()}
        nodes = ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporters['node']}"]
        probes = ["prometheus-blackbox-exporter", f"--web.listen-address=127.0.0.1:{exporters['blackbox']}", f"--config.file={self.folder}/blackbox.yml"]
        for command in (nodes, probes):
            spawn(run, command, run.directory / f"{command[0]}.log")
        stores = f"  - job_name: tillkeep-store\n    static_configs:\n      - targets: {json.dumps(targets['tillkeep-store'])}\n\n"
        text = (self.folder / "prometheus.yml").read_text()
        for there, here in (
            ("scrape_interval: 15s", f"scrape_interval: {SCRAPE}"),
            ("evaluation_interval: 15s", f"evaluation_interval: {JUDGE}"),
            ('["hq1:9090", "hq2:9090"]', json.dumps(targets["tillkeep-hq"])),
            ('["node-exporter:9100"]', json.dumps([f"127.0.0.1:{exporters['node']}"])),
            ('["haproxy:443"]', json.dumps([f"localhost:{run.site.front}"])),
            ("replacement: blackbox:9115", f"replacement: 127.0.0.1:{exporters['blackbox']}"),
            ('["haproxy:8404"]', json.dumps(targets["haproxy"])),
            ("  - job_name: haproxy", f"{stores}  - job_name: haproxy"),
        ):
            need(there in text, f"{there} is not in prometheus.yml")
            text = text.replace(there, here, 1)
        (self.folder / "prometheus.yml").write_text(text)

    def hurries(self):
        """From now on its rules are those of alerts.yml, but that each waits for seconds, and looks back for seconds."""
        rules = yaml(self.folder / "alerts.yml")
        for rule in (rule for group in rules["groups"] for rule in group["rules"]):
            there, here = GOES_ON.get(rule["alert"], ("", ""))
            need(there in rule["expr"], f"{rule['alert']} does not ask for {there}")
            expr = rule["expr"].replace(there, here) if there else rule["expr"]
            rule["expr"] = re.sub(r"(\[|offset )\d+[smhd]", rf"\g<1>{LOOKS_BACK}", expr)
            if "for" in rule:
                rule["for"] = WAITS
        # JSON is YAML.
        (self.folder / "alerts.yml").write_text(json.dumps(rules, indent=1))
        self.process.send_signal(signal.SIGHUP)

        def taken():
            found = [rule for group in self.got("rules")["groups"] for rule in group["rules"]]
            return all(rule.get("duration", 0) <= 3 and rule["health"] == "ok" for rule in found)

        until("the rules that wait for seconds", taken, 20)

    def got(self, path, **asking):
        status, text = asked(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(asking)}", timeout=20)
        said = json.loads(text)
        need(status == 200 and said["status"] == "success", f"{asking.get('query', path)}: {said.get('error', text[:200])}")
        return said["data"]

    def value(self, expr):
        return self.got("query", query=expr)["result"]

    def firing(self):
        return [alert["labels"] for alert in self.got("alerts")["alerts"] if alert["state"] == "firing"]


class Lookout:
    """Looks all the time which alerts fire, and remembers when it saw what."""

    PAUSE = 0.5

    def __init__(self, prometheus):
        self.prometheus, self.seen, self.over = prometheus, [], threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(self.PAUSE):
            try:
                self.seen.append((time.monotonic(), self.prometheus.firing()))
            except (OSError, ValueError):
                continue

    def end(self):
        self.over.set()
        self.thread.join()

    def fired(self, since, name, labels):
        """When it first saw this alert after `since`."""
        return next((at for at, fires in self.looks(since, name, labels) if fires), None)

    def fires_now(self, since, name, labels):
        """When it looked last, if this alert fired then."""
        looks = self.looks(since, name, labels)
        return looks[-1][0] if looks and looks[-1][1] else None

    def ended(self, since, name, labels):
        """When it first saw this alert no more after `since`, if it has not seen it again."""
        quiet = None
        for at, fires in self.looks(since, name, labels):
            quiet = None if fires else quiet or at
        return quiet

    def looks(self, since, name, labels):
        wanted = labels.items() | {("alertname", name)}
        return [(at, any(wanted <= one.items() for one in firing)) for at, firing in list(self.seen) if at > since]
