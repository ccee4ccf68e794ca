"""Judges a command line before anybody is asked: forbidden, harmless, allowed, or worth a question.

The sandbox holds also what this module overlooks. The rules spare the person questions about commands that
only read, and stop commands that nobody should approve by mistake.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from sestet.services.commands.command_line import CommandLine, Part, read_command_line, sole_command
from sestet.services.commands.judgement import JudgedPart, Judgement, OwnerRules
from sestet.services.commands.reading_commands import only_reads

#: Programs that run another one, and how many of their words come before it at least.
_WRAPPERS: Mapping[str, int] = {
    "builtin": 0,
    "command": 0,
    "env": 0,
    "exec": 0,
    "ionice": 0,
    "nice": 0,
    "nohup": 0,
    "setsid": 0,
    "stdbuf": 0,
    "time": 0,
    "timeout": 1,
    "xargs": 0,
}
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"))
_INTERPRETERS = _SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "source", ".", "eval"}
_DOWNLOADERS = frozenset(("curl", "wget", "fetch", "nc", "ncat", "socat", "lynx", "aria2c"))
#: The whole computer, or the person's whole home.
_EVERYTHING = frozenset(
    {
        *("/", "/*", "/.", "~", "~/", "~/*", "$HOME", "${HOME}", "$HOME/", "$HOME/*", "${HOME}/*"),
        *("/bin", "/boot", "/dev", "/etc", "/home", "/home/*", "/lib", "/opt", "/proc", "/root", "/root/*"),
        *("/sbin", "/sys", "/usr", "/usr/*", "/var", "/var/*"),
    }
)
_MOST_DEPTH = 5


def judge_command(text: str, owner: OwnerRules = OwnerRules()) -> Judgement:  # noqa: B008 - frozen
    """Judge a command line by all of its parts."""
    line = read_command_line(text)
    parts = tuple(
        JudgedPart(part.source, only_reads(part) or _matches(part, owner.allowed)) for part in line.parts
    )
    if why := _why_blocked(line):
        return Judgement("blocked", why, parts)
    if line.unreadable:
        return Judgement("asks", "the shell's grammar does not fit, so its parts are not all known", parts)
    network = (
        bool(line.parts)
        and any(_matches(part, owner.network) for part in line.parts)
        and all(_matches(part, owner.network) or only_reads(part) for part in line.parts)
    )
    writes = line.written or line.changes_shell
    if not writes and line.parts and all(map(only_reads, line.parts)):
        return Judgement("read_only", "", parts, allowed_alone=_allows_alone(text, owner))
    if not writes and parts and all(part.harmless for part in parts):
        return Judgement("allowed", "", parts, network, _allows_alone(text, owner))
    return Judgement("asks", _why_asked(line), parts, network)


def _allows_alone(text: str, owner: OwnerRules) -> bool:
    part = sole_command(text) if owner.allowed else None
    return part is not None and _matches(part, owner.allowed)


def _why_asked(line: CommandLine) -> str:
    if line.written:
        return f"it writes {_listed(word.text for word in line.written)}"
    changing = dict.fromkeys(part.name or part.source for part in line.parts if not only_reads(part))
    return f"it may change files: {_listed(changing)}" if changing else "it may change files"


def _listed(names: "Iterator[str] | Mapping[str, object]") -> str:
    return ", ".join(f"'{name}'" for name in names)


def _matches(part: Part, patterns: Sequence[str]) -> bool:
    """Whether the owner's pattern fits the whole command, with nothing in it that is known only later."""
    if not part.name or part.assigns or any(word.expands for word in part.arguments):
        return False
    # A program 'make /x' would fit the pattern 'make *'.
    if any(map(str.isspace, part.name)):
        return False
    written = " ".join((part.name, *(word.text for word in part.arguments)))
    return any(fnmatchcase(written, pattern) for pattern in patterns)


def _why_blocked(line: CommandLine, depth: int = 0) -> str:
    """Why no one may approve it; empty: one may."""
    if line.bombs:
        return f"the function '{line.bombs[0]}' starts itself again and again, until nothing else can run"
    for word in line.written:
        if _is_disk(word.text):
            return f"it overwrites the device '{word.text}'"
    for part in map(_unwrapped, line.parts):
        if part.name in _INTERPRETERS and (source := _DOWNLOADERS.intersection(part.reads_from)):
            return f"'{part.name}' would run what '{min(source)}' downloads, before anybody has read it"
        if why := _BLOCKED.get(part.name.rpartition("/")[2], _never)(part):
            return why
        if part.name.startswith("mkfs"):
            return f"'{part.name}' erases a file system"
        if depth < _MOST_DEPTH:
            for script in _scripts(part):
                if why := _why_blocked(read_command_line(script), depth + 1):
                    return why
    return ""


def _unwrapped(part: Part) -> Part:
    """The command that a wrapper such as ``env`` or ``timeout`` runs."""
    for _ in range(_MOST_DEPTH):
        if part.name.rpartition("/")[2] not in _WRAPPERS:
            break
        words = list(part.arguments)
        skipped = _WRAPPERS[part.name.rpartition("/")[2]]
        while words and (words[0].text.startswith("-") or "=" in words[0].text or skipped > 0):
            skipped -= not words[0].text.startswith("-")
            words.pop(0)
        if not words:
            break
        name = "" if words[0].expands else words[0].text
        part = Part(part.source, name, tuple(words[1:]), part.assigns, part.reads_from)
    return part


def _scripts(part: Part) -> Iterator[str]:
    """The command lines that a shell gets as an argument: ``sh -c '…'``, ``eval '…'``, ``find -exec``."""
    texts = [word.text for word in part.arguments]
    if part.name.rpartition("/")[2] in _SHELLS:
        for flag, script in pairwise(texts):
            if flag.startswith("-") and flag.endswith("c"):
                yield script
    elif part.name == "eval":
        yield " ".join(texts)
    elif part.name == "find":
        for option in ("-exec", "-execdir", "-ok", "-okdir"):
            if option in texts:
                yield " ".join(texts[texts.index(option) + 1 :]).rstrip(";+ ")


def _never(_: Part) -> str:
    return ""


def _blocks_removal(part: Part) -> str:
    recursive = any(_has_flag(word.text, "rR", "--recursive") for word in part.arguments)
    everything = [word.text for word in part.arguments if word.text in _EVERYTHING]
    return f"it would delete '{everything[0]}' with all that is in it" if recursive and everything else ""


def _blocks_rights(part: Part) -> str:
    recursive = any(_has_flag(word.text, "R", "--recursive") for word in part.arguments)
    everything = [word.text for word in part.arguments if word.text in _EVERYTHING]
    return (
        f"it would change the rights of '{everything[0]}' and all below it"
        if recursive and everything
        else ""
    )


def _blocks_move(part: Part) -> str:
    moved = [word.text for word in part.arguments[:-1] if word.text in _EVERYTHING]
    return f"it would move '{moved[0]}' away" if moved else ""


def _blocks_disk_copy(part: Part) -> str:
    targets = [word.text.removeprefix("of=") for word in part.arguments if word.text.startswith("of=")]
    return next((f"it overwrites the device '{target}'" for target in targets if _is_disk(target)), "")


def _blocks_devices(part: Part) -> str:
    return next(
        (f"it overwrites the device '{word.text}'" for word in part.arguments if _is_disk(word.text)), ""
    )


def _blocks_signal(part: Part) -> str:
    return "it would end every process" if part.arguments and part.arguments[-1].text == "-1" else ""


def _blocks_service(part: Part) -> str:
    stops = {"poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "emergency", "rescue"}
    return "it would stop the computer" if stops.intersection(word.text for word in part.arguments) else ""


def _stops_computer(_: Part) -> str:
    return "it would stop the computer"


def _raises_rights(part: Part) -> str:
    return f"'{part.name}' asks for the rights of another user, which no command of an agent gets"


def _erases_disk(part: Part) -> str:
    return f"'{part.name}' changes how a disk is divided, or erases it"


_BLOCKED: Mapping[str, Callable[[Part], str]] = {
    **dict.fromkeys(("rm", "shred", "srm"), _blocks_removal),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl"), _blocks_rights),
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "telinit", "init"), _stops_computer),
    **dict.fromkeys(("sudo", "su", "doas", "pkexec", "runuser", "run0"), _raises_rights),
    **dict.fromkeys(("fdisk", "sfdisk", "cfdisk", "parted", "wipefs", "blkdiscard", "mke2fs"), _erases_disk),
    **dict.fromkeys(("tee", "cp", "truncate"), _blocks_devices),
    "mv": _blocks_move,
    "dd": _blocks_disk_copy,
    "kill": _blocks_signal,
    "killall5": lambda _: "it would end every process",
    "systemctl": _blocks_service,
}


def _has_flag(word: str, letters: str, long: str) -> bool:
    if word.startswith("--"):
        return len(word) > 2 and long.startswith(word)
    return word.startswith("-") and any(letter in word for letter in letters)


def _is_disk(path: str) -> bool:
    names = ("sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "loop", "mem", "kmem", "md", "dm-")
    return path.startswith("/dev/") and path.removeprefix("/dev/").startswith(names)
