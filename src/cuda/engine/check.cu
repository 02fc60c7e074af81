// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/check.h"

namespace gsort_internal {
namespace {

// Faults after which the context answers every call with the same error.
bool is_sticky(cudaError_t result) {
  switch (result) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown:
    case cudaErrorContained:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorCudartUnloading:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

// What a cooperative launch or one of clusters answers where they are too many for what the stream can have.
bool does_not_fit(cudaError_t result) {
  return result == cudaErrorCooperativeLaunchTooLarge || result == cudaErrorLaunchOutOfResources ||
         result == cudaErrorInvalidClusterSize;
}

}  // namespace

void cuda_check(cudaError_t result, const char *what) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  if (result == cudaErrorMemoryAllocation)
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "%s: the device has not enough free memory; free some or sort fewer elements", what);
  if (is_sticky(result))
    throw Error(GSORT_ERROR_DEVICE_LOST, "%s: %s; the device cannot be used again by this process: restart it", what,
                cudaGetErrorString(result));
  // Captures are other threads' to begin and to spoil: what was found right before may have changed at the launch.
  if (result == cudaErrorStreamCaptureInvalidated || result == cudaErrorStreamCaptureImplicit)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "%s: %s; a capture of the handle's stream was invalidated by another call, or the handle works on the "
                "legacy default stream while another stream is being captured: end the capture, or give the handle a "
                "stream with gsort_set_stream()",
                what, cudaGetErrorName(result));
  throw Error(GSORT_ERROR_INTERNAL, "%s: %s (%s); please report it", what, cudaGetErrorName(result),
              cudaGetErrorString(result));
}

void check_launch_together(cudaError_t result, const char *kernel) {
  if (!does_not_fit(result)) return cuda_check(result, kernel);
  (void)cudaGetLastError();
  throw LaunchDoesNotFit(kernel, cudaGetErrorString(result));
}

void check_launch(const char *kernel) { cuda_check(cudaGetLastError(), kernel); }

}  // namespace gsort_internal
