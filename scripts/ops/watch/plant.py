"""One fault: what it is, which alerts have to fire and to end, how it is made and healed."""

import dataclasses
import typing


@dataclasses.dataclass
class Plant:
    what: str
    # By name, each with labels that it must have.
    alerts: dict
    plant: typing.Callable
    heal: typing.Callable
    # Done again and again until everything fires that was planted with it.
    goes_on: typing.Callable = lambda: None
