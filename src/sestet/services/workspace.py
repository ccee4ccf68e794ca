"""The directories in which agents work."""

from collections.abc import Sequence
from pathlib import Path

from sestet.core.record import Record
from sestet.services.own_files import Inode, OwnFiles, Unwritable


class Root(Record):
    """One directory of the workspace, and how paths below it are shown."""

    directory: Path
    #: Empty for the first directory, at which relative paths start.
    prefix: str

    def shown(self, path: str) -> str:
        return f"{self.prefix}{path}" if path != "." else self.prefix.rstrip("/") or path


class Workspace:
    """One or more directories. A path belongs to one of them, and never leads from one into another."""

    def __init__(self, roots: Sequence[Path], own: OwnFiles) -> None:
        directories = [root.expanduser().absolute() for root in roots]
        first, *others = dict.fromkeys(directories)
        self.roots = (Root(first, ""), *(Root(other, f"{other}/") for other in others))
        self._own = own

    def root_of(self, path: str) -> Root:
        """The root of a path: the deepest one above an absolute path, else the first."""
        if not path.startswith("/") or len(self.roots) == 1:
            return self.roots[0]
        above = {Path(path), *Path(path).parents}
        fitting = [
            root for root in self.roots if root.directory in above or root.directory.resolve() in above
        ]
        return max(fitting, key=lambda root: len(str(root.directory)), default=self.roots[0])

    def hidden(self, root: Root) -> frozenset[Inode]:
        """Sestet's own files, which are not shown."""
        return self._own.inodes(root.directory)

    def unwritable(self, root: Root) -> Unwritable:
        return self._own.unwritable(root.directory)
