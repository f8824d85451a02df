package devices_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/devices"
	"github.com/mercer-fl/mercer/internal/node/devices/simulator"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// process runs a device on its own disk to its end, or until its journal is about to get a
// record, or has just got it.
func (w *testbed) process(ctx context.Context, i int, client *http.Client, dies death) (*devices.Report, error) {
	kept, err := vault.OpenDisk(filepath.Join(w.dir, "device", fmt.Sprint(i)), "test")
	if err != nil {
		return nil, err
	}
	defer kept.Close() //nolint:errcheck // as a process that is gone
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	w.mu.Lock()
	w.vaults[i] = kept
	if dies.at > 0 {
		w.vaults[i] = &mortal{Vault: kept, dies: func(n int) bool { return n >= dies.at }, last: dies.after, kill: kill}
	}
	w.mu.Unlock()
	return w.device(ctx, i, client)
}

// death is the record of a process at which it is killed, and whether the record is on disk.
type death struct {
	at    int
	after bool
}

// A device that is killed at any record of its journals continues, also when it comes back after the
// server has begun the next step, as long as no round has continued without it: here device after
// device is killed at one record after the other. No device is lost, and the kernel and all
// recommendations equal a simulation's.
func TestADeviceThatIsKilledAnywhereGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, first := range map[string]death{
		"before a record, from the first on": {1, false}, "after a record, from the first on": {1, true}, "after a record, to the last": {8, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ratings()
			j := filmsJob(t, r, "", "20s")
			_, kernel := simulated(t, j, r)
			w := newTestbed(t, j, simulator.Ratings(r))
			reports, client := make([]*devices.Report, people), w.client()
			var running sync.WaitGroup
			for i := range people {
				running.Go(func() {
					_, err := w.process(t.Context(), i, client, death{first.at + i, first.after})
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%s lives on: %v", devices.Name(i), err)
					}
					time.Sleep(300 * time.Millisecond) // the others go on
					if reports[i], err = w.process(t.Context(), i, client, death{}); err != nil {
						t.Errorf("%s: %v", devices.Name(i), err)
					}
				})
			}
			done, err := w.life(t.Context(), never)
			if err != nil {
				t.Fatal(err)
			}
			running.Wait()
			w.sameModel(kernel)
			for _, sum := range figuresOf(t, done) {
				if sum.Added != people || sum.Vanished > 0 {
					t.Errorf("%+v", sum)
				}
			}
			w.patience = time.Millisecond // with a server that is gone
			for i, want := range reports {
				again, err := w.process(t.Context(), i, client, death{})
				if err != nil || len(want.Recommended) == 0 || cmp.Diff(want.Recommended, again.Recommended) != "" {
					t.Errorf("%s: %+v, and without a server %v", devices.Name(i), want, err)
				}
			}
		})
	}
}

// A device that comes when its round has gone on is left out, and a process says so: how many
// of its devices, which and why, with a code that is not 0. The others, and the server, do not
// wait for it in the end.
func TestWhoIsLeftOutSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	r := ratings()
	w := newTestbed(t, filmsJob(t, r, "", "3s"), simulator.Ratings(r))
	second := make(chan struct{})
	w.begun = func(step int) {
		if step == 1 {
			close(second)
		}
	}
	play := func(first, count int) (*simulator.Result, error) {
		return simulator.Run(t.Context(), simulator.Config{
			Home: t.TempDir(), Build: "test", Enrolment: w.enrolment, Server: "http://" + w.address, Source: "ratings", People: w.people,
			Credential: func(row int) ed25519.PrivateKey { return w.keys[row] }, First: first, Count: count,
			Limits: w.limits, HTTP: w.client(), Patience: time.Minute, Logger: slog.New(slog.DiscardHandler),
		})
	}
	var running sync.WaitGroup
	var all *simulator.Result
	var failed error
	running.Go(func() { all, failed = play(0, people-1) })
	running.Go(func() {
		<-second
		late, err := play(people-2, 2) // the first of them has taken part in another process
		if err == nil || late.LeftOut != 2 || fault.CodeOf(err) == fault.CodeDone ||
			!strings.Contains(err.Error(), "2 of 2 devices got no result; the first error: devices: the job continued without device device-23 from step popularity on") {
			t.Errorf("%+v, %v", late, err)
		}
		alone, err := play(people-1, 1)
		if err == nil || alone.LeftOut != 1 || !strings.Contains(err.Error(), "devices: the job continued without device device-24 from step popularity on") {
			t.Errorf("%+v, %v", alone, err)
		}
	})
	if _, err := w.life(t.Context(), never); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	running.Wait()
	if failed != nil || all.Finished != people-1 {
		t.Errorf("%+v, %v", all, failed)
	}
	if wait := time.Since(ended); wait > 20*time.Second {
		t.Errorf("devices end %v after their server", wait)
	}
}

// strike kills a process of devices, unless it has ended, and starts it again.
func (w *town) strike(household int) (killed bool) {
	w.t.Helper()
	c := w.households[household]
	if c == nil {
		return false
	}
	_ = c.Process.Signal(syscall.SIGKILL) // a process may have ended by itself
	if err := c.Wait(); err == nil {
		delete(w.households, household)
		return false
	}
	if status, is := c.ProcessState.Sys().(syscall.WaitStatus); !is || status.Signal() != syscall.SIGKILL {
		w.t.Errorf("%v before it was killed", c.ProcessState)
	}
	w.startHousehold(household)
	return true
}

// begun waits until the server has ended a number of sums, so that the next step begins.
func (w *town) begun(sums int) {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		log, _ := os.ReadFile(w.path("server.log"))
		if strings.Count(string(log), "a session is over") >= sums {
			return
		}
	}
	w.t.Fatalf("step %d does not begin", sums)
}

// Processes of devices that are killed as a step begins, or a moment later, and started again
// at once lose nobody: every device has its recommendations, and every process ends well.
// MERCER_KILLS asks for more kills than the ordinary few.
func TestDevicesKilledAsAStepBegins(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	want := 6
	if text := os.Getenv("MERCER_KILLS"); text != "" {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	r := ratings()
	j := filmsJob(t, r, "", "15s")
	_, kernel := simulated(t, j, r)
	kills, jobs, lost := 0, 0, 0
	for ; kills < want; jobs++ {
		w := foundTown(t, j, r, 3, nil)
		w.startServer()
		for i := range w.processes {
			w.startHousehold(i)
		}
		for sums := range 3 {
			w.begun(sums)
			for i := range w.processes {
				time.Sleep(time.Duration(rand.IntN(20*(1+jobs%4))) * time.Millisecond)
				if w.strike((sums + i) % w.processes) {
					kills++
				}
			}
		}
		all := w.end()
		lost += people - w.recommended()
		w.sameKernel(kernel)
		if all.LeftOut > 0 || w.recommended() != people {
			t.Errorf("job %d: %+v, %d of %d devices have recommendations", jobs, all, w.recommended(), people)
		}
	}
	t.Logf("%d kills in %d jobs: %d devices lost of %d", kills, jobs, lost, jobs*people)
}

// recommended counts the devices that have recommendations.
func (w *town) recommended() (n int) {
	for i := range w.processes {
		files, _ := filepath.Glob(w.path(household(i)) + "/devices/*/recommendations.csv")
		n += len(files)
	}
	return n
}
