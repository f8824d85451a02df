package linalg

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For cuts [0, n) into blocks of grain indices, calls body once for each block on all cores, and
// returns when all calls are done. The last block can be shorter. The cut depends on n and grain
// only, never on the number of cores or on timing: if body(lo, hi) writes only the data of [lo,
// hi), the result is always the same. A single block runs on the caller's goroutine.
//
// If bodies panic, For waits for the other blocks and then panics with the value of the lowest
// block that panicked. Calls can be nested.
func For(n, grain int, body func(lo, hi int)) {
	if grain < 1 {
		panic("linalg: For needs a grain of at least 1")
	}
	if n <= 0 {
		return
	}
	blocks := (n-1)/grain + 1
	if blocks == 1 {
		body(0, n)
		return
	}
	l := loop{n: n, grain: grain, blocks: blocks, body: body}
	var group sync.WaitGroup
	for range min(blocks, runtime.GOMAXPROCS(0)) - 1 {
		group.Go(l.work)
	}
	l.work()
	group.Wait()
	if l.failed {
		panic(l.value)
	}
}

// Each is like [For], but calls body for one index at a time.
func Each(n, grain int, body func(i int)) {
	For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			body(i)
		}
	})
}

// loop is the state of one call of For, which the workers share.
type loop struct {
	n, grain, blocks int
	body             func(lo, hi int)
	next             atomic.Int64 // first block that is not yet taken

	mu     sync.Mutex
	failed bool
	block  int // lowest block that panicked
	value  any // value with which that block panicked
}

// work takes blocks and runs them until all blocks are taken.
func (l *loop) work() {
	for {
		b := int(l.next.Add(1)) - 1
		if b >= l.blocks {
			return
		}
		l.run(b)
	}
}

// run calls the body for block b. It recovers a panic, so that the process does not end and the
// caller of For can handle the panic.
func (l *loop) run(b int) {
	returned := false
	defer func() {
		if !returned {
			l.record(b, recover())
		}
	}()
	l.body(b*l.grain, min(l.n, b*l.grain+l.grain))
	returned = true
}

func (l *loop) record(b int, value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.failed || b < l.block {
		l.failed, l.block, l.value = true, b, value
	}
}
