"""One choice put to the test, and written into the settings when it has passed."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from sestet.cli.setting_up.choices import Choice
from sestet.cli.setting_up.trial import Show, Trial, refuse, try_out
from sestet.config import Loaded, ProviderSettings, load_settings
from sestet.config.edit import Changes, edit_settings, edited
from sestet.core.errors import ConfigError, PersonError
from sestet.models.choice import check_models

IN_TEXT = "It answered, and called no tool. Once more, with calls in text, as small models can make them."


def attempt_both_ways(
    choice: Choice, watch: Callable[[Choice], Trial], tell: Callable[[str], None]
) -> tuple[Choice, Trial]:
    """What the settings say by themselves, and where that is beyond the model, calls in text."""
    trial = watch(choice)
    if trial.calls_no_tools and choice.can_call_in_text:
        tell(IN_TEXT)
        again = watch(choice.in_text())
        if not again.problem:
            return choice.in_text(), again
    return choice, trial


def attempt(file: Path, choice: Choice, show: Show) -> Trial:
    """Try a choice with the settings as they would be; only what works is written."""
    changes = choice.changes()
    if not choice.model and not _model_is_set(file):
        del changes["agent", "model"]
    try:
        loaded = _loaded_with(file, changes)
        check_models(loaded.settings)
        _require_effect(choice, loaded)
        trial = try_out(loaded.settings, choice, show)
        if not trial.problem:
            edit_settings(file, changes)
    except PersonError as error:
        return refuse(error)
    return trial


def known_providers(file: Path) -> dict[str, ProviderSettings]:
    """Those that are set already; none where the settings cannot be read, which the attempt will tell."""
    try:
        return dict(load_settings(file).settings.providers) if file.exists() else {}
    except ConfigError:
        return {}


def _model_is_set(file: Path) -> bool:
    try:
        return file.exists() and bool(load_settings(file).settings.agent.model)
    except ConfigError:
        return True


def _loaded_with(file: Path, changes: Changes) -> Loaded:
    """The settings as they would be after these changes; the file itself is not touched."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / file.name
        copy.write_text(edited(text, changes, str(file)), encoding="utf-8")
        try:
            return load_settings(copy)
        except ConfigError as error:
            raise ConfigError([problem.replace(str(copy), str(file)) for problem in error.problems]) from None


def _require_effect(choice: Choice, loaded: Loaded) -> None:
    """A variable of the environment counts for more than the file, and would make the file say nothing."""
    agent = loaded.settings.agent
    if (agent.provider, agent.model) == (choice.provider, choice.model):
        return
    winning = ", ".join(name for name in loaded.overrides if name.startswith("SESTET_AGENT"))
    raise PersonError(
        f"the environment sets another model than this one ({winning}), and counts for more than the file"
    )
