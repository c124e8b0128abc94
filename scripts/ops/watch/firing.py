"""Each alert is seen to come and to go: its rule as it is, but that it waits for seconds; its figure from the chain itself."""

import json
import shutil
import subprocess
import time

from files import alerts, expressions
from kit import Wrong, called, machine, need
from kit import asked as get

from watch.at_headquarters import Headquarters
from watch.at_stores import Stores
from watch.board import NOTHING, asked
from watch.prometheus import LOOKS_BACK, WAITS, Lookout

# Of which nothing is planted here, and why: promtool alone shows them come and go, by series that were written down.
BY_PROMTOOL = {
    "TillkeepPushesTurnedAway": "headquarters turns pushes away when it has more than five seconds of them to write, which hundreds of stores send, not five",
}
# Seconds in which everything of a round has to fire, and in which it has to end.
COMES, GOES = 150, 150


def hurried(run):
    run.site.rests()
    run.prometheus.hurries()
    run.lookout, run.rounds = Lookout(run.prometheus), []
    run.at_end(run.lookout.end)
    return f"the rules of alerts.yml, with {WAITS} for each `for`, and {LOOKS_BACK} for each look back"


def stores(run):
    return tried(run, Stores(run.site).all(), shown)


def headquarters(name):
    """A round of Headquarters, by its name."""
    return lambda run: tried(run, getattr(Headquarters(run.site), name)())


def tried(run, plants, meanwhile=lambda run: ""):
    """Plants all of them, waits until everything fires, heals all of them, and waits until nothing of it does."""
    begun, healed, rows = {}, {}, []
    early = [name for plant in plants for name, labels in plant.alerts.items() if run.lookout.fired(time.monotonic() - 2, name, labels)]
    need(not early, f"fire before anything is planted: {early}")
    for plant in plants:
        begun[plant.what] = time.monotonic()
        plant.plant()

    def seen(look, since):
        return {(plant.what, name): look(since[plant.what], name, labels) for plant in plants for name, labels in plant.alerts.items()}

    def silent():
        return waiting(seen(run.lookout.fired, begun)) or waiting(seen(run.lookout.fires_now, begun))

    def come():
        end = time.monotonic() + COMES
        while silent() and time.monotonic() < end:
            for plant in plants:
                plant.goes_on()
            time.sleep(0.5)
        return silent()

    never = come()
    more = "" if never else meanwhile(run)
    # A browser slows everything down: what ends has to end by what heals it.
    never = never or come()
    for plant in plants:
        healed[plant.what] = time.monotonic()
        plant.heal()
    end = time.monotonic() + GOES
    while (lasting := waiting(seen(run.lookout.ended, healed))) and time.monotonic() < end:
        time.sleep(0.5)
    fired, ended = seen(run.lookout.fired, begun), seen(run.lookout.ended, healed)
    for plant in plants:
        for name in plant.alerts:
            key = plant.what, name
            rows.append({"alert": name, "planted": plant.what, "fired": after(fired[key], begun[plant.what]), "ended": after(ended[key], healed[plant.what])})
    run.rounds += rows
    write(run)
    need(not never, f"did not fire within {COMES} s: {sorted(never)}; firing: {run.prometheus.firing()}")
    need(not lasting, f"did not end within {GOES} s: {sorted(lasting)}")
    return "; ".join(f"{row['alert']} after {row['fired']:.0f} s, ended after {row['ended']:.0f} s" for row in rows) + more


def waiting(seen):
    return [key for key, at in seen.items() if at is None]


def after(at, since):
    return None if at is None else round(at - since, 1)


def write(run):
    """target/ops/alerts.json, as far as they are tried."""
    file = run.target / "ops" / "alerts.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    about = {"program": called([run.binary, "--version"]).strip(), "machine": machine(), "for": WAITS, "looks_back": LOOKS_BACK}
    file.write_text(json.dumps(about | {"alerts": run.rounds, "by_promtool_alone": BY_PROMTOOL}, indent=1) + "\n")


def shown(run):
    """While something is wrong: what the board says of alarms, without what it says where there are none; and a picture."""
    asks = [expr.removesuffix(NOTHING) for _, expr in expressions(run) if NOTHING in expr]
    need(asks and not [expr for expr in asks if NOTHING in expr], f"what the board asks without {NOTHING}: {asks}")
    empty = [expr for expr in asks if not asked(run, expr)]
    need(not empty, f"no answer, though a store has an alarm: {empty}")
    return f"; {len(asks)} query of the board has its answer without {NOTHING.strip()}; {pictured(run)}"


def pictured(run):
    """The page of Prometheus with its alerts, where a browser is."""
    browser = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
    # Debian has the page of earlier releases alone.
    page = next((url for url in (f"{run.prometheus.url}/classic/alerts", f"{run.prometheus.url}/alerts") if get(url)[0] == 200), None)
    if not browser or not page:
        return "no browser, or no page, for a picture"
    file = run.target / "ops" / "alerts.png"
    file.unlink(missing_ok=True)
    words = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", "--window-size=800,1840", "--force-device-scale-factor=0.75"]
    try:
        subprocess.run([browser, *words, "--virtual-time-budget=4000", f"--screenshot={file}", page], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise Wrong(f"no picture of the alerts: {error}") from None
    need(file.exists(), "the browser made no picture of the alerts")
    return f"pictured in {file.name}"


def each(run):
    """No alert is left out, and a chain that is well again has none."""
    names, planted = alerts(run).keys(), {row["alert"] for row in run.rounds if row["fired"] is not None and row["ended"] is not None}
    need(planted | BY_PROMTOOL.keys() == names, f"not seen to come and go: {sorted(names - planted - BY_PROMTOOL.keys())}")
    need(not planted & BY_PROMTOOL.keys(), f"tried here as well: {sorted(planted & BY_PROMTOOL.keys())}")
    alone = "; ".join(f"{name}: {why}" for name, why in BY_PROMTOOL.items())
    return f"{len(planted)} of {len(names)} alerts were seen to fire and to end; by promtool alone: {alone}"


def over(run):
    def quiet():
        return sorted({labels["alertname"] for labels in run.prometheus.firing()} - {"TillkeepDiskNearlyFull"})

    end = time.monotonic() + GOES
    while (left := quiet()) and time.monotonic() < end:
        time.sleep(1)
    need(not left, f"a chain that is well again has {left}")
    faults = [node for node in [run.site.hq, *(shop.server for shop in run.site.shops.values())] if "panicked" in node.log()]
    need(not faults, f"{[node.directory.name for node in faults]} panicked")
    return "no alert is left"


STEPS = [
    ("rules that wait for seconds", hurried),
    ("alerts of stores", stores),
    ("alerts of what headquarters stands on", headquarters("around")),
    ("alerts of people", headquarters("guessing")),
    ("alerts of faults", headquarters("faults")),
    ("alerts of slow answers", headquarters("slow")),
    ("alerts of what lasts", headquarters("in_time")),
    ("headquarters is away", headquarters("gone")),
    ("each alert", each),
    ("the chain is well again", over),
]
