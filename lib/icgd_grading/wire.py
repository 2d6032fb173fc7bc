"""Plain values between judge and worker: a JSON header, then the raw bytes of its arrays.

A message is the header's length (4 bytes, big-endian), the header and the arrays' bytes one after
another. The header holds the value, with a tag at everything JSON has no name for, and each
array's dtype and shape. Nothing that arrives is ever unpickled or looked up by name, and every
dtype, shape and size is checked before a byte of an array is read.
"""

import json
import math
import struct
import sys
from typing import Any, BinaryIO

import numpy as np

HEADER_LIMIT = 1 << 20
ARRAYS_LIMIT = 16 << 20
DTYPES = {"bool", "float16", "float32", "float64", "complex64", "complex128"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class WireError(Exception):
    """What arrived is not a message, or a value is not plain data."""


def send(stream: BinaryIO, value: Any) -> None:
    """Write one value; raises WireError if it is not plain data, before anything is written."""
    arrays: list[np.ndarray] = []
    try:
        tree = _encode(value, arrays)
        shapes = [[array.dtype.name, list(array.shape)] for array in arrays]
        header = json.dumps({"value": tree, "arrays": shapes}).encode()
    except (RecursionError, ValueError, TypeError) as error:
        raise WireError(f"the value cannot be sent: {error}") from None
    size = sum(array.nbytes for array in arrays)
    if len(header) > HEADER_LIMIT or size > ARRAYS_LIMIT:
        raise WireError(f"the value is too large: {len(header)} bytes and {size} in arrays")
    buffers = [array.tobytes() for array in arrays]
    stream.write(b"".join([struct.pack(">I", len(header)), header, *buffers]))
    stream.flush()


def receive(stream: BinaryIO, *, trusted: bool = False) -> Any:
    """Read one value. Raises EOFError where the stream ends, WireError at anything ill-formed.

    Random generators, whose state libraries do not check, are taken from a trusted side only.
    """
    (length,) = struct.unpack(">I", _exactly(stream, 4))
    if length > HEADER_LIMIT:
        raise WireError(f"a header must have at most {HEADER_LIMIT} bytes; this one says {length}")
    header = _exactly(stream, length)
    try:
        message = json.loads(header)
        shapes = [_checked(dtype, shape) for dtype, shape in message["arrays"]]
        if sum(size for _, _, size in shapes) > ARRAYS_LIMIT:
            raise WireError(f"arrays must have at most {ARRAYS_LIMIT} bytes together")
        arrays = [
            np.frombuffer(bytearray(_exactly(stream, size)), dtype).reshape(shape)
            for dtype, shape, size in shapes
        ]
        return _decode(message["value"], arrays, trusted)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise WireError(f"not a message: {error}") from None


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side is gone")
    return data


def _checked(dtype: Any, shape: Any) -> tuple[np.dtype, list[int], int]:
    if type(dtype) is not str or dtype not in DTYPES:
        raise WireError(f"{dtype!r} is not a type of numbers")
    if len(shape) > 8 or not all(type(n) is int and 0 <= n <= ARRAYS_LIMIT for n in shape):
        raise WireError(f"{shape!r} is not a shape")
    kind = np.dtype(dtype)
    return kind, shape, math.prod(shape) * kind.itemsize


def _encode(value: Any, arrays: list[np.ndarray]) -> Any:
    def array(of: np.ndarray, tag: str) -> dict[str, int]:
        if of.dtype.name not in DTYPES:
            raise WireError(f"an array of {of.dtype.name} is not plain data")
        if of.nbytes > ARRAYS_LIMIT:  # before it is copied
            raise WireError(f"the value is too large: an array of {of.nbytes} bytes")
        arrays.append(np.ascontiguousarray(of.astype(of.dtype.newbyteorder("="))).reshape(of.shape))
        return {tag: len(arrays) - 1}

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        return array(np.asarray(value), "scalar")
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, np.ndarray):
        return array(np.asarray(value), "array")
    if isinstance(value, (list, tuple)):
        tag = "list" if isinstance(value, list) else "tuple"
        return {tag: [_encode(item, arrays) for item in value]}
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.nn.Module):
        value = dict(value.state_dict())
    if isinstance(value, dict):
        items = [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]
        return {"dict": items}
    if torch and isinstance(value, torch.Tensor):
        return array(value.detach().cpu().resolve_conj().resolve_neg().numpy(), "tensor")
    if torch and isinstance(value, torch.Generator):
        return array(value.get_state().numpy(), "torch.Generator")
    if isinstance(value, np.random.Generator):
        return {"numpy.Generator": json.dumps(value.bit_generator.state)}
    raise WireError(f"a {type(value).__name__} is not plain data")


def _decode(tree: Any, arrays: list[np.ndarray], trusted: bool) -> Any:
    def decode(part: Any) -> Any:
        return _decode(part, arrays, trusted)

    if not isinstance(tree, dict):
        if isinstance(tree, list):
            raise WireError("a list without its tag")
        return tree
    ((tag, content),) = tree.items()
    match tag:
        case "list":
            return [decode(item) for item in content]
        case "tuple":
            return tuple(decode(item) for item in content)
        case "dict":
            return {decode(key): decode(item) for key, item in content}
        case "complex":
            real, imaginary = content
            return complex(real, imaginary)
        case "array":
            return arrays[content]
        case "scalar":
            return arrays[content][()]
        case "tensor":
            import torch

            return torch.from_numpy(arrays[content])
        case "torch.Generator" if trusted:
            import torch

            return torch.Generator().set_state(torch.from_numpy(arrays[content]))
        case "numpy.Generator" if trusted:
            generator = np.random.default_rng()
            generator.bit_generator.state = json.loads(content)
            return generator
    raise WireError(f"unknown tag {tag!r}")
