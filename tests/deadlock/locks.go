// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Goroutines that wait for one another, which the runtime does not see while another sleeps. Nobody is to be accused: goroutines are
// no threads, and who holds a lock of Go's is not written anywhere.
package main

import (
	"sync"
	"time"
)

var red, blue sync.Mutex
var both, done sync.WaitGroup

//go:noinline
func takes(first, second *sync.Mutex) {
	first.Lock()
	both.Done()
	both.Wait()
	second.Lock()
	done.Done()
}

func main() {
	go func() {
		time.Sleep(120 * time.Second)
		panic("nobody ended it")
	}()
	both.Add(2)
	done.Add(2)
	go takes(&red, &blue)
	go takes(&blue, &red)
	done.Wait()
}
