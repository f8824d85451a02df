package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// used counts what a process holds.
type used struct {
	heap       uint64 // bytes of reachable objects
	mapped     uint64 // bytes that the process has from the system
	goroutines int
	files      int // open files; 0 if this system does not tell
	threads    int // threads of the system; 0 if this system does not tell
}

func (u used) String() string {
	return fmt.Sprintf("heap %.1f MiB, mapped %.1f MiB, %d goroutines, %d files, %d threads", mib(u.heap), mib(u.mapped), u.goroutines, u.files, u.threads)
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// use measures this process after its garbage is gone. A pool keeps its objects over one collection.
func use() (u used) {
	runtime.GC()
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap, u.mapped, u.goroutines = m.HeapAlloc, m.Sys-m.HeapReleased, runtime.NumGoroutine()
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, after, found := bytes.Cut(status, []byte("\nThreads:")); found {
			if _, err := fmt.Sscan(string(after), &u.threads); err != nil {
				u.threads = 0
			}
		}
	}
	return u
}

// smallJob is a job over the table small of all parties.
const smallJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: small, label: label, scale: none, test: {fraction: 0.25}}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 1}
`

// offerSmall gives a party a table of random rows, and a policy that allows smallJob.
func (s *site) offerSmall(seed uint64) {
	s.t.Helper()
	var rows strings.Builder
	rows.WriteString("a,b,c,label\n")
	for r, i := rand.New(rand.NewPCG(1, seed)), 0; i < 160; i++ {
		fmt.Fprintf(&rows, "%.3f,%.3f,%.3f,%s\n", r.Float64(), r.Float64(), r.Float64(), []string{"ill", "well"}[i%2])
	}
	config, err := os.ReadFile(s.home.ConfigPath())
	if err != nil {
		s.t.Fatal(err)
	}
	text := string(config) + "data: {small: {path: small.csv, label: label}}\npolicy: {protocols: [okra]}\n"
	err = errors.Join(os.WriteFile(s.home.ConfigPath(), []byte(text), 0o600),
		os.WriteFile(filepath.Join(s.home.folder, "small.csv"), []byte(rows.String()), 0o600))
	if err != nil {
		s.t.Fatal(err)
	}
}

// runSmall runs jobs one after the other.
func runSmall(t *testing.T, boss *site, jobs int) {
	t.Helper()
	c := admin.NewClient(boss.home.Socket())
	defer c.Close()
	for range jobs {
		j, err := c.Submit(t.Context(), "job.yaml", []byte(smallJob))
		if err == nil {
			j, err = c.Wait(t.Context(), j.ID)
		}
		if err != nil || j.State != overview.Done {
			t.Fatalf("%+v, %+v, %v", j, j.Failure, err)
		}
	}
}

// manyJobs runs jobs in one life of a federation, and checks that it holds no more afterwards than before.
func manyJobs(t *testing.T, jobs int) {
	t.Helper()
	of := sites(t, "north", "south", "east")
	seed := uint64(0)
	for _, s := range of {
		s.log.drops = true
		if s.name != "boss" {
			seed++
			s.offerSmall(seed)
		}
		s.start()
	}
	boss := of["boss"]
	within(t, 2*noticed, "boss is ready", func() bool { return boss.metric("mercer_broker_accepting") == "1" })
	const warm = 20
	runSmall(t, boss, warm)
	before := use()
	runSmall(t, boss, jobs-warm)
	after := use()
	t.Logf("after %d jobs: %v", warm, before)
	t.Logf("after %d jobs: %v", jobs, after)
	if after.goroutines > before.goroutines+8 || after.files > before.files+4 || after.threads > before.threads+8 {
		t.Errorf("goroutines, open files or threads have grown")
	}
	if grown := float64(after.heap) - float64(before.heap); grown > wavering+mostOfAJob*float64(jobs-warm) {
		t.Errorf("the heap has grown by %.1f MiB, %.1f KiB a job", grown/(1<<20), grown/1024/float64(jobs-warm))
	}
}

const (
	// mostOfAJob is the number of bytes that an ended job may leave in the memory of four daemons: its entries in
	// their lists, and its latest events. Its result alone would be 40 KiB.
	mostOfAJob = 8 << 10
	// wavering is the number of bytes by which an unchanged federation may differ from one moment to the next:
	// .2 to .9 MiB over 40 jobs were measured.
	wavering = 1 << 20
)

// Jobs leave nothing behind in the daemons' memory.
func TestManyJobsInOneLife(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 60 jobs")
	}
	manyJobs(t, 60)
}

// unwatch takes the daemon's metrics away, so that it needs no port.
func (s *site) unwatch() {
	s.t.Helper()
	c, err := s.home.Config(all.Reader())
	if err == nil {
		c.Metrics = ""
		err = c.save(s.home.ConfigPath(), roster.Party)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// idleParties starts a federation of parties that do nothing, and returns what a party and its part of the
// coordinator hold.
func idleParties(t *testing.T, parties int) (before, after used) {
	t.Helper()
	var names []string
	for i := range parties {
		names = append(names, fmt.Sprintf("p%03d", i))
	}
	of := sites(t, names...)
	for _, s := range of {
		s.log.drops = true
		if s.name != "boss" {
			s.unwatch()
		}
	}
	before = use()
	of["boss"].start()
	within(t, 6*noticed, "boss is ready", func() bool { return of["boss"].metric("mercer_broker_accepting") == "1" })
	for _, name := range names {
		of[name].start()
	}
	within(t, 18*noticed, "all parties are connected", func() bool {
		o, err := of["boss"].overview()
		return err == nil && len(o.Members) == parties && !slices.ContainsFunc(o.Members, func(m overview.Member) bool { return !m.Connected })
	})
	return before, use()
}

// mostIdle is the number of bytes that an idle party and its part of the coordinator may hold.
const mostIdle = 768 << 10

func wantIdle(t *testing.T, parties int) {
	t.Helper()
	before, after := idleParties(t, parties)
	each := (float64(after.heap) - float64(before.heap)) / float64(parties)
	t.Logf("%d homes: %v", parties, before)
	t.Logf("%d idle parties and their coordinator: %v; %.0f KiB a party", parties, after, each/1024)
	if each > mostIdle {
		t.Errorf("an idle party holds %.0f KiB; want at most %d", each/1024, mostIdle>>10)
	}
}

// Idle parties hold little.
func TestIdleParties(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 20 parties")
	}
	wantIdle(t, 20)
}
