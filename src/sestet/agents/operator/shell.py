"""Tools to run shell commands in the sandbox."""

from typing import Annotated

from sestet.agents._shared.opened_vault import ask_vault
from sestet.core.preview import Changes, DiffLine
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, CallRules, Preview, tool
from sestet.core.words import duration
from sestet.services.commands.commands import CommandResult, Commands
from sestet.services.vault.entries import REFERENCE, entry_name
from sestet.services.vault.vault import Vault

MOST_SECONDS = 600
#: Longer than any command may take, so that the tool itself reports the end.
PATIENCE = MOST_SECONDS + 60.0
_CAUTION = "the program gets the secret, and can do with it what it wants"

Command = Annotated[str, "The command line, for bash"]
Directory = Annotated[str, "The directory to run it in, relative to the working directory"]
Number = Annotated[str, "The id that exec_background gave, such as c1"]


def _rules(commands: Commands, /, command: str, **_: object) -> CallRules:
    """A command that only reads needs no question; nobody can approve a catastrophe."""
    found = commands.judge(command)
    effect = "external" if found.network else "local"
    if found.kind == "blocked":
        return CallRules("dangerous", effect, "unsafe", blocked=found.why)
    if found.kind == "read_only":
        return CallRules("safe", "none", "pure")
    if found.kind == "allowed":
        return CallRules("safe", effect, "unsafe", owner_allows=True)
    caution = f"{found.why}, and it may use the network" if found.network else found.why
    return CallRules("guarded", effect, "unsafe", caution)


async def _preview(commands: Commands, /, **arguments: JsonValue) -> Preview:
    """The question shows each command of a line with several, and which of them are harmless."""
    command = str(arguments["command"])
    rules, parts = _rules(commands, command), commands.judge(command).parts
    if rules.risk == "safe" or len(parts) < 2:
        return Preview(rules.risk, rules.caution)
    verdicts = ((part.source, "only reads or is allowed" if part.harmless else "asks") for part in parts)
    lines = tuple(DiffLine(" ", f"{source}   ({verdict})") for source, verdict in verdicts)
    return Preview(rules.risk, rules.caution, Changes((DiffLine("@", "the commands in it"), *lines)))


async def _preview_of_call(call: CallInfo, commands: Commands, /, **arguments: JsonValue) -> Preview:
    return await _preview(commands, **arguments)


@tool(
    risk="guarded",
    caution="a command may change or delete files",
    standing="run exactly {command}",
    reads=("untrusted", "private"),
    effect="local",
    targets=("command",),
    binds=("cwd",),
    recovery="unsafe",
    timeout=PATIENCE,
    rules=_rules,
    preview=_preview_of_call,
    examples=(
        "run {command}",
        "run the command {command}",
        "run the command {command} in {cwd}",
        "run {command} in the terminal",
        "run {command} in the shell",
        "execute {command}",
        "execute the command {command}",
        "call the command {command}",
        "what does the command {command} print",
    ),
)
async def exec_run(
    call: CallInfo,
    commands: Commands,
    /,
    command: Command,
    timeout: Annotated[int, "Seconds after which it is stopped", {"minimum": 1, "maximum": 600}] = 30,  # noqa: ASYNC109 - the model's word for it
    cwd: Directory = ".",
) -> str:
    """Run a shell command and wait for its end. Returns its exit code, output and errors.

    It runs in a sandbox: it can read the system and change the working directory, and has no network.
    """
    return result_text(await commands.run(command, seconds=timeout, directory=cwd, report=call.report))


def _secret_rules(commands: Commands, _: Vault, /, command: str, **__: object) -> CallRules:
    """A command that gets a secret asks, also if it only reads; the settings of the owner can allow it."""
    found = commands.judge(command)
    effect = "external" if found.network else "local"
    if found.kind == "blocked":
        return CallRules("dangerous", effect, "unsafe", blocked=found.why)
    if found.allowed_alone:
        return CallRules("safe", effect, "unsafe", owner_allows=True)
    network = ", and it may use the network" if found.network else ""
    return CallRules("guarded", effect, "unsafe", f"{_CAUTION}{network}")


async def _preview_with_secret(
    _: CallInfo, commands: Commands, vault: Vault, /, **arguments: JsonValue
) -> Preview:
    """Refuses what the vault would refuse, before anybody is asked."""
    command, secret = str(arguments["command"]), str(arguments["secret"])
    words = await ask_vault(vault, lambda: vault.check_command(secret, command))
    rules = _secret_rules(commands, vault, command)
    gets = DiffLine("@", f"{words[0]} reads {REFERENCE}{entry_name(secret)} from /dev/fd/3")
    return Preview(rules.risk, rules.caution, Changes((gets,)))


@tool(
    risk="guarded",
    caution=_CAUTION,
    standing="run exactly {command} with {secret}",
    reads=("untrusted", "private"),
    effect="local",
    targets=("command", "secret"),
    binds=("cwd",),
    recovery="unsafe",
    timeout=PATIENCE,
    rules=_secret_rules,
    preview=_preview_with_secret,
    examples=(
        "run {command} with the secret {secret}",
        "run the command {command} with the secret {secret}",
        "execute {command} with the secret {secret}",
        "execute the command {command} with the secret {secret}",
        "call the command {command} with the secret {secret}",
        "give the secret {secret} to the command {command}",
    ),
)
async def exec_with_secret(
    call: CallInfo,
    commands: Commands,
    vault: Vault,
    /,
    command: Annotated[str, "One program with its arguments, which reads the secret from /dev/fd/3"],
    secret: Annotated[str, "The name or the reference of the secret"],
    timeout: Annotated[int, "Seconds after which it is stopped", {"minimum": 1, "maximum": 600}] = 30,  # noqa: ASYNC109 - the model's word for it
    cwd: Directory = ".",
) -> str:
    """Run one program that reads a secret from the file /dev/fd/3; its value stays hidden.

    No shell reads the command: no pipes, redirects or variables. The person has bound the secret to commands;
    any other is refused. Example: curl -H @/dev/fd/3 https://api.example.com/me
    """
    offered = await ask_vault(vault, lambda: vault.offer(secret, command))

    async def fill() -> None:
        await ask_vault(vault, lambda: vault.fill(offered))

    try:
        words, given = offered.words, offered.reader
        result = await commands.run_alone(
            words, given, fill, seconds=timeout, directory=cwd, report=call.report
        )
    except BaseException:
        await ask_vault(vault, lambda: vault.withdraw(offered))
        raise
    return result_text(result)


@tool(
    risk="guarded",
    caution="a command may change or delete files",
    standing="run exactly {command} in the background",
    reads=(),
    effect="local",
    targets=("command",),
    binds=("cwd",),
    recovery="unsafe",
    rules=_rules,
    preview=_preview,
    examples=(
        "run {command} in the background",
        "run the command {command} in the background",
        "start {command} in the background",
        "start the command {command} in the background",
        "execute {command} in the background",
        "launch {command} in the background",
    ),
)
async def exec_background(commands: Commands, /, command: Command, cwd: Directory = ".") -> str:
    """Start a shell command and go on without waiting, such as a server. Returns its id for exec_status.

    It ends when it is stopped, and at the latest when this assistant ends.
    """
    number = await commands.start(command, directory=cwd)
    return f"Started as {number}. exec_status tells what it prints, exec_stop ends it."


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "what does the background command {command_id} print",
        "how is the background command {command_id} doing",
        "show me the background command {command_id}",
        "what has the background command {command_id} printed",
        "is the background command {command_id} still running",
        "the status of the background command {command_id}",
    ),
)
async def exec_status(commands: Commands, /, command_id: Number) -> str:
    """Tell whether a background command still runs, and what it has printed so far."""
    return result_text(commands.status(command_id))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="keyed",
    examples=(
        "stop the background command {command_id}",
        "stop the command {command_id}",
        "end the background command {command_id}",
        "end the command {command_id}",
        "kill the background command {command_id}",
        "cancel the background command {command_id}",
    ),
)
async def exec_stop(commands: Commands, /, command_id: Number) -> str:
    """Stop a background command with everything that it has started."""
    return result_text(await commands.stop(command_id))


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "list the background commands",
        "list the running commands",
        "which commands are running",
        "which commands run in the background",
        "what runs in the background",
        "show me the background commands",
    ),
)
async def exec_list(commands: Commands, /) -> str:
    """List the background commands of this assistant, running and ended."""
    listed = [f"{number}  {_end(result)}  {result.command}" for number, result in commands.list().items()]
    return "\n".join(listed) or "No command was started in the background."


def result_text(result: CommandResult) -> str:
    """How a command ended and what it printed, for the model."""
    parts = [f"{_end(result)} ({duration(result.seconds)})"]
    if result.output:
        parts.append(result.output.rstrip("\n"))
    if result.errors:
        parts.append(f"Errors:\n{result.errors}".rstrip("\n"))
    if not result.output and not result.errors:
        parts.append("It printed nothing.")
    return "\n".join(parts)


def _end(result: CommandResult) -> str:
    ended = result.ended
    if ended is None:
        return "Running"
    if result.timed_out is not None:
        return f"Stopped after {duration(result.timed_out)}: it took too long"
    if result.flooded:
        return "Stopped: it printed without end"
    if ended.too_large:
        return "Stopped: it used too much memory"
    if ended.failed:
        return f"Not started: {ended.failed}"
    return f"Exit code {ended.code}" if ended.code is not None else f"Ended by signal {ended.signal}"
