"""Functions that are nearly the same, found by the rows of tokens that they share."""

import collections

LENGTH, LEAST, SHARE = 6, 80, 0.5


def _rows(function):
    """Each row of tokens of a function, whatever its texts and numbers are."""
    words = ["" if token.kind in ("string", "number", "char") else token.text for token in function.tokens]
    return {hash(tuple(words[at : at + LENGTH])) for at in range(len(words) - LENGTH + 1)}


def of(functions):
    """Pairs of (path, function) that share so much of their rows, measured by the longer of the two."""
    large = [(path, function, _rows(function)) for path, function in functions if len(function.tokens) >= LEAST]
    places = collections.defaultdict(list)
    for number, (_, _, rows) in enumerate(large):
        for row in rows:
            places[row].append(number)
    shared = collections.Counter()
    for numbers in places.values():
        # What stands everywhere is a habit of the language, no copy.
        if 1 < len(numbers) <= 40:
            shared.update((one, two) for at, one in enumerate(numbers) for two in numbers[at + 1 :])
    found = []
    for (one, two), count in shared.items():
        (first, here, rows), (second, there, others) = large[one], large[two]
        inside = first == second and here.line <= there.last and there.line <= here.last
        if not inside and count >= SHARE * max(len(rows), len(others)):
            found.append(((first, here), (second, there)))
    return sorted(found, key=lambda pair: (-pair[0][1].lines, pair[0][0], pair[0][1].line))


def lines(pairs):
    """How many lines could go: each function that is like an earlier one."""
    return sum(function.lines for function in {(path, each.line): each for _, (path, each) in pairs}.values())
