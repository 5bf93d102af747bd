"""The fields of requests and positions: marshmallow fields that know their JSON Schema.

Only JSON types, cards, and limits marked `enforced` are validated here. Other limits document the
contract, and `games` decides whether a value makes sense. `kwargs` are always those of `JsonField`.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, cast

import msgspec
from marshmallow import Schema, ValidationError, missing
from marshmallow.fields import Field

from service.problems import MAX_ERRORS

MAX_SAFE_INTEGER: Final = 2**53 - 1  # every JSON parser reads integers up to this exactly
MAX_INT32: Final = 2**31 - 1  # generated clients read larger integers only with `int64`
MAX_SCORE: Final = 10**36  # enough for a hundred doublings in each of a thousand deals
MAX_LISTED_MOVES: Final = 32_000  # a dealt hand has at most 31,122, a set-up hand billions
MAX_MOVES: Final = 1_000  # in a history or a request; a deal has fewer than 500
MAX_RESULTS: Final = 6_000
"""The most deals in a game without a limit on deals. Zheng Fen shares out 100 points a deal, so one
of six seats reaches the highest target by then."""
MAX_MOVE_LENGTH: Final = 1_000  # characters; the longest legal move has some 120

TOLERANCE: Final = 2
SLACK: Final = 100
"""A list whose length the rules check may have `SLACK` items more than `TOLERANCE` times what the
contract allows, so that the rules can say what is wrong. A longer list is refused unread."""

CARDS: Final = frozenset(rank + suit for rank in "23456789TJQKA" for suit in "cdhs") | {"Bj", "Rj"}

JsonSchema = dict[str, Any]


def ref(name: str) -> JsonSchema:
    """Return a JSON Schema that refers to the schema with this name in the contract."""
    return {"$ref": f"#/components/schemas/{name}"}


class ObjectSchema(Schema):
    """A schema whose fields are `JsonField`s, and whose docstring is the contract's description."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        fields = cast("Mapping[str, JsonField]", self.fields)
        self.member_types: Final = {name: field.member_type() for name, field in fields.items()}

    def value_type(self) -> Any:
        """Return the msgspec type of an object with this schema. msgspec ignores unknown fields."""
        return TypedDict(type(self).__name__, self.member_types)  # type: ignore[operator] # mypy reads literal names only


def value_type(schema: JsonSchema, referred: Any) -> Any:
    """Return the msgspec type of the values that match a JSON Schema made by this module.

    `referred` is the type that a `$ref` in the schema stands for. Integers beyond
    `MAX_SAFE_INTEGER` are excluded even if the schema allows them.
    """
    if "$ref" in schema:
        return referred
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    match schema["type"]:
        case "boolean":
            return bool
        case "integer":  # msgspec reads 64 bits only
            low, high = schema["minimum"], schema["maximum"]
            limits = msgspec.Meta(ge=max(low, -MAX_SAFE_INTEGER), le=min(high, MAX_SAFE_INTEGER))
            return Annotated[int, limits]
        case "string":
            shortest, longest = schema.get("minLength"), schema.get("maxLength")
            pattern = schema.get("pattern")  # in Python `$` also matches before a final newline
            pattern = pattern and pattern.replace("$", r"\Z")
            return Annotated[
                str, msgspec.Meta(min_length=shortest, max_length=longest, pattern=pattern)
            ]
    items: Any = value_type(schema["items"], referred)
    limits = msgspec.Meta(min_length=schema.get("minItems"), max_length=schema.get("maxItems"))
    return Annotated[list[items], limits]


class JsonField(Field[Any]):
    """A field that knows its JSON Schema and its msgspec type.

    `value_schema` describes a value that is not null, and `load` converts such a value: `load` must
    accept what matches `value_schema`, and may raise ValidationError for anything else. `referred`
    is the msgspec type that a `$ref` in `value_schema` stands for. An `optional` field may be
    missing or null. `nested` is the schema of the value, or of its items, if these are objects.
    """

    def __init__(
        self,
        description: str,
        value_schema: JsonSchema,
        load: Callable[[Any], Any],
        *,
        required: bool = True,
        nullable: bool = False,
        optional: bool = False,
        referred: Any = None,
        nested: ObjectSchema | None = None,
    ) -> None:
        super().__init__(
            required=required and not optional,
            allow_none=nullable or optional,
            error_messages={"required": "This field is missing.", "null": "Must not be null."},
        )
        self.description = description
        self.value_schema = value_schema
        self.load = load
        self.referred = referred
        self.nested = nested

    def member_type(self) -> Any:
        """Return the msgspec type of this field as a member of an object."""
        type_ = value_type(self.value_schema, self.referred)
        type_ = type_ | None if self.allow_none else type_
        return type_ if self.required else NotRequired[type_]

    def json_schema(self) -> JsonSchema:
        """Return this field's JSON Schema, with its description, and with null if allowed."""
        schema = self.value_schema
        if self.allow_none and ("$ref" in schema or "enum" in schema):
            schema = {"oneOf": [schema, {"type": "null"}]}
        elif self.allow_none:
            schema = {**schema, "type": [schema["type"], "null"]}
        return {"description": self.description, **schema} if self.description else schema

    def deserialize(
        self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any
    ) -> Any:
        """Return what `load` makes of `value`. A null or missing value is returned unchanged.

        Raises:
            ValidationError: if the value is wrong, or is missing or null when it must not be.
        """
        if value is missing or value is None:
            return super().deserialize(value, attr, data, **kwargs)
        return self.load(value)


def integer(
    description: str,
    minimum: int = -MAX_SAFE_INTEGER,
    maximum: int = MAX_SAFE_INTEGER,
    *,
    enforced: bool = False,
    nullable: bool = False,
    **kwargs: Any,
) -> JsonField:
    """Return a field for an integer. Unless `enforced`, `minimum` and `maximum` only document the
    contract, and all integers up to `MAX_SAFE_INTEGER`, positive or negative, pass too."""
    low, high = minimum, maximum
    if not enforced:
        low, high = min(low, -MAX_SAFE_INTEGER), max(high, MAX_SAFE_INTEGER)
    null = " or null" if nullable else ""

    def load(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            unlimited = type(value) is not int and high >= MAX_SAFE_INTEGER
            limits = "" if unlimited else f" from {low} to {high}"
            raise ValidationError(f"Must be a whole number{limits}{null}.")
        return value

    schema: JsonSchema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    if maximum > MAX_INT32:
        schema["format"] = "int64"
    return JsonField(description, schema, load, nullable=nullable, **kwargs)


def checked(
    description: str,
    value_schema: JsonSchema,
    *checks: tuple[Callable[[Any], bool], str],
    **kwargs: Any,
) -> JsonField:
    """Return a field for values that pass all checks. The other arguments go to `JsonField`.

    Each check has a function, which returns whether a value passes, and the message for a value
    that fails. A check runs only if the value has passed all checks before it.
    """

    def load(value: Any) -> Any:
        for passes, message in checks:
            if not passes(value):
                raise ValidationError(message)
        return value

    return JsonField(description, value_schema, load, **kwargs)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


STRING: Final = (lambda value: type(value) is str, "Must be a string.")
ENCODABLE: Final = (_is_encodable, "Must not have a lone surrogate, which UTF-8 cannot encode.")


def boolean(description: str, **kwargs: Any) -> JsonField:
    """Return a field for true or false."""
    check = (lambda value: type(value) is bool, "Must be true or false.")
    return checked(description, {"type": "boolean"}, check, **kwargs)


def string(description: str, max_length: int | None = None, **kwargs: Any) -> JsonField:
    """Return a field for a string that UTF-8 can encode, of 1 to `max_length` characters, or of any
    length if `max_length` is None."""
    if max_length is None:
        return checked(description, {"type": "string"}, STRING, ENCODABLE, **kwargs)
    length = (
        lambda value: 1 <= len(value) <= max_length,
        f"Must have 1 to {max_length} characters.",
    )
    schema: JsonSchema = {"type": "string", "minLength": 1, "maxLength": max_length}
    return checked(description, schema, STRING, ENCODABLE, length, **kwargs)


def _at_most(characters: int) -> tuple[Callable[[Any], bool], str]:
    return lambda text: len(text) <= characters, f"Must have at most {characters} characters."


def unchecked_enum(description: str, values: tuple[str, ...], **kwargs: Any) -> JsonField:
    """Return a field for a string that only the contract limits to `values`. The field accepts any
    string that UTF-8 can encode, of up to 32 characters."""
    schema = {"type": "string", "enum": list(values)}
    return checked(description, schema, STRING, ENCODABLE, _at_most(32), **kwargs)


def constant(description: str, word: str) -> JsonField:
    """Return a field whose value must be `word`."""
    check = (lambda value: value == word, f"Must be {word}.")
    return checked(description, {"type": "string", "enum": [word]}, check)


def move(description: str) -> JsonField:
    """Return a field for a move. Any string of up to `MAX_MOVE_LENGTH` characters passes."""
    type_ = Annotated[str, msgspec.Meta(max_length=MAX_MOVE_LENGTH)]
    return checked(description, ref("Move"), STRING, _at_most(MAX_MOVE_LENGTH), referred=type_)


def card(description: str = "", *, masked: bool = False, **kwargs: Any) -> JsonField:
    """Return a field for a card. If `masked`, the card may also be `??`."""
    allowed = CARDS | {"??"} if masked else CARDS
    or_masked = ", or ?? for a masked card" if masked else ""
    check = (
        lambda value: type(value) is str and value in allowed,
        f"Must be a card, such as 3c, Th or Rj{or_masked}.",
    )
    schema = ref("MaskedCard" if masked else "Card")
    return checked(description, schema, check, referred=Literal[tuple(allowed)], **kwargs)


def load_object(schema: ObjectSchema, value: Any) -> dict[str, Any]:
    """Convert the fields of an object according to its schema, and return them.

    Errors are in the order of the schema, those about unknown fields at the end.

    Raises:
        ValidationError: if the value is not an object, or does not match the schema.
    """
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    # Schema.load takes 8 µs more, and a body can have 6,000 objects.
    fields = cast("Mapping[str, JsonField]", schema.fields)
    loaded = {}
    errors = {}
    for name, field in fields.items():
        try:
            item = field.deserialize(value.get(name, missing))
        except ValidationError as error:
            errors[name] = error.messages
        else:
            if item is not missing:
                loaded[name] = item
    errors |= {name: ["Unknown field."] for name in value if name not in fields}
    if errors:
        raise ValidationError(cast("dict[str, Any]", errors))
    return loaded


def object_field(description: str, schema: type[ObjectSchema], **kwargs: Any) -> JsonField:
    """Return a field for an object. In the contract, the schema has the name of its class."""
    nested = schema()
    return JsonField(
        description,
        ref(schema.__name__),
        lambda value: load_object(nested, value),
        referred=nested.value_type(),
        nested=nested,
        **kwargs,
    )


def list_of(
    description: str,
    item: JsonField,
    max_items: int,
    *,
    min_items: int = 0,
    enforced: bool = False,
    slack: int = SLACK,
    **kwargs: Any,
) -> JsonField:
    """Return a field for a list whose items match the field `item` and are not null.

    Unless `enforced`, `min_items` and `max_items` only document the contract, and the list may have
    up to `TOLERANCE` * `max_items` + `slack` items.
    """
    low, high = (min_items, max_items) if enforced else (0, max_items * TOLERANCE + slack)

    def load(value: Any) -> list[Any]:
        if type(value) is not list:
            raise ValidationError("Must be a list.")
        if len(value) < low:
            raise ValidationError(f"Must have at least {low}.")
        if len(value) > high:
            raise ValidationError(f"Must have at most {max_items}.")
        loaded = []
        errors: dict[int, Any] = {}
        for index, element in enumerate(value):
            try:
                loaded.append(item.load(element))
            except ValidationError as error:
                errors[index] = error.messages
                if len(errors) == MAX_ERRORS:
                    break
        if errors:
            # marshmallow annotates str, but its own lists report errors by index too
            raise ValidationError(cast("dict[str, Any]", errors))
        return loaded

    least = {"minItems": min_items} if min_items else {}
    schema = {"type": "array", "items": item.value_schema, **least, "maxItems": max_items}
    return JsonField(
        description, schema, load, referred=item.referred, nested=item.nested, **kwargs
    )


class Entry(ObjectSchema):
    """A move and the seat that made it."""

    seat = integer(
        # no limits: a posted history is returned unchanged, and must then match this schema too
        "The seat that made the move, from 0. Any integer is accepted in a request, and returned"
        " unchanged.",
    )
    move = string("The move in canonical form; in a view, hidden cards are `??`.")


def entry_list(description: str, max_items: int, *, enforced: bool = False) -> JsonField:
    """Return a field for a list of `Entry` objects, each a move and the seat that made it.
    `max_items` and `enforced` are as in `list_of`."""
    return list_of(description, object_field("", Entry), max_items, enforced=enforced)
