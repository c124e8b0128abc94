"""Which file of a crate uses which, and the circles in that."""

import functools

from . import rust


class Crate:
    """The modules of one crate, what each one imports, and what it defines."""

    def __init__(self, files):
        self.files = {_module(file.path): file for file in files}
        self.imports, self.globs, self.defined, self.paths = {}, {}, {}, {}
        for module, file in self.files.items():
            self._read(module, file.program)

    def _read(self, module, found):
        names, globs, defined, paths = {}, [], set(), []
        at = 0
        while at < len(found):
            text = found[at].text
            if text == "use" and found[at].kind == "name":
                end = next(place for place in range(at, len(found)) if found[place].text == ";")
                is_shown = at > 0 and (found[at - 1].text == "pub" or _is_restricted(found, at))
                for path, name in _tree(found[at + 1 : end], ()):
                    if name == "*":
                        globs.append(path)
                    else:
                        names[name] = path
                    if not is_shown:
                        paths.append((path + ("*",) * (name == "*"), found[at].line))
                at = end
            elif found[at].kind == "name" and at + 1 < len(found) and found[at + 1].text == "::":
                begin = at
                while at + 2 < len(found) and found[at + 1].text == "::" and found[at + 2].kind == "name":
                    at += 2
                if found[begin - 1].text not in ("::", "$") or begin == 0:
                    paths.append((tuple(token.text for token in found[begin : at + 1 : 2]), found[begin].line))
            elif text in ("fn", "struct", "enum", "trait", "const", "static", "type", "macro_rules", "union"):
                defined.update(token.text for token in found[at + 1 : at + 4] if token.kind == "name")
            at += 1
        self.imports[module], self.globs[module], self.defined[module] = names, globs, defined
        self.paths[module] = paths

    def resolve(self, path, module, tries=0):
        """The module in whose file the end of a path is defined, whoever hands it on; nothing for another crate's."""
        if tries > 12 or not path:
            return None
        first, rest = path[0], path[1:]
        if first == "crate":
            here = ()
        elif first == "self":
            here = module
        elif first == "super":
            here = module[:-1]
        elif tries == 0 and first in self.imports[module] and self.imports[module][first] != path:
            return self.resolve(self.imports[module][first] + rest, module, 1)
        elif module + (first,) in self.files:
            here = module + (first,)
        elif first in self.imports[module] and self.imports[module][first][0] != first:
            return self.resolve(self.imports[module][first] + rest, module, tries + 1)
        else:
            return None
        while rest and rest[0] == "super":
            here, rest = here[:-1], rest[1:]
        while rest and here + (rest[0],) in self.files:
            here, rest = here + (rest[0],), rest[1:]
        if not rest or here not in self.files:
            # A module alone is a name for what is in it; what is taken out of it counts where it is taken.
            return None
        return here if rest[0] == "*" else self._home(here, rest, tries)

    def _home(self, here, rest, tries):
        if rest[0] in self.defined[here]:
            return here
        if rest[0] in self.imports[here]:
            return self.resolve(self.imports[here][rest[0]] + rest[1:], here, tries + 1) or here
        for path in self.globs[here]:
            found = self.resolve(path + rest, here, tries + 1)
            # A name that is defined there, or one of a module below it.
            if found is not None and (rest[0] in self.defined[found] or rest[0] in found):
                return found
        return here

    def edges(self):
        """From each file to those that it uses, with the line of the first use and how often."""
        edges = {}
        for module, paths in self.paths.items():
            for path, line in paths:
                target = self.resolve(path, module)
                if target is not None and target != module:
                    first, times = edges.setdefault(module, {}).get(target, (line, 0))
                    edges[module][target] = (first, times + 1)
        return edges


def _is_restricted(found, at):
    """Whether `pub(crate)` or the like stands before."""
    return found[at - 1].text == ")" and "pub" in [token.text for token in found[max(0, at - 6) : at]]


def _module(path):
    parts = path.split("/src/", 1)[1].removesuffix(".rs").split("/")
    return tuple(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)


def _tree(found, before):
    """The paths of a `use`, each with the name that it has here."""
    path, at = before, 0
    while at < len(found):
        text = found[at].text
        if text == "{":
            end = rust.closing(found, at)
            for part in _parts(found[at + 1 : end]):
                yield from _tree(part, path)
            return
        if text == "*":
            yield path, "*"
            return
        if text == "as":
            yield path, found[at + 1].text
            return
        if found[at].kind == "name":
            path += (text,)
        at += 1
    if path and path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    if path:
        yield path, path[-1]


def _parts(found):
    part, at = [], 0
    while at < len(found):
        end = rust.closing(found, at) if found[at].text == "{" else at
        if found[at].text == ",":
            yield part
            part = []
        else:
            part = part + found[at : end + 1]
        at = end + 1
    if part:
        yield part


def components(edges):
    """The circles: sets of files from each of which a way leads to each other one (Tarjan), the largest first."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(edges):
        if start in index:
            continue
        work = [(start, iter(sorted(edges[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = set(stack[stack.index(node) :])
                    del stack[stack.index(node) :]
                    found += [circle] if len(circle) > 1 else []
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                work.append((target, iter(sorted(edges.get(target, {})))))
            elif target in stack:
                low[node] = min(low[node], index[target])
    return sorted(found, key=lambda circle: (-len(circle), sorted(circle)))


def holding(edges, circle):
    """The uses that hold a circle together: each time the one without which the least is left, until nothing is."""
    inside = {node: {target for target in edges.get(node, {}) if target in circle} for node in circle}
    held = []
    while True:
        left = components(inside)
        if not left:
            return held
        pairs = [(node, target) for node in left[0] for target in inside[node] if target in left[0]]
        score = {pair: _without(inside, left[0], pair) for pair in pairs}
        least = min(score.values())
        # Of several the one that is used least: it is the cheapest to take out.
        best = [pair for pair in pairs if score[pair] == least]
        taken = min(best, key=lambda pair: (edges[pair[0]][pair[1]][1], pair))
        held.append(taken)
        inside[taken[0]].discard(taken[1])


def _without(inside, circle, pair):
    rest = {node: {to for to in inside[node] if to in circle and (node, to) != pair} for node in circle}
    return sum(len(each) ** 2 for each in components(rest))


@functools.cache
def crates(files):
    """Of each crate the file of each module, and what each module uses."""
    members = {}
    for file in files.values():
        if file.is_rust and file.crate and not file.is_test:
            members.setdefault(file.crate, []).append(file)
    made = map(Crate, members.values())
    return [({module: file.path for module, file in crate.files.items()}, crate.edges()) for crate in made]


def of(files):
    """The files of each circle, the largest first."""
    found = [sorted(path[module] for module in each) for path, edges in crates(files) for each in components(edges)]
    return sorted(found, key=lambda each: (-len(each), each))


def of_rooms(files):
    """Of each circle of rooms: its crate, the folder in which they lie, their names, and the uses that hold it."""
    for path, edges in crates(files):
        crate = next(iter(path.values())).split("/")[1]
        for folder in sorted({module[:deep] for module in path for deep in range(len(module))}):
            uses = _between(edges, folder)
            for circle in components(uses):
                holds = [(one[-1], two[-1]) for one, two in holding(uses, circle)]
                yield crate, "/".join(folder), [room[-1] for room in sorted(circle)], holds


def _between(edges, folder):
    """What each room in `folder` uses of the others there."""
    deep, uses = len(folder), {}
    for one, targets in edges.items():
        for two, (line, times) in targets.items():
            pair = (one[: deep + 1], two[: deep + 1])
            # The file of the folder itself is as short as its name.
            is_inside = all(len(room) > deep and room[:deep] == folder for room in pair)
            if is_inside and pair[0] != pair[1]:
                first, before = uses.setdefault(pair[0], {}).get(pair[1], (line, 0))
                uses[pair[0]][pair[1]] = (first, before + times)
    return uses


def held(files):
    """The uses that hold circles together, as (size of the circle, from, to, line, times)."""
    for path, edges in crates(files):
        for circle in components(edges):
            for one, two in holding(edges, circle):
                yield len(circle), path[one], path[two], *edges[one][two]
