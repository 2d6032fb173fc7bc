"""What crosses between judge and worker, and what is refused before it is read."""

import io
import json
import struct

import numpy as np
import pytest
import torch

from icgd_grading import wire


def there_and_back(value, **options):
    stream = io.BytesIO()
    wire.send(stream, value)
    stream.seek(0)
    return wire.receive(stream, **options)


def message(value, arrays=(), content=b""):
    header = json.dumps({"value": value, "arrays": list(arrays)}).encode()
    return io.BytesIO(struct.pack(">I", len(header)) + header + content)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -(2**80), 1.5, float("inf"), 2 - 3j, "λ", [], [1, [2.0]], (1, "a"), {}),
        *({"a": (1,), 3: [None]}, {"complex": [1]}, np.float64(2.5), np.int32(7), np.bool_(True)),
    ],
)
def test_plain_values_come_back_with_their_types(value):
    result = there_and_back(value)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize("dtype", sorted(wire.DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5, 7)])
def test_arrays_come_back(dtype, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    result = there_and_back({"x": array})["x"]
    np.testing.assert_array_equal(result, array, strict=True)


def test_arrays_in_any_memory_order_come_back():
    array = np.arange(35.0).reshape(5, 7)
    for view in (array.T, array[::2, ::-3], np.asfortranarray(array), array.astype(">f8")):
        np.testing.assert_array_equal(there_and_back(view), view)


def test_tensors_and_models_come_back_as_tensors():
    g = torch.Generator().manual_seed(0)
    tensor = torch.randn(5, 3, dtype=torch.float64, generator=g, requires_grad=True)
    torch.testing.assert_close(there_and_back(tensor.T), tensor.detach().T)
    model = torch.nn.Linear(3, 2)
    state = there_and_back(model)
    assert list(state) == ["weight", "bias"]
    torch.testing.assert_close(state["weight"], model.weight.detach())


def test_generators_continue_where_they_were_but_only_from_a_trusted_side():
    for generator in (torch.Generator().manual_seed(3), np.random.default_rng(3)):
        twin = there_and_back(generator, trusted=True)
        if isinstance(generator, torch.Generator):
            assert torch.rand(4, generator=twin).equal(torch.rand(4, generator=generator))
        else:
            np.testing.assert_array_equal(twin.random(4), generator.random(4))
        with pytest.raises(wire.WireError, match="unknown tag"):
            there_and_back(generator)


def test_what_is_not_plain_is_not_sent():
    circle = []
    circle.append(circle)
    objects = np.array([object()])
    large = np.zeros(wire.ARRAYS_LIMIT + 1, np.uint8)
    for value in (object(), {1, 2}, len, circle, objects, np.array(["a"]), large, "x" * 2**21):
        stream = io.BytesIO()
        with pytest.raises(wire.WireError):
            wire.send(stream, value)
        assert not stream.getvalue()
    with pytest.raises(wire.WireError, match="too large"):
        there_and_back([large[: wire.ARRAYS_LIMIT // 2]] * 3)


@pytest.mark.parametrize(
    "stream",
    [
        io.BytesIO(struct.pack(">I", 2**31) + b"x"),
        io.BytesIO(struct.pack(">I", 3) + b"abc"),
        io.BytesIO(struct.pack(">I", 4) + b"\xff\xfe\xfd\xfc"),
        io.BytesIO(struct.pack(">I", 200_000) + b"[" * 200_000),
        message([1, 2]),
        message({"list": [1], "tuple": []}),
        message({"pickle": "cos"}),
        message({"list": 5}),
        message({"dict": [[{"list": []}, 1]]}),
        message({"complex": ["1", "2"]}),
        message({"array": 0}),
        message({"array": "0"}),
        message({"array": 0}, [["object", [1]]], bytes(8)),
        message({"array": 0}, [["V8", [1]]], bytes(8)),
        message({"array": 0}, [["float64", [-1]]], bytes(8)),
        message({"array": 0}, [["float64", [1.0]]], bytes(8)),
        message({"array": 0}, [["float64", [True]]], bytes(8)),
        message({"array": 0}, [["float64", "1"]], bytes(8)),
        message({"array": 0}, [["float64", [2**20, 2**20]]]),
        message({"array": 0}, [["float64", [2**20, 0, 2**20]]] * 9 + [["uint8", [2**24 + 1]]]),
        message({"array": 0}, [["float64", [1] * 9]], bytes(8)),
        message({"array": 0}, [["float64"]]),
        message({"array": 0}, 3 * [["uint8", [2**23]]]),
    ],
)
def test_what_is_ill_formed_is_refused(stream):
    with pytest.raises(wire.WireError):
        wire.receive(stream)


def test_a_stream_that_ends_is_told_apart():
    for content in (
        b"",
        b"\x00\x00",
        struct.pack(">I", 9) + b"{",
        message({"array": 0}, [["uint8", [9]]]).read(),
    ):
        with pytest.raises(EOFError):
            wire.receive(io.BytesIO(content))
