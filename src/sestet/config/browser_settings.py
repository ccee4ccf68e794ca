"""The settings of the navigator's browser."""

from collections.abc import Mapping
from typing import Annotated, Literal

from sestet.config.section import Section
from sestet.core.record import field


class BrowserSettings(Section):
    """The browser that the navigator uses."""

    enabled: Annotated[bool, "Whether the navigator has a browser, if Chromium is installed"] = True
    visible: Annotated[bool, "Show the browser's window, to watch it or to sign in yourself"] = False
    allow: Annotated[
        tuple[str, ...],
        "Places of this machine or your own network that pages may be read from, each with its port, such as "
        "localhost:3000 or 192.168.1.5:80; every other private address is blocked",
    ] = ()
    profiles: Annotated[
        Mapping[str, tuple[str, ...]],
        "Sites whose cookies are kept between conversations, under a name of your choice: "
        "work: [github.com, wiki.example.com]",
    ] = field(default_factory=dict[str, tuple[str, ...]])
    downloads: Annotated[str, "The directory of the workspace that downloads, pictures and PDFs go to"] = (
        "downloads"
    )
    download_mb: Annotated[int, "The most megabytes of one download", {"minimum": 1}] = 100
    memory_mb: Annotated[
        int, "Megabytes of memory at which the browser is ended, with all pages together", {"minimum": 200}
    ] = 1_500
    idle_minutes: Annotated[
        float, "Minutes without a call after which the pages of a conversation are closed", {"minimum": 0.1}
    ] = 15.0
    sandbox: Annotated[
        Literal["on", "off"],
        "Chromium's own sandbox; off: a hostile page that finds a hole can do what you can",
    ] = "on"
