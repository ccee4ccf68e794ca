"""``sestet secrets``: stores, lists, binds, deletes, exports and imports secrets; shows one at a terminal."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sestet.assembly import vault_in
from sestet.cli.options import AS_JSON, ExitCode, confirmed, new_program
from sestet.cli.show.console import print_json
from sestet.cli.vault_prompts import terminal, unlock, unlock_or_create, value_source
from sestet.config import data_directory
from sestet.core.clean import clean
from sestet.core.errors import PersonError
from sestet.core.record import as_builtins
from sestet.core.words import written_time
from sestet.services.vault.entries import EntryInfo, entry_name
from sestet.services.vault.sources import Source
from sestet.services.vault.vault import Vault

program = new_program("Keep secrets and keys in the vault: models get references, never values.")

_NAME = typer.Argument(metavar="NAME", help="Its name, such as github-token.")
_TO = typer.Option("--to", metavar="HOST", help="A host that may get it, such as api.github.com; repeat it.")
_TO_COMMAND = typer.Option(
    "--to-command",
    metavar="PATTERN",
    help="A command that may get it as /dev/fd/3, such as 'curl -H @/dev/fd/3 https://api.github.com/*'; "
    "repeat it.",
)
_BODY = typer.Option("--in-body/--in-headers-only", help="It may stand in the body of a request, too.")
_FOR_SETTINGS = typer.Option(
    "--for-settings/--not-for-settings", help="The settings may use it: 'apiKey: vault:NAME'."
)
_FILE = typer.Argument(metavar="FILE", help="The file of the copy.")
_REPLACE = typer.Option("--replace", help="It may take the place of one with the same name.")
_PASSPHRASE = typer.Option(
    "--passphrase-file", metavar="FILE", help="The copy's passphrase; else it is asked for."
)
_KINDS = {"secret": "secret", "aes256": "encryption key", "ed25519": "signing key", "secp256k1": "wallet key"}


@contextmanager
def _vault(*, create: bool = False) -> Generator[Vault]:
    vault = vault_in(data_directory())
    try:
        (unlock_or_create if create else unlock)(vault)
        yield vault
    finally:
        vault.close()


@program.command("set")
def set_secret(
    name: Annotated[str, _NAME],
    to: Annotated[list[str] | None, _TO] = None,
    to_command: Annotated[list[str] | None, _TO_COMMAND] = None,
    in_body: Annotated[bool, _BODY] = False,
    for_settings: Annotated[bool, _FOR_SETTINGS] = False,
    wallet_key: Annotated[
        bool, typer.Option("--wallet-key", help="It is a private key of a wallet: 64 hexadecimal digits.")
    ] = False,
    replace: Annotated[bool, _REPLACE] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Store a secret. You type its value unseen, or give it on stdin.

    Only the hosts and commands that you name with --to and --to-command may get it. Without a vault, one is
    made.
    """
    name, hosts = entry_name(name), to or []
    with _vault(create=True) as vault, value_source(f"Value of '{name}': ") as (source, descriptor):
        if wallet_key:
            info = vault.store_key(name, source, replace=replace, descriptor=descriptor)
        else:
            uses = {"in_body": in_body, "in_settings": for_settings, "replace": replace}
            info = vault.store(name, source, hosts, **uses, commands=to_command or [], descriptor=descriptor)
    if as_json:
        print_json(_described(info))
        return
    typer.echo(f"Stored as {info.reference}, {_bound(info)}.")
    if info.kind == "secret" and not info.watched:
        typer.echo("It has fewer than 8 letters and digits, so the scanner cannot recognise it.", err=True)


@program.command("list")
def list_secrets(as_json: Annotated[bool, AS_JSON] = False) -> None:
    """List what the vault holds: names and kinds, no values."""
    infos = _infos()
    if as_json:
        print_json([_described(info) for info in infos])
    elif not infos:
        typer.echo("the vault holds nothing")
    else:
        width = max(len(info.name) for info in infos)
        for info in infos:
            kind = _KINDS[info.kind].ljust(max(map(len, _KINDS.values())))
            typer.echo(f"{info.name:{width}}  {kind}  {written_time(info.created_at)}")


@program.command("show-bindings")
def show_bindings(
    name: Annotated[str | None, _NAME] = None, as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show where each secret may go."""
    infos = [info for info in _infos() if info.kind == "secret"]
    if name is not None:
        wanted = entry_name(name)
        infos = [info for info in infos if info.name == wanted]
        if not infos:
            raise PersonError(f"the vault holds no secret named '{wanted}'")
    if as_json:
        print_json([_described(info) for info in infos])
        return
    for info in infos:
        typer.echo(f"{info.name}: {_bound(info)}")


@program.command("bind")
def bind(
    name: Annotated[str, _NAME],
    to: Annotated[list[str] | None, _TO] = None,
    to_command: Annotated[list[str] | None, _TO_COMMAND] = None,
    in_body: Annotated[bool | None, _BODY] = None,
    for_settings: Annotated[bool | None, _FOR_SETTINGS] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Change where a secret may go. The hosts and the commands that you name replace the present ones.

    --to-command '' takes all commands away.
    """
    uses = {"in_body": in_body, "in_settings": for_settings}
    if all(given is None for given in (to, to_command, *uses.values())):
        raise typer.BadParameter("say what to change: --to, --to-command, --in-body or --for-settings")
    with _vault() as vault:
        commands = None if to_command is None else [each for each in to_command if each.strip()]
        info = vault.bind(name, to, commands=commands, **uses)
    if as_json:
        print_json(_described(info))
    else:
        typer.echo(f"{info.name}: {_bound(info)}")


@program.command("show")
def show(name: Annotated[str, _NAME]) -> None:
    """Show the value of a secret at your terminal, and nowhere else."""
    with _vault() as vault, terminal() as descriptor:
        vault.reveal(name, descriptor)


@program.command("delete")
def delete(
    name: Annotated[str, _NAME],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Delete a secret or a key for good."""
    with _vault() as vault:
        info = vault.info(name)
        if not yes and not confirmed(f"Delete the {_KINDS[info.kind]} '{info.name}' for good?"):
            raise typer.Exit(ExitCode.FAILED)
        vault.delete(info.name)
    if as_json:
        print_json({"deleted": info.name})
    else:
        typer.echo(f"Deleted {info.name}.")


@program.command("change-passphrase")
def change_passphrase(
    new_passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The new passphrase; else it is asked for.")
    ] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Give the vault another passphrase. What it holds is not encrypted anew."""
    vault = vault_in(data_directory())
    try:
        unlock(vault)
        old_file = vault.passphrase_file
        if old_file is not None and new_passphrase_file is not None:
            vault.change_passphrase(_from_file(old_file), _from_file(new_passphrase_file))
        else:
            with terminal() as descriptor:
                old = Source("terminal", prompt="The present passphrase again: ")
                new = Source("terminal", prompt="New passphrase: ", twice=True)
                vault.change_passphrase(
                    _from_file(old_file) if old_file else old,
                    _from_file(new_passphrase_file) if new_passphrase_file else new,
                    terminal=descriptor,
                )
    finally:
        vault.close()
    if as_json:
        print_json({"changed": True})
    else:
        typer.echo(
            "The vault has a new passphrase. Copies that were made before still open with the old one."
        )


@program.command("add-keyring")
def add_keyring(as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Let the keyring of your desktop open the vault, so that you are not asked for the passphrase.

    The passphrase still opens it. Programs of yours that can ask the keyring can then open the vault, too.
    """
    with _vault() as vault:
        vault.add_keyring()
    if as_json:
        print_json({"added": True})
    else:
        typer.echo("The keyring opens the vault now. The passphrase opens it, too: keep it.")


@program.command("remove-keyring")
def remove_keyring(as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Let only the passphrase open the vault. That works without the keyring, too."""
    with _vault() as vault:
        removed = vault.remove_keyring()
    if as_json:
        print_json({"removed": removed.had, "left": removed.problem})
        return
    if not removed.had:
        typer.echo("No keyring could open the vault.")
        return
    typer.echo("The passphrase alone opens the vault now.")
    if removed.problem:
        typer.echo(
            f"The key stays in the keyring, where it opens old copies of the vault only: {removed.problem}",
            err=True,
        )


@program.command("export")
def export(
    file: Annotated[Path, _FILE],
    passphrase_file: Annotated[Path | None, _PASSPHRASE] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Write an encrypted copy of everything in the vault, with a passphrase of its own."""
    with _vault() as vault:
        if passphrase_file is not None:
            number = vault.export(file, _from_file(passphrase_file))
        else:
            with terminal() as descriptor:
                source = Source("terminal", prompt="A passphrase for the copy: ", twice=True)
                number = vault.export(file, source, terminal=descriptor)
    if as_json:
        print_json({"file": str(file), "entries": number})
    else:
        typer.echo(f"Wrote {number} into {clean(str(file))}.")


@program.command("import")
def import_from(
    file: Annotated[Path, _FILE],
    passphrase_file: Annotated[Path | None, _PASSPHRASE] = None,
    replace: Annotated[bool, _REPLACE] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Take over everything from a copy that 'sestet secrets export' wrote."""
    with _vault(create=True) as vault:
        if passphrase_file is not None:
            names = vault.import_from(file, _from_file(passphrase_file), replace=replace)
        else:
            with terminal() as descriptor:
                source = Source("terminal", prompt="The passphrase of the copy: ")
                names = vault.import_from(file, source, replace=replace, terminal=descriptor)
    if as_json:
        print_json({"names": names})
    else:
        typer.echo(f"Took over: {', '.join(names) or 'nothing'}.")


def _infos() -> list[EntryInfo]:
    if not vault_in(data_directory()).exists():
        return []
    with _vault() as vault:
        return vault.infos()


def _from_file(path: Path) -> Source:
    return Source("file", path=str(path.expanduser().absolute()))


def _described(info: EntryInfo) -> object:
    return as_builtins(info)


def _bound(info: EntryInfo) -> str:
    if info.kind != "secret":
        return f"{_KINDS[info.kind]}, which never leaves the vault"
    commands = [f"the command '{pattern}'" for pattern in info.commands]
    places = ", ".join((*info.destinations, *commands)) or "no host"
    uses = ["in headers and bodies"] if info.in_body else []
    uses += ["in the settings"] if info.in_settings else []
    return "; ".join([f"for {places}", *uses])
