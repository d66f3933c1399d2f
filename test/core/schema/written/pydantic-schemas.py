# Prints the JSON schemas that Pydantic writes for its types. Writes `pydantic.jsonl`, with the package pydantic[email]:
# `python pydantic-schemas.py > pydantic.jsonl`
import datetime, decimal, enum, ipaddress, json, pathlib, re, uuid
from collections import OrderedDict, deque
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypedDict, TypeVar, Union

import pydantic
from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter, types, networks
from pydantic.dataclasses import dataclass


class Color(enum.Enum):
    RED = 'red'
    BLUE = 'blue'


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    zip: Annotated[str, Field(pattern=r'^\d{5}$')]


class Person(BaseModel):
    model_config = ConfigDict(extra='forbid', title='A person')
    name: str = Field(description='Full name', min_length=1, max_length=80, examples=['Ada'])
    age: Optional[int] = Field(default=None, ge=0, le=150)
    email: networks.EmailStr
    address: Address
    others: list[Address] = []
    color: Color = Color.RED


class Node(BaseModel):
    value: int
    children: list['Node'] = []


class Cat(BaseModel):
    kind: Literal['cat']
    lives: int


class Dog(BaseModel):
    kind: Literal['dog']
    name: str


T = TypeVar('T')


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: types.NonNegativeInt


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


@dataclass
class Item:
    name: str
    price: decimal.Decimal = decimal.Decimal('1.5')


class Computed(BaseModel):
    width: int

    @pydantic.computed_field
    @property
    def area(self) -> int:
        return self.width**2


Pet = Annotated[Union[Cat, Dog], Field(discriminator='kind')]
names = {
    **{f'builtin {t.__name__}': t for t in [str, int, float, bool, bytes, list, dict, tuple, set, frozenset, type(None)]},
    **{f'datetime {t.__name__}': t for t in [datetime.date, datetime.time, datetime.datetime, datetime.timedelta]},
    **{f'ipaddress {n}': getattr(ipaddress, n) for n in ['IPv4Address', 'IPv6Address', 'IPv4Network', 'IPv6Network', 'IPv4Interface', 'IPv6Interface']},
    **{f'types {n}': getattr(types, n) for n in [
        'Strict', 'StrictStr', 'StrictInt', 'StrictFloat', 'StrictBool', 'StrictBytes', 'PositiveInt', 'NegativeInt',
        'NonNegativeInt', 'NonPositiveInt', 'PositiveFloat', 'NegativeFloat', 'NonNegativeFloat', 'NonPositiveFloat',
        'FiniteFloat', 'UUID1', 'UUID3', 'UUID4', 'UUID5', 'UUID6', 'UUID7', 'UUID8', 'FilePath', 'DirectoryPath', 'NewPath',
        'SecretStr', 'SecretBytes', 'ByteSize', 'PastDate', 'FutureDate', 'PastDatetime', 'FutureDatetime', 'AwareDatetime',
        'NaiveDatetime', 'Base64Bytes', 'Base64Str', 'Base64UrlBytes', 'Base64UrlStr', 'EncodedBytes', 'EncodedStr', 'JsonValue', 'OnErrorOmit',
    ] if hasattr(types, n)},
    **{f'networks {n}': getattr(networks, n) for n in [
        'AnyUrl', 'AnyHttpUrl', 'HttpUrl', 'FileUrl', 'FtpUrl', 'WebsocketUrl', 'AnyWebsocketUrl', 'PostgresDsn', 'RedisDsn',
        'MongoDsn', 'KafkaDsn', 'NatsDsn', 'MySQLDsn', 'MariaDBDsn', 'ClickHouseDsn', 'SnowflakeDsn', 'CockroachDsn', 'AmqpDsn',
        'EmailStr', 'NameEmail', 'IPvAnyAddress', 'IPvAnyInterface', 'IPvAnyNetwork',
    ] if hasattr(networks, n)},
    'decimal': decimal.Decimal,
    'decimal places': Annotated[decimal.Decimal, Field(max_digits=6, decimal_places=2)],
    'decimal bounds': Annotated[decimal.Decimal, Field(gt=0, le=10, max_digits=4)],
    'uuid': uuid.UUID,
    'path': pathlib.Path,
    'pattern': re.Pattern,
    'any': Any,
    'literal': Literal['a', 1, True, None],
    'enum': Color,
    'int enum': Level,
    'optional': Optional[str],
    'union': Union[int, str, list[float]],
    'discriminated union': TypeAdapter(Pet),
    'str bounds': Annotated[str, Field(min_length=2, max_length=5)],
    'str pattern': Annotated[str, Field(pattern=r'^[A-Z]{3}-\d+$')],
    'str lookahead': Annotated[str, Field(pattern=re.compile(r'^(?!x)[a-z]+$'))],
    'constr': types.constr(strip_whitespace=True, to_lower=True, min_length=1),
    'conint': types.conint(gt=1, lt=9, multiple_of=2),
    'confloat': types.confloat(ge=0.5, allow_inf_nan=False),
    'condecimal': types.condecimal(max_digits=5, decimal_places=1),
    'conlist': types.conlist(int, min_length=1, max_length=3),
    'conset': types.conset(int, min_length=1),
    'list': list[Address],
    'deque': deque[int],
    'tuple': tuple[int, str],
    'tuple rest': tuple[int, ...],
    'named tuple': Point,
    'typed dict': Movie,
    'dataclass': Item,
    'dict': dict[str, int],
    'dict pattern': dict[Annotated[str, Field(pattern='^x-')], int],
    'dict enum': dict[Color, int],
    'dict uuid': dict[uuid.UUID, int],
    'ordered dict': OrderedDict[str, int],
    'model': Person,
    'recursive': Node,
    'generic': Page[Address],
    'root': RootModel[list[int]],
    'computed': Computed,
    'json': types.Json[list[int]],
}

for name, annotation in names.items():
    written = []
    for mode in ['validation', 'serialization']:
        try:
            adapter = annotation if isinstance(annotation, TypeAdapter) else TypeAdapter(annotation)
            schema = adapter.json_schema(mode=mode)
        except Exception:
            continue  # This version does not have a schema for the type.
        if schema not in written:
            written.append(schema)
            print(json.dumps({'versions': [pydantic.VERSION], 'type': name, 'schema': schema}))
