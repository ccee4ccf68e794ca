"""``sestet payments``: the wallet, its balance, the limits, and what was paid."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from sestet.assembly import vault_in
from sestet.cli.assistant import run
from sestet.cli.options import AS_JSON, LIMIT, new_program
from sestet.cli.show.console import print_json
from sestet.cli.show.payments import (
    balance_lines,
    describe_balance,
    describe_limits,
    describe_payment,
    limit_lines,
    payment_lines,
)
from sestet.cli.stored import open_stored
from sestet.cli.vault_prompts import unlock, unlock_or_create
from sestet.config import data_directory
from sestet.core.errors import PersonError, ToolError
from sestet.services.payments.payments import Payments
from sestet.services.vault.vault import Vault

program = new_program("Look at the wallet, its balance, the limits and the payments in USDC; make a wallet.")
wallet_program = new_program()
program.add_typer(wallet_program, name="wallet")

_PAYEE = typer.Argument(metavar="PAYEE", help="A name under payments.payees, or an address.")


@wallet_program.callback(invoke_without_command=True)
def wallet(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Show the address of the wallet; 'wallet create' makes one."""
    if context.invoked_subcommand is None:
        run(_wallet(context, as_json))


@wallet_program.command("create")
def create(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Make a wallet: its key is made inside the vault and never leaves it."""
    run(_create(context, as_json))


@program.command("balance")
def balance(context: typer.Context, as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Show how much USDC the wallet holds, and how much ether for fees."""
    run(_balance(context, as_json))


@program.command("limits")
def limits(
    context: typer.Context,
    payee: Annotated[str, _PAYEE] = "",
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Show the limits of payments and the standing budgets, and what is left of them."""
    run(_limits(context, payee, as_json))


@program.command("history")
def history(
    context: typer.Context,
    limit: Annotated[int, LIMIT] = 20,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """List the payments, the latest first. The chain is asked about those in doubt."""
    run(_history(context, limit, as_json))


@asynccontextmanager
async def _open(context: typer.Context) -> AsyncGenerator[tuple[Payments, Vault]]:
    """Payments of these settings; what a model would be told is an error for the person here."""
    vault = vault_in(data_directory())
    try:
        with open_stored(context) as data:
            yield data.payments(vault), vault
    except ToolError as error:
        raise PersonError(str(error)) from error
    finally:
        vault.close()


async def _wallet(context: typer.Context, as_json: bool) -> None:
    async with _open(context) as (payments, vault):
        unlock(vault)
        _print_wallet(payments, await payments.address(), as_json)


async def _create(context: typer.Context, as_json: bool) -> None:
    async with _open(context) as (payments, vault):
        unlock_or_create(vault)
        _print_wallet(payments, await payments.create_wallet(), as_json)
    typer.echo(
        "Its key is in the vault and nowhere else: 'sestet secrets export FILE' makes a copy. "
        "Send it USDC, and a little ether for fees.",
        err=True,
    )


def _print_wallet(payments: Payments, address: str, as_json: bool) -> None:
    if as_json:
        network = payments.network
        print_json({"wallet": address, "network": network.name, "chainId": network.chain_id})
    else:
        typer.echo(f"{address} on {payments.network.title}")


async def _balance(context: typer.Context, as_json: bool) -> None:
    async with _open(context) as (payments, vault):
        unlock(vault)
        found = await payments.balance()
        if as_json:
            print_json(describe_balance(payments, found))
        else:
            _print(balance_lines(payments, found))


async def _limits(context: typer.Context, payee: str, as_json: bool) -> None:
    async with _open(context) as (payments, _):
        if as_json:
            print_json(describe_limits(payments, payee))
        else:
            _print(limit_lines(payments, payee))


async def _history(context: typer.Context, limit: int, as_json: bool) -> None:
    async with _open(context) as (payments, _):
        try:
            await payments.reconcile()
        except ToolError as error:
            typer.echo(f"warning: {error}; payments in doubt are shown as they were", err=True)
        rows = payments.history(limit)
        if as_json:
            print_json([describe_payment(row) for row in rows])
        elif rows:
            _print(payment_lines(payments, rows))
        else:
            typer.echo("nothing was paid yet", err=True)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)
