package demo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/job"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// beMercer makes the test binary act as mercer, so that daemons are processes of the code
// under test.
const beMercer = "MERCER_TEST_IS_MERCER"

func TestMain(m *testing.M) {
	if os.Getenv(beMercer) != "" {
		os.Exit(cli.Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	disktest.InMemory()
	os.Exit(m.Run())
}

// found makes a federation of processes for the hospitals' job.
func found(t *testing.T, seed uint64) *demo.Federation {
	t.Helper()
	t.Setenv(beMercer, "yes")
	file, err := examples.Read("digits-hospitals")
	if err != nil {
		t.Fatal(err)
	}
	j := jobtest.Parse(t, string(file))
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("digits") })
	if err != nil {
		t.Fatal(err)
	}
	f, err := demo.Found(demo.Config{
		Reader: all.Reader(), Program: []string{os.Args[0]}, Job: j, Shares: shares, Dir: folder(t), InsecureSeed: &seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// folder makes a folder for homes: t.TempDir is too long for a socket.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// finish runs the job to its end while disturb interferes.
func finish(t *testing.T, f *demo.Federation, disturb func(ctx context.Context)) *method.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	id, err := f.Submit(ctx, f.Job)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); disturb(ctx) }()
	r, _, err := f.Wait(ctx, id, nil)
	<-done
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	return r
}

func undisturbed(context.Context) {}

// checkLines checks that each member is a process of its own, and that every party's coordinator is the
// TCP address at which the coordinator listens.
func checkLines(t *testing.T, f *demo.Federation) func(context.Context) {
	return func(ctx context.Context) {
		boss, err := f.Home(demo.Coordinator).Config(all.Reader())
		if err != nil {
			t.Error(err)
			return
		}
		line, err := new(net.Dialer).DialContext(ctx, "tcp", boss.Listen)
		if err != nil {
			t.Error(err)
			return
		}
		if err := line.Close(); err != nil {
			t.Error(err)
		}
		processes := map[int]bool{os.Getpid(): true}
		for _, name := range f.Names() {
			processes[f.PID(name)] = true
			if c, err := f.Home(name).Config(all.Reader()); err != nil || name != demo.Coordinator && c.Coordinator != "nats://"+boss.Listen {
				t.Errorf("%s reaches %+v, %v; want nats://%s", name, c, err, boss.Listen)
			}
		}
		if len(processes) != 1+len(f.Names()) {
			t.Errorf("%d processes, want one for each of %v and this one", len(processes), f.Names())
		}
	}
}

// killSome kills and restarts n processes at random times: first the coordinator, with whom all
// parties must connect again, then any.
func killSome(t *testing.T, f *demo.Federation, rng *rand.Rand, n int) func(context.Context) {
	return func(context.Context) {
		for k := range n {
			time.Sleep(time.Duration(rng.IntN(600)) * time.Millisecond)
			name := f.Names()[rng.IntN(len(f.Names()))]
			if k == 0 {
				name = demo.Coordinator
			}
			t.Logf("kill -9 %s", name)
			if err := f.Kill(name); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
			if err := f.StartProcess(name); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// After kill -9 of any process at any time, and a restart, the model is that of an
// undisturbed run of processes over TCP.
func TestKilledProcessesEndInTheSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	first := found(t, 7)
	want := finish(t, first, checkLines(t, first)).ModelHash
	for run := range killRuns {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			f := found(t, 7)
			rng := rand.New(rand.NewPCG(uint64(run), 1))
			if got := finish(t, f, killSome(t, f, rng, killsPerRun)).ModelHash; got != want {
				t.Errorf("model %s, undisturbed %s\n%s", got, want, f.Logs())
			}
		})
	}
}
