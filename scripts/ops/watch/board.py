"""Prometheus as deploy/prometheus has it scrapes the chain; the board of Grafana has its answers there, and no alert is true."""

import contextlib
import re
import time

from files import alerts, expressions
from kit import need, until

from watch.prometheus import Prometheus
from watch.site import Site

# As long as series are looked at, so that rates have begun: three of its looks.
BEHIND = "20s"
# What the queries of the board say where there is nothing: without it they have to find something (firing.py).
NOTHING = " or vector(0)"


def at_work(run):
    run.site = Site(run)
    run.site.sells()
    return f"headquarters on PostgreSQL with replica, NATS, TLS and HAProxy; {len(run.site.shops)} stores, each of which sells"


def scraped(run):
    run.prometheus = Prometheus(run)
    targets = run.site.targets()
    count = sum(len(of_job) for of_job in targets.values()) + 2

    def all_up():
        found = run.prometheus.got("targets")["activeTargets"]
        return len(found) == count and all(target["health"] == "up" for target in found)

    with contextlib.suppress(Exception):
        until("all targets", all_up, 40)
    found = run.prometheus.got("targets")["activeTargets"]
    bad = [f"{target['scrapeUrl']}: {target['lastError']}" for target in found if target["health"] != "up"]
    jobs = {target["labels"]["job"] for target in found}
    need(not bad and len(found) == count, f"{len(found)} of {count} targets; not scraped: {bad}")
    need(jobs == {*targets, "node", "certificates"}, f"no target of a job: {sorted(jobs)}")
    return f"{count} targets of {len(jobs)} jobs, every one is up"


def asked(run, expr):
    return run.prometheus.value(expr.replace("$__rate_interval", BEHIND))


def queries(run):
    """Every query of the board; of one that asks for several names each of them."""
    for title, expr in expressions(run):
        several = re.fullmatch(r'\{__name__=~"([\w|]+)"\}', expr)
        yield from ((title, name) for name in (several.group(1).split("|") if several else [expr]))


def answered(run):
    """No query of the board is wrong, and none is empty."""
    all_of_it, end, empty = list(queries(run)), time.monotonic() + 90, []
    while True:
        empty = [f"{title}: {expr}" for title, expr in all_of_it if not asked(run, expr)]
        if not empty or time.monotonic() > end:
            break
        time.sleep(2)
    need(not empty, f"{len(empty)} of {len(all_of_it)} queries are empty: {empty}")
    return f"{len(all_of_it)} queries, each with an answer"


def judged(run):
    """Prometheus takes every alert, every expression can be answered, and none is true of a chain that is well."""
    rules = [rule for group in run.prometheus.got("rules")["groups"] for rule in group["rules"]]
    wrong = [f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}" for rule in rules if rule["health"] != "ok"]
    need(not wrong, f"not evaluated: {wrong}")
    need({rule["name"] for rule in rules} == alerts(run).keys(), "Prometheus has other alerts")
    true = sorted(name for name, rule in alerts(run).items() if run.prometheus.value(rule["expr"]))
    # The disks of this machine are whoever runs this one's.
    others = [name for name in true if name != "TillkeepDiskNearlyFull"]
    need(not others, f"a chain that is well has {others}")
    return f"{len(rules)} alerts, each evaluated; true of a chain that is well: {', '.join(true) or 'none'}"


STEPS = [
    ("a chain at work", at_work),
    ("Prometheus scrapes it", scraped),
    ("the board", answered),
    ("the alerts of a chain that is well", judged),
]
