"""How figures are shown: as a table, as JSON, as the list of what was counted."""

import json

from . import measures

WORDS = {True: "ok", False: "over", None: ""}


def table(columns):
    """The figures of each tree in a column of its own; the goal is that of the last one."""
    names = [name if len(name) < 13 else name[:12] for name, _ in columns]
    print(f"{'measure':<18}" + "".join(f"{name:>13}" for name in names) + f"{'goal':>10}")
    for measure in measures.ALL:
        figures = [figures[measure.name] for _, figures in columns]
        shown = "".join(f"{figure:>13}" for figure in figures)
        verdict = WORDS[measures.fits(measure.goal, figures[-1])]
        print(f"{measure.name:<18}{shown}{measure.goal:>10}  {verdict}".rstrip())


def as_json(columns):
    def one(measure, figure):
        return {"figure": figure, "goal": measure.goal or None, "ok": measures.fits(measure.goal, figure)}

    trees = {name: {each.name: one(each, figures[each.name]) for each in measures.ALL} for name, figures in columns}
    print(json.dumps(trees, indent=2))


def listed(name, files):
    for line in measures.NAMES[name].shown(files):
        print(line)
