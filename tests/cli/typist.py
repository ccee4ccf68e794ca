"""A person at a terminal whose lines are known beforehand."""


class Typist:
    """Writes these lines; a question is answered with the next one. ``None`` leaves."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = iter(lines)

    async def write(self) -> str | None:
        return next(self.lines, None)

    def take_back(self) -> None:
        """Nothing is typed while a turn runs."""

    async def choose(self, prompt: str) -> str | None:
        return next(self.lines, None)
