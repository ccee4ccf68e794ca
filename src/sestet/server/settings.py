"""The API of the set-up: settings, models to choose from, the trial of one, and the doctor."""

import asyncio
import sys
from typing import Annotated, Any, Literal

from sestet.config import load_settings, settings_schema
from sestet.config.edit import Changes, edit_settings, file_to_edit
from sestet.config.listing import describe_settings
from sestet.core.errors import ConfigError
from sestet.core.record import Meta, Record, as_builtins, from_json
from sestet.doctor import examine
from sestet.models.choice import check_models
from sestet.models.files.catalogue import describe_models
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery
from sestet.server.errors import ApiError
from sestet.setup.choices import describe_choice, find_choices, known_providers, known_variables
from sestet.setup.trial import settings_with


class SettingFacts(Record):
    key: str
    value: Any
    #: ``default``, a file, or a variable of the environment.
    source: str


class SettingList(Record):
    #: The file that the settings come from; None: there is none, and the defaults apply.
    file: str | None
    settings: list[SettingFacts]


class NewValue(Body):
    #: With dots, such as agent.model.
    key: Annotated[str, Meta(pattern=r"^[^.]+(\.[^.]+)+$", max_length=500)]
    value: Any


class SettingChanges(Body):
    changes: Annotated[list[NewValue], Meta(min_length=1, max_length=200)]


class Problems(Record):
    #: Every problem that the settings would have; empty: they can be written.
    problems: list[str]


class Written(Record):
    file: str
    problems: list[str]
    #: False: a start of the server is needed before the new values count.
    in_force: bool


class Restarting(Record):
    #: When the server that ends now was started, in seconds since 1970.
    started_at: float


class ModelList(Record):
    #: The provider and model that answer now.
    provider: str
    model: str
    #: Models that can run on this machine.
    files: list[dict[str, Any]]
    #: Whether an image can be part of a message. A turn takes text alone, whichever model answers.
    reads_images: bool = False


class ChoiceFacts(Record):
    id: str
    place: str
    note: str


class ChoiceList(Record):
    choices: list[ChoiceFacts]
    #: The environment variables in which a key is looked for.
    variables: list[str]


class NewChoice(Body):
    """A choice by its id; or a vendor, or the address of a server, each with its key."""

    choice: str = ""
    model: str = ""
    vendor: str = ""
    server: str = ""
    key: str = ""


class TrialFacts(Record):
    """How the trial went; it is written into the settings only if it is ready."""

    ready: bool
    choice: str
    answer: str
    problem: str
    way_out: str
    warning: str


class CheckFacts(Record):
    name: str
    status: Literal["ok", "warning", "problem"]
    detail: str
    way_out: str


class Examination(Record):
    healthy: bool
    checks: list[CheckFacts]


class ProbeBody(Body):
    #: Ask a vendor's model too, which costs money.
    probe: bool = False


async def show_settings(call: Call[None, NoQuery]) -> dict[str, Any]:
    loaded = await asyncio.to_thread(load_settings, call.host.settings_file)
    return as_builtins(
        {"file": str(loaded.file) if loaded.file else None, "settings": describe_settings(loaded)}
    )


async def show_settings_schema(call: Call[None, NoQuery]) -> dict[str, Any]:
    return as_builtins(settings_schema())


async def validate_settings(call: Call[SettingChanges, NoQuery]) -> Problems:
    return Problems(await asyncio.to_thread(_problems, call))


async def write_settings(call: Call[SettingChanges, NoQuery]) -> Written:
    file = file_to_edit(call.host.settings_file).absolute()
    problems = await asyncio.to_thread(_problems, call)
    if problems:
        raise ApiError("bad_request", "; ".join(problems), "nothing was written: correct what this names")
    await asyncio.to_thread(edit_settings, file, _changes(call.body))
    return Written(str(file), [], in_force=False)


def _problems(call: Call[SettingChanges, NoQuery]) -> list[str]:
    """Every problem of the settings as they would be; nothing is written."""
    try:
        settings_with(file_to_edit(call.host.settings_file).absolute(), _changes(call.body))
    except ConfigError as error:
        return error.problems
    return []


def _changes(body: SettingChanges) -> Changes:
    return {tuple(each.key.split(".")): each.value for each in body.changes}


async def list_models(call: Call[None, NoQuery]) -> ModelList:
    agent = call.host.app.settings.agent
    files = await asyncio.to_thread(describe_models)
    return ModelList(agent.provider, agent.model, [as_builtins(each) for each in files])


async def list_choices(call: Call[None, NoQuery]) -> ChoiceList:
    """The servers of this machine are asked for their models."""
    file = file_to_edit(call.host.settings_file).absolute()
    found = await asyncio.to_thread(lambda: find_choices(None, known_providers(file)))
    return ChoiceList([ChoiceFacts(**describe_choice(each)) for each in found], known_variables())


async def choose_model(call: Call[NewChoice, NoQuery]) -> dict[str, Any]:
    """Try a model with 'sestet setup' in a process of its own: a trial has a working directory of its own."""
    body = call.body
    if bool(body.vendor) == bool(body.choice or body.server):
        raise ApiError("bad_request", "name a choice, a server and its choice, or a vendor")
    given = {"choose": body.choice, "model": body.model, "vendor": body.vendor, "server": body.server}
    options = [f"--{name}={value}" for name, value in given.items() if value]
    if any("\0" in option for option in options):
        raise ApiError("bad_request", "a NUL character is in no name")
    options += ["--key-stdin"] if body.key else []
    options += [] if body.choice or body.vendor else ["--yes"]
    file = call.host.settings_file
    config = [f"--config={file}"] if file else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sestet", *config, "setup", "--json", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, problem = await process.communicate(f"{body.key}\n".encode())
    finally:
        if process.returncode is None:
            process.kill()
    if not told.strip():
        words = problem.decode(errors="replace").strip().splitlines()
        raise ApiError("bad_request", words[-1].removeprefix("sestet: ") if words else "the trial failed")
    return from_json(told)


async def restart_server(call: Call[Body, NoQuery]) -> Restarting:
    if call.host.restart is None:
        raise ApiError("conflict", "this server cannot start itself again", "stop its program and start it")
    # A server that refuses its settings would not come back.
    check_models(load_settings(call.host.settings_file).settings)
    call.host.restart()
    return Restarting(call.host.started_at)


async def examine_setup(call: Call[ProbeBody, NoQuery]) -> Examination:
    file, probe = call.host.settings_file, call.body.probe
    # In a thread with a loop of its own: some checks load models and read the whole database.
    checks = await asyncio.to_thread(lambda: asyncio.run(examine(file, probe=probe)))
    healthy = all(check.status != "problem" for check in checks)
    return Examination(healthy, [CheckFacts(*check) for check in checks])


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/settings",
        show_settings,
        "The settings in force and where each comes from; secrets are masked.",
        ("read",),
        answer=SettingList,
    ),
    Endpoint(
        "GET",
        "/api/settings/schema",
        show_settings_schema,
        "The JSON Schema of the settings file.",
        ("read",),
        answer=dict[str, Any],
    ),
    Endpoint(
        "POST",
        "/api/settings/validate",
        validate_settings,
        "The problems that new values would have; nothing is written.",
        body=SettingChanges,
        answer=Problems,
    ),
    Endpoint(
        "PATCH",
        "/api/settings",
        write_settings,
        "Write new values into the settings file; its comments stay.",
        body=SettingChanges,
        answer=Written,
    ),
    Endpoint(
        "GET",
        "/api/models",
        list_models,
        "The model that answers, and those that can run on this machine.",
        ("read",),
        answer=ModelList,
    ),
    Endpoint(
        "GET",
        "/api/setup/choices",
        list_choices,
        "The models to choose from: servers of this machine, vendors with a key, the built-in one.",
        answer=ChoiceList,
    ),
    Endpoint(
        "POST",
        "/api/setup",
        choose_model,
        "Try a model in one real turn, and write it into the settings if it works.",
        body=NewChoice,
        answer=TrialFacts,
    ),
    Endpoint(
        "POST",
        "/api/restart",
        restart_server,
        "Start the server again, so that new settings count; its turns go on afterwards.",
        answer=Restarting,
        status=202,
    ),
    Endpoint(
        "POST",
        "/api/doctor",
        examine_setup,
        "Check the whole set-up, with the way out of each problem.",
        body=ProbeBody,
        answer=Examination,
    ),
)
