# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions: one for each status of the library, all of them Error."""

import operator

INVALID_ARGUMENT, OUT_OF_MEMORY, NO_DEVICE, DEVICE_LOST, CANCELLED, FORKED, NOT_SUPPORTED, INTERNAL = range(1, 9)


class Error(Exception):
    """A call failed.

    Attributes:
        status: the library's number (GSORT_ERROR_* in gsort.h).
        sentence: what is wrong, its value, and the remedy.
    """

    status = INTERNAL

    def __init__(self, sentence, status=None):
        super().__init__(sentence)
        self.sentence = sentence
        if status is not None:
            self.status = status

    def __reduce__(self):
        return type(self), (self.sentence, self.status)


class InvalidArgumentError(Error, ValueError):
    """An argument is wrong; nothing was written."""

    status = INVALID_ARGUMENT


class UnsupportedTypeError(InvalidArgumentError, TypeError):
    """An argument is not an array, or its elements are of a type that gsort does not know."""


class OutOfMemoryError(Error, MemoryError):
    """Host or device memory, or a limit set by the caller, ran out."""

    status = OUT_OF_MEMORY


class NoDeviceError(Error):
    """CUDA was asked for, and no usable device is there."""

    status = NO_DEVICE


class DeviceLostError(Error):
    """The device failed for good; every later call on it says so at once."""

    status = DEVICE_LOST


class CancelledError(Error):
    """Sorter.cancel() stopped the call."""

    status = CANCELLED


class ForkedError(Error):
    """The sorter was made before a fork and is used in the child."""

    status = FORKED


class NotSupportedError(Error):
    """The sorter's backend or state cannot do what was asked."""

    status = NOT_SUPPORTED


class InternalError(Error):
    """A fault of the library's own: please report it."""

    status = INTERNAL


_CLASSES = {
    kind.status: kind
    for kind in (InvalidArgumentError, OutOfMemoryError, NoDeviceError, DeviceLostError, CancelledError, ForkedError,
                 NotSupportedError, InternalError)
}  # fmt: skip


def named_type(value):
    """The type of a value with its article: a list, an int."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def integer_of(name, value, least, most):
    """An argument as a number that the library's type for it holds."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise UnsupportedTypeError(f"{name} = {value!r} is {named_type(value)}; pass an integer") from error
    if not least <= number <= most:
        side, bound = ("below", least) if number < least else ("above", most)
        raise InvalidArgumentError(f"{name} = {number} is {side} {bound}")
    return number


def error_of(status, sentence):
    """The exception for a status."""
    return _CLASSES.get(status, Error)(sentence, status)
