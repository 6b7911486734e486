package engine

import (
	"syscall"
	"unsafe"
)

// newPage returns a page of the largest size, from the system if it can. It asks for pieces of 2 MiB:
// a log fills them, and each is provided at its first touch, as each of 4 KiB would be.
func newPage() page {
	const n = 1 << pageBits
	b, err := syscall.Mmap(-1, 0, n*int(unsafe.Sizeof(part{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return page{parts: make([]part, n)}
	}
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) // a wish
	return page{parts: unsafe.Slice((*part)(unsafe.Pointer(unsafe.SliceData(b))), n), mapped: b}
}

func (p *page) free() {
	if p.mapped != nil {
		_ = syscall.Munmap(p.mapped)
		*p = page{}
	}
}
