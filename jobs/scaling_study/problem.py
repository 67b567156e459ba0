"""How a study says that it can't go on."""


class Problem(Exception):
    """What is wrong, why, and what to do, in one line: "WHAT: WHY. WHAT TO DO."."""
