# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays that may lie on a GPU: PyTorch, CuPy, JAX, and whatever speaks __cuda_array_interface__ or DLPack. Work is
enqueued on the current stream of the library that the array comes from."""

import sys

from . import _dlpack
from ._dtypes import BY_FORMAT, F64, I32, I64, NAMES, U64, code_of
from ._errors import InvalidArgumentError, UnsupportedTypeError, named_type
from ._host_kinds import BufferKind, HostKind, NumpyKind
from ._view import View, element_strides

# As CUDA's array interface writes types; its byte order must be that of the machine.
_KINDS_OF_TYPESTR = {"u": "BHIQ", "i": "bhiq", "f": " efd", "b": "?"}


class TorchKind(HostKind):
    """torch.Tensor on the CPU or a CUDA device."""

    always_host = False

    @classmethod
    def view(cls, source, what):
        torch = sys.modules["torch"]
        if source.requires_grad and torch.is_grad_enabled():
            raise InvalidArgumentError(f"{what} requires a gradient, which gsort does not give; pass .detach() of it")
        if source.layout is not torch.strided:
            raise UnsupportedTypeError(f"{what} is a {source.layout} tensor; pass .to_dense() of it")
        code = code_of(source.dtype, what)
        if source.device.type not in ("cpu", "cuda"):
            raise UnsupportedTypeError(f"{what} lies on the device {source.device}; gsort takes CPU and CUDA tensors")
        copied = source.is_neg()
        if copied:
            source = source.resolve_neg()
        strides = None if source.is_contiguous() else tuple(source.stride())
        device = source.device.index if source.device.type == "cuda" else None
        result = View(cls, source, source.data_ptr(), code, source.dtype, source.shape, strides, False, device)
        result.copied = copied
        if device is not None:
            result.keep = torch.cuda.current_stream(device)
            result.stream = result.keep.cuda_stream
        return result

    @classmethod
    def empty(cls, like, shape, code):
        torch = sys.modules["torch"]
        native = like.native if code is None else getattr(torch, NAMES[code], None)
        if native is None:
            raise InvalidArgumentError(f"this version of PyTorch has no {NAMES[code]}; pass another dtype")
        return cls.view(torch.empty(tuple(shape), dtype=native, device=like.source.device), "result")

    @classmethod
    def compact(cls, view):
        return cls.view(view.source.contiguous(), "copy")

    @staticmethod
    def result_code(code):
        # Few of PyTorch's operations take uint64; sums of unsigned integers and indices keep their bits as int64.
        return I64 if code == U64 else code

    @classmethod
    def scalar(cls, like, code):
        view = cls.empty(like, (), cls.result_code(code))
        return view, lambda: view.source


class CupyKind(HostKind):
    """cupy.ndarray."""

    always_host = False

    @classmethod
    def view(cls, source, what):
        itemsize = source.dtype.itemsize
        strides = None
        if not source.flags.c_contiguous:
            strides = element_strides(source.strides, itemsize)
        device = source.device.id
        result = View(cls, source, source.data.ptr, code_of(source.dtype, what), source.dtype, source.shape, strides,
                      False, device)  # fmt: skip
        cuda = sys.modules["cupy"].cuda
        with cuda.Device(device):
            result.keep = cuda.get_current_stream()
        result.stream = result.keep.ptr
        return result

    @classmethod
    def empty(cls, like, shape, code):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(like.device):
            return cls.view(cupy.empty(tuple(shape), like.native if code is None else NAMES[code]), "result")

    @classmethod
    def compact(cls, view):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(view.device):
            return cls.view(cupy.ascontiguousarray(view.source), "copy")

    @classmethod
    def scalar(cls, like, code):
        view = cls.empty(like, (), code)
        return view, lambda: view.source


class JaxKind(HostKind):
    """jax.Array, which cannot be written: results are new arrays on the same device, complete when they are returned."""

    always_host = False
    waits = True
    readonly_hint = ", as all arrays of JAX are; take the array that is returned, or pass a NumPy array"

    @classmethod
    def view(cls, source, what):
        cls._check(source, what)
        return cls._view(source, what, code_of(source.dtype, what))

    @classmethod
    def values_view(cls, source, what):
        cls._check(source, what)
        dtypes = sys.modules["jax"].dtypes
        if dtypes.issubdtype(source.dtype, dtypes.extended):  # such as the keys of random numbers
            raise UnsupportedTypeError(f"{what} has elements of type {source.dtype}; pass their indices")
        (device,) = source.devices()
        # On a GPU elements of less than a byte lie closer to each other than their type says.
        plain = device.platform == "cpu" or source.dtype.kind == "c"
        return cls._view(source, what, None) if plain else cls.view(source, what)

    @staticmethod
    def _check(source, what):
        jax = sys.modules["jax"]
        if isinstance(source, jax.core.Tracer):
            raise UnsupportedTypeError(f"{what} is a tracer of JAX; gsort works on arrays, outside jit and grad")
        if not isinstance(source, jax.Array):
            raise UnsupportedTypeError(f"{what} is {named_type(source)}, not an array of JAX")
        if source.is_deleted():
            raise InvalidArgumentError(f"{what} was deleted, or donated to a function of JAX; pass a copy made before")
        devices = len(source.devices())
        if devices != 1:
            raise UnsupportedTypeError(f"{what} is sharded over {devices} devices; pass an array of one device")

    @classmethod
    def _view(cls, source, what, code):
        (device,) = source.devices()
        if device.platform == "cpu":
            host = sys.modules["numpy"].asarray(source)
            result = NumpyKind.view(host, what) if code else NumpyKind.values_view(host, what)
            if not result.contiguous:
                result = NumpyKind.compact(result)
            result.kind, result.origin, result.readonly = cls, source, True
            return result
        order = getattr(getattr(getattr(source, "format", None), "layout", None), "major_to_minor", None)
        if order is not None and tuple(order) != tuple(range(len(order))):
            raise InvalidArgumentError(
                f"{what} lies in memory with its axes in the order {tuple(order)}; pass a copy in the default layout"
            )
        source.block_until_ready()
        result = View(cls, source, source.unsafe_buffer_pointer(), code, source.dtype, source.shape, None, True,
                      device.local_hardware_id, source.dtype.itemsize)  # fmt: skip
        result.stream = 0
        return result

    @classmethod
    def empty(cls, like, shape, code):
        jax = sys.modules["jax"]
        # What JAX cannot hold is made in host memory, to which the library copies, and cut down by finish().
        if like.device is None or not cls.holds(code):
            return NumpyKind.empty(like, shape, code)
        # A new buffer that nothing else knows of yet, so that writing into it breaks no promise of JAX.
        source = jax.device_put(
            jax.numpy.zeros(tuple(shape), like.native if code is None else NAMES[code]), cls._device(like)
        )
        result = cls._view(source, "result", code or like.code)
        result.readonly = False
        return result

    @staticmethod
    def holds(code):
        """Without jax_enable_x64 JAX has no types of 64 bits."""
        return code not in (I64, U64, F64) or bool(sys.modules["jax"].config.jax_enable_x64)

    @staticmethod
    def _device(view):
        (device,) = view.origin.devices()
        return device

    @classmethod
    def finish(cls, view, like):
        if view.kind is cls:
            return view.source
        result = view.source
        if not cls.holds(view.code):
            result = result.astype({I64: "int32", U64: "uint32", F64: "float32"}[view.code])
            if view.code != F64 and (result != view.source).any():
                raise InvalidArgumentError(
                    "a result has more than 32 bits, which is all that JAX has without jax_enable_x64; set that, or "
                    f"pass a NumPy array of type {NAMES[view.code]} as out"
                )
        return sys.modules["jax"].device_put(result, cls._device(like))

    @classmethod
    def default_index_code(cls):
        return I64 if cls.holds(I64) else I32

    @staticmethod
    def scalar(like, code):
        if code is None and like.device is not None:
            code = like.code
        return NumpyKind.scalar(like, code)


class CudaInterfaceKind(HostKind):
    """Any other object with __cuda_array_interface__ (Numba, for one)."""

    always_host = False

    @classmethod
    def view(cls, source, what):
        facts = source.__cuda_array_interface__
        typestr = facts["typestr"]
        size = int(typestr[2:])
        letters = _KINDS_OF_TYPESTR.get(typestr[1], "")
        place = {1: 0, 2: 1, 4: 2, 8: 3}.get(size, 4)
        code = BY_FORMAT.get(letters[place : place + 1])
        if code is None or typestr[0] == ">":
            raise UnsupportedTypeError(f"{what} has elements of the type {typestr!r}, which gsort does not take")
        if facts.get("mask") is not None:
            raise UnsupportedTypeError(f"{what} has a mask; pass an array without one")
        address, readonly = facts["data"]
        strides = facts.get("strides")
        if strides is not None:
            strides = element_strides(strides, size)
        result = View(cls, source, address, code, typestr, facts["shape"], strides, readonly, -1)
        result.stream = facts.get("stream") or 0
        return result

    @staticmethod
    def empty(like, shape, code):
        raise InvalidArgumentError(
            f"gsort cannot make a new {type(like.origin).__name__} for the result; pass out=, or CuPy's or PyTorch's"
        )


class DlpackKind(CudaInterfaceKind):
    """Any other object with __dlpack__. Results in host memory are NumPy arrays, or memoryviews without NumPy."""

    @classmethod
    def view(cls, source, what):
        tensor = _dlpack.read(source, what)
        result = View(cls, tensor.capsule, tensor.address, tensor.code, NAMES[tensor.code], tensor.shape,
                      tensor.strides, tensor.readonly, tensor.device)  # fmt: skip
        result.origin, result.stream = source, None if tensor.device is None else 1
        result.copied = tensor.copied
        return result

    @staticmethod
    def empty(like, shape, code):
        if like.device is not None:
            return CudaInterfaceKind.empty(like, shape, code)
        if "numpy" in sys.modules:
            return NumpyKind.empty(like, shape, code or like.code)
        return BufferKind.empty(like, shape, code or like.code)

    @staticmethod
    def finish(view, like):
        return view.origin


__all__ = ["CudaInterfaceKind", "CupyKind", "DlpackKind", "JaxKind", "TorchKind"]
