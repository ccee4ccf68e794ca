"""Looks for the vault's values in everything that Sestet shows, keeps or sends to a model.

This process does not know the values. It has a fingerprint of a few bits for the beginning of each, compares
those with every place of a text, and sends the text to the broker only where one fits: docs/vault.md.
"""

import logging
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sestet.core.errors import VaultError
from sestet.services.vault.broker_process import ask
from sestet.services.vault.vault import Vault

# What scanning needs is loaded on use: every start loads this module, and most conversations have no vault.
if TYPE_CHECKING:
    import numpy

#: Bits that a table of flags looks at first; almost every place of a text ends there.
_TABLE_BITS = 16
_WORD_BITS = 64
_MOST_REMEMBERED = 10_000
_LOST = "[withheld: the vault's process ended before this text was checked]"


class _Known(NamedTuple):
    """The fingerprints, ready to be compared."""

    multiplier: "numpy.uint64"
    table: "numpy.ndarray[tuple[int], numpy.dtype[numpy.bool]]"
    values: frozenset[int]
    #: Hashes of texts that hold none of these values: an agent reads the same message again in each step.
    harmless: set[int]


class Scanner:
    """The scanner of one vault. It costs nothing while the vault is locked or empty."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._known: _Known | None = None
        self._channel: socket.socket | None = None
        self._lock = threading.Lock()
        #: One at a time asks for fingerprints: older ones must not take the place of newer ones.
        self._refreshing = threading.RLock()
        self._stamp = vault.stamp()
        vault.on_change = self.refresh
        if vault.is_unlocked:
            self.refresh()

    @property
    def watches(self) -> bool:
        return self._known is not None

    def clean(self, text: str) -> str:
        known = self._known
        if known is None or hash(text) in known.harmless:
            return text
        suspects = _suspects(known, text.encode("utf-8", "surrogatepass"))
        cleaned = self._confirmed(text, suspects) if suspects else text
        if cleaned is text:
            if len(known.harmless) >= _MOST_REMEMBERED:
                known.harmless.clear()
            known.harmless.add(hash(text))
        return cleaned

    def look_again(self) -> None:
        """Take over what another process has changed in the vault since."""
        if self.vault.is_unlocked and self.vault.stamp() != self._stamp:
            self.refresh()

    def refresh(self) -> None:
        """Get the fingerprints of what the vault holds now; after it was locked: of nothing."""
        with self._refreshing:
            self._stamp = self.vault.stamp()
            try:
                multiplier, values = self.vault.fingerprints() if self.vault.is_unlocked else (1, ())
            except VaultError:
                values, multiplier = (), 1
            self._known = _known(multiplier, values) if values else None
            if self._known is not None:
                _guard_logs(self)
            else:
                self.close()

    def close(self) -> None:
        """Stop watching."""
        self._known = None
        _unguard_logs(self)
        with self._lock:
            if self._channel is not None:
                self._channel.close()
            self._channel = None

    def _confirmed(self, text: str, suspects: list[str]) -> str:
        """The text as the broker cleans it. Without the broker, nothing of it is shown."""
        with self._lock:
            try:
                if self._channel is None:
                    self._channel = self.vault.connect()
                # Most suspects only look like a value, and are cheaper to compare than the whole text.
                if not ask(self._channel, "is_watched", {"suspects": suspects})["watched"]:
                    return text
                return str(ask(self._channel, "clean", {"text": text})["text"])
            except VaultError:
                if self._channel is not None:
                    self._channel.close()
                self._channel = None
                return _LOST


def _known(multiplier: int, values: Sequence[int]) -> _Known:
    import numpy

    from sestet.services.vault.watch import FINGERPRINT_BITS

    table = numpy.zeros(2**_TABLE_BITS, dtype=numpy.bool_)
    table[[value >> (FINGERPRINT_BITS - _TABLE_BITS) for value in values]] = True
    return _Known(numpy.uint64(multiplier), table, frozenset(values), set())


def _suspects(known: _Known, content: bytes) -> list[str]:
    """The places of a text where a fingerprint fits, folded, in any encoding that is undone."""
    import numpy

    from sestet.services.vault import encodings, watch

    if len(content) < encodings.SHORTEST:
        return []
    # Zeros between the views: no view runs over into the next.
    joined = b"\0".join(encodings.folded_views(content))
    if len(joined) < encodings.SHORTEST:
        return []
    # Each place with the seven after it is one number of 64 bits.
    words = numpy.ndarray((len(joined) - encodings.SHORTEST + 1,), "<u8", joined, strides=(1,))
    mixed = words * known.multiplier
    # The upper 16 of the 64 bits.
    (places,) = known.table[mixed.view("<u2")[3::4]].nonzero()
    close = (mixed[places] >> numpy.uint64(_WORD_BITS - watch.FINGERPRINT_BITS)).tolist()
    fitting = (place for place, value in zip(places.tolist(), close, strict=True) if value in known.values)
    return [joined[place : place + watch.PIECE].decode("ascii") for place in fitting]


#: Scanners that clean log records now, and how records are made without them.
_guards: list[Scanner] = []
_plain_factory = logging.getLogRecordFactory()


def _guard_logs(scanner: Scanner) -> None:
    """Clean every record of every logger, also those of vendors' libraries."""
    global _plain_factory
    if scanner in _guards:
        return
    if not _guards:
        _plain_factory = logging.getLogRecordFactory()
        logging.setLogRecordFactory(_clean_log_record)
    _guards.append(scanner)


def _unguard_logs(scanner: Scanner) -> None:
    with suppress(ValueError):
        _guards.remove(scanner)
        if not _guards:
            logging.setLogRecordFactory(_plain_factory)


def _clean_log_record(*given: object, **named: object) -> logging.LogRecord:
    record = _plain_factory(*given, **named)
    try:
        text = record.getMessage()
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    except Exception:
        # A record whose arguments do not fit is not shown by logging either.
        text, trace = "a log record could not be read", ""
    for scanner in tuple(_guards):
        text, trace = scanner.clean(text), scanner.clean(trace)
    record.msg, record.args = text, None
    # Formatters show this instead of the exception itself.
    record.exc_text = trace or None
    return record
