"""Records: values with named fields that are never set again. They are structs of msgspec.

The rest of Sestet imports from here what it needs of msgspec.
"""

from typing import dataclass_transform

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, field
from msgspec import to_builtins as as_builtins
from msgspec.json import Encoder
from msgspec.json import decode as from_json
from msgspec.json import schema_components as json_schemas
from msgspec.structs import asdict as as_dict
from msgspec.structs import fields, force_setattr, replace

__all__ = [
    "DecodeError",
    "Meta",
    "Record",
    "ValidationError",
    "as_builtins",
    "as_dict",
    "convert",
    "field",
    "fields",
    "force_setattr",
    "from_json",
    "json_schemas",
    "replace",
    "to_json",
]

#: A value as JSON, in UTF-8; records become objects.
to_json = Encoder().encode


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """The base of every record: ``class Door(Record)``, then one annotated line for each field.

    Two records are equal when they are of one class and all their values are equal.
    """

    def __hash__(self) -> int:
        # By the first field alone: others may be dictionaries, such as the parameters of a tool.
        return hash((type(self), getattr(self, self.__struct_fields__[0])))
