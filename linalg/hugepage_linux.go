package linalg

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a large page in bytes. Large pages need fewer look-ups in page tables. It
// is 2 MiB on amd64 and, most often, on arm64.
const hugePage = 2 << 20

// preferHugePages asks the system to keep x in large pages, because x is read and written out of
// order. The request is advice: if it is refused, pages stay small.
func preferHugePages[T Float](x []T) {
	start := unsafe.Pointer(unsafe.SliceData(x))
	size := uintptr(len(x)) * unsafe.Sizeof(*new(T))
	skip := -uintptr(start) % hugePage
	if size < skip+hugePage {
		return
	}
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(start, skip)), (size-skip)/hugePage*hugePage), syscall.MADV_HUGEPAGE)
}
