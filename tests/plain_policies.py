"""Policies with ``select`` and ``update`` alone, as anybody writes them."""


class Turns:
    """In turn, without a random stream."""

    def __init__(self, arms=(0, 1, 2)):
        self.arms, self.played, self.shown = list(arms), 0, []

    def select(self):
        self.played += 1
        return self.arms[(self.played - 1) % len(self.arms)]

    def update(self, arm, value):
        self.shown.append((self.played, arm, value))
