"""Knows the commands that only read, and so need no question."""

import re
from collections.abc import Mapping, Sequence

from sestet.services.commands.command_line import Part
from sestet.services.commands.shell_words import Word


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs that only read, whatever their arguments are.
_READERS = _names(
    """: arch base32 base64 basename cat cd cksum cmp column comm cut df diff dirname du echo egrep expand
    expr false fgrep fmt fold free getconf grep groups head hexdump hostid id join jq locale ls lscpu
    md5sum nl nproc numfmt od paste pathchk pr printenv ps pwd readlink realpath rev seq sha1sum
    sha224sum sha256sum sha384sum sha512sum sleep stat strings sum tac tail tr true tsort type uname
    unexpand uptime wc which whoami zcat zgrep"""
)
#: Programs that only read unless one of these options is given, or an argument is known only later.
_READERS_WITHOUT: Mapping[str, tuple[str, ...]] = {
    "date": ("-s", "--set"),
    "file": ("-C", "--compile"),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "rg": ("--pre", "--hostname-bin", "-z", "--search-zip"),
    "sort": ("-o", "--output", "--compress-program", "-T"),
    "tree": ("-o", "--output", "-R"),
    "yes": (),
}
#: Actions of a program that only read, and the options that no such action may have.
_READING_ACTIONS: Mapping[str, frozenset[str]] = {
    "git": _names("status log diff show blame shortlog describe rev-parse ls-files ls-tree"),
    "pip": frozenset(("list", "show", "check")),
}
_WRITING_OPTIONS = (
    *("-o", "--output", "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "-c"),
    *("--log", "--log-file", "--local-log"),
)
#: Whole commands that only read, of programs whose other commands write.
_READING_COMMANDS = frozenset(
    {
        *("git branch", "git branch -a", "git branch -v", "git branch -vv", "git branch --show-current"),
        *("git remote", "git remote -v", "git stash list", "git tag", "git tag -l", "git worktree list"),
        *("hostname", "hostname -f", "hostname -i", "hostname -I", "hostname -s"),
        *("npm ls", "npm ls --all", "npm ls --depth=0", "npm ls -g"),
        *(
            f"{name} --version"
            for name in _names("bash cargo cmake gcc go java make node npm perl pip python python3 ruby")
        ),
    }
)
#: A conversion that writes into the variable that an argument names.
_COUNTING_FORMAT = re.compile(r"%[-+ #'0-9.*hlLjzt]*n")
#: ``date`` sets the clock to a date without an option: month, day, hour, minute, year.
_CLOCK_TIME = re.compile(r"\d+(?:\.\d+)?")
#: Options of ``xargs`` that let it do no more than run its command.
_XARGS_OPTION = re.compile(r"-[0rt]+|-[nPL]\d+|--null|--no-run-if-empty")
_XARGS_NUMBER = re.compile(r"-[nPL]")
#: A text between two slashes of a sed script. A slash in it has to be escaped, as GNU sed wants it.
_SED_TEXT = r"(?:[^/\\\n]|\\[^\n])*"
_SED_SCRIPT = re.compile(rf"(?:\d+|\$)(?:,(?:\d+|\$))?p|/{_SED_TEXT}/p|s/{_SED_TEXT}/{_SED_TEXT}/[gIip\d]*")
#: Without ``>``, ``|`` and ``@`` a script of awk writes no file and runs no program but by ``system``.
_AWK_SCRIPT = re.compile(r"(?!.*system)[^>|@`\\\n]*")


def only_reads(part: Part) -> bool:
    """Whether a simple command reads and does nothing else, whatever its input is."""
    if part.assigns or not part.name or "/" in part.name:
        return False
    words = part.arguments
    if part.name in _READERS:
        return True
    if part.name == "xargs":
        return _runs_reader(words)
    if part.name == "printf":
        # With the option -v it sets a variable, and so it does with the conversion %n.
        sets = words and (words[0].text.startswith("-") or _COUNTING_FORMAT.search(words[0].text))
        return not words or not (words[0].expands or sets)
    if any(word.expands for word in words):
        return False
    texts = [word.text for word in words]
    if part.name == "uniq":
        # A second file would be written. The first may be stdin, and behind two dashes all are files.
        return "--" not in texts and sum(text == "-" or not text.startswith("-") for text in texts) < 2
    if part.name == "date" and any(map(_CLOCK_TIME.fullmatch, texts)):
        return False
    if part.name in ("[", "test"):
        # These two evaluate the name of a variable, in which a command may stand.
        return not {"-v", "-R"}.intersection(texts)
    if part.name in _READERS_WITHOUT:
        return not any(_is_given(text, _READERS_WITHOUT[part.name]) for text in texts)
    if part.name == "sed":
        return _is_reading_script(texts, ("-n", "-E", "-r"), _SED_SCRIPT)
    if part.name == "awk":
        separator = texts[:1] if texts and texts[0].startswith("-F") and len(texts[0]) > 2 else texts[:2]
        has_separator = bool(texts) and texts[0].startswith("-F")
        return _is_reading_script(texts[len(separator) if has_separator else 0 :], (), _AWK_SCRIPT)
    return _is_reading_action(part.name, texts) or " ".join((part.name, *texts)) in _READING_COMMANDS


def _is_reading_action(name: str, texts: Sequence[str]) -> bool:
    """``git status``: the action comes first, and no option lets it write or run another program."""
    if not texts or texts[0] not in _READING_ACTIONS.get(name, ()):
        return False
    return not any(_is_option(text, _WRITING_OPTIONS) for text in texts)


def _is_reading_script(texts: Sequence[str], options: Sequence[str], script: re.Pattern[str]) -> bool:
    """Options, then a script that only prints, then files."""
    texts = list(texts)
    while texts and texts[0] in options:
        texts.pop(0)
    if not texts or texts[0].startswith("-") or not script.fullmatch(texts[0]):
        return False
    return not any(text.startswith("-") for text in texts[1:])


def _runs_reader(words: Sequence[Word]) -> bool:
    """``xargs wc -l``: its command only reads, whatever arguments are added to it."""
    rest = list(words)
    while rest and not rest[0].expands:
        if _XARGS_OPTION.fullmatch(rest[0].text):
            del rest[0]
        elif _XARGS_NUMBER.fullmatch(rest[0].text) and len(rest) > 1 and rest[1].text.isdigit():
            del rest[:2]
        else:
            return rest[0].text in _READERS
    return False


def _is_option(word: str, options: Sequence[str]) -> bool:
    """Whether a word is one of the options, with its value attached or shortened."""
    if word.startswith("--"):
        name = word.partition("=")[0]
        return any(len(name) > 2 and option.startswith(name) for option in options)
    return any(word.startswith(option) for option in options)


def _is_given(word: str, options: Sequence[str]) -> bool:
    """The same, also for a letter among others: ``-uo`` is ``-u -o``."""
    letters = {option[1] for option in options if len(option) == 2}
    is_cluster = word.startswith("-") and not word.startswith("--")
    return _is_option(word, options) or (is_cluster and not letters.isdisjoint(word[1:]))
