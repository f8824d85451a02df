//go:build slow

package devices_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const movies = `apiVersion: mercer/v1
kind: Job
metadata: {name: movielens}
spec:
  data:
    source: u.data
    partition: {by: devices%s}
    test: {by: user-time, fraction: 0.1}
  protocol: {name: fedcfk, dropped: 0.1, threshold: 10, items: %s}
  kernel: {name: tanimoto}
  learner: {name: cf-komd}
  timeout: {join: 1m, round: 30s}
`

// The 943 people of MovieLens are devices in four processes. A tenth vanishes in each sum, and
// the server is killed in both. The kernel is the kernel of a simulation, byte for byte.
func TestDevicesOfMovieLens(t *testing.T) {
	r := fedcfktest.Ratings(t)
	items := ""
	for i, name := range r.Items {
		items += fmt.Sprintf("%s%q", []string{", ", "["}[max(0, 1-i)], name)
	}
	items += "]"
	played := jobtest.Parse(t, fmt.Sprintf(movies, ", dropout: 0.1", items))
	_, kernel := simulated(t, played, r)
	going := schedule(played, len(r.Users))
	w := foundTown(t, jobtest.Parse(t, fmt.Sprintf(movies, "", items)), r, 4, going)
	began := time.Now()
	w.startServer()
	for i := range w.processes {
		w.startHousehold(i)
	}
	w.until(0, 3<<20)
	w.kill(w.lives[0])
	w.startServer()
	w.until(1, 60<<20)
	w.kill(w.lives[1])
	w.startServer()
	all := w.end()
	cpu, rss := w.serverWork()
	n := uint64(all.Devices)
	t.Logf("%d devices in %d processes, %d vanished, %d finished: %.0f s; each sent %d bytes, received %d bytes, %.2f s of processor time; the server %.0f s of processor time in %d lives, %d MiB",
		all.Devices, w.processes, all.Vanished, all.Finished, time.Since(began).Seconds(), all.Sent/n, all.Received/n, all.CPU/float64(n), cpu.Seconds(), len(w.lives), rss>>20)
	w.sameKernel(kernel)
	if gone := len(going[fedcfk.Popularity]) + len(going[fedcfk.Triangle]); all.Vanished != gone || all.Finished != all.Devices-gone || gone < 170 {
		t.Errorf("%+v, of whom %d vanish", all, gone)
	}
}

// serverWork returns the processor time of all lives of the server, and the largest memory.
func (w *town) serverWork() (cpu time.Duration, rss int64) {
	for _, c := range w.lives {
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		if u, is := c.ProcessState.SysUsage().(*syscall.Rusage); is {
			rss = max(rss, u.Maxrss<<10)
		}
	}
	return cpu, rss
}
