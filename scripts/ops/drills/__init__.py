"""Drills of operations: what an operator does on a bad day and on the day of an upgrade, with real programs on this machine, each
step with its time. The steps for people are in docs/operations.md, "Drills", with what was measured: a drill names its row there."""

import functools
import json

from kit import Wrong, called, machine, need
from rigs.servers import Client

from drills import disks, faults, outages, upgrades
from drills.chain import Drill


def measured(name, drill, row):
    """A drill as a step of `make ops`: its times go into the file of all drills, its processes end with it."""

    @functools.wraps(drill)
    def step(run):
        one, failed, said = Drill(run, name), True, ""
        Client.wrong.clear()
        try:
            said = drill(one)
            need(not Client.wrong, f"answers that no server may give: {Client.wrong[:3]}")
            failed = False
        except (Wrong, SystemExit) as wrong:
            said = str(wrong)
            raise Wrong(said) from None
        finally:
            one.end()
            write(run, {"drill": name, "row": row, "failed": failed, "said": said, "seconds": one.seconds})
        return f"{said}; {', '.join(f'{what} {seconds:.2f} s' for what, seconds in one.seconds.items())}"

    return name, step


def write(run, done):
    """target/ops/drills.json: the last time of each drill, also of those that are not done in this run."""
    file = run.target / "ops" / "drills.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "program": called([run.binary, "--version"]).strip(),
        "old": called([run.old, "--version"]).strip() if run.old else None,
        "machine": machine(),
    }
    rows = {row["drill"]: row for row in json.loads(file.read_text())["drills"]} if file.exists() else {}
    rows[done["drill"]] = done | about
    kept = [rows[name] for name, _ in STEPS if name in rows]
    # In one piece: a run that is broken off leaves what was there.
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps({"drills": kept}, indent=1, ensure_ascii=False) + "\n")
    beside.replace(file)


STEPS = [measured(*drill) for part in (upgrades, disks, outages, faults) for drill in part.DRILLS]
