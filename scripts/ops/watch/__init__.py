"""Alerts and board on a real Prometheus that scrapes a chain at work: headquarters on PostgreSQL with a read replica, a broker, a
certificate and a balancer, and stores whose tills sell. Every query of the board has an answer, and each alert is planted with what
it is about, seen to fire, healed, and seen to end; the rules of which that is not done are named, with why."""

from watch import board, firing

STEPS = [*board.STEPS, *firing.STEPS]
