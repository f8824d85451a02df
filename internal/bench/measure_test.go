package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// note appends its name when it runs.
func note(log *[]string, name string) run {
	return pure(func() { *log = append(*log, name) })
}

func TestRunsTakeTurns(t *testing.T) {
	var log []string
	rounds := 0
	best, err := inTurns(t.Context(), 3, []run{note(&log, "limit"), note(&log, "ours")}, func() { rounds++ })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"limit", "ours", "limit", "ours", "limit", "ours"}, log); d != "" {
		t.Error(d)
	}
	if rounds != 3 || len(best) != 2 {
		t.Errorf("%d rounds, %d times", rounds, len(best))
	}
	for _, s := range best {
		if !(s.wall > 0 && s.wall < 60 && s.cpu >= 0 && s.cpu < 60) {
			t.Errorf("a run of nothing took %v", s)
		}
	}
}

// The best run counts: a disturbed one does not.
func TestBestOfTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const disturbed = 200 * time.Millisecond
	turn := 0
	uneven := pure(func() {
		if turn++; turn != 2 {
			time.Sleep(disturbed)
		}
	})
	best, err := inTurns(t.Context(), 3, []run{uneven, pure(func() { time.Sleep(disturbed) })}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if best[0].wall >= disturbed.Seconds() {
		t.Errorf("the best turn took %v s", best[0].wall)
	}
	if best[1].wall < disturbed.Seconds() {
		t.Errorf("a run that never takes less than %v took %v s", disturbed, best[1].wall)
	}
}

// Processor time counts work but not waiting.
func TestProcessorTime(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	sink := 0.0
	busy := pure(func() {
		for until := time.Now().Add(50 * time.Millisecond); time.Now().Before(until); {
			for i := range 1000 {
				sink += float64(i)
			}
		}
	})
	best, err := inTurns(t.Context(), 1, []run{busy, pure(func() { time.Sleep(300 * time.Millisecond) })}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if best[0].cpu <= 0 || best[1].cpu > best[1].wall/2 {
		t.Errorf("work took %+v, waiting %+v", best[0], best[1])
	}
}

func three(log *[]string) Benchmark {
	rows := func(best []span) []Row { return []Row{figure("it", best[0].wall, "s").within(0)} }
	return Benchmark{cases: []scene{
		{"first", func(context.Context) (race, error) {
			return race{[]run{note(log, "run")}, rows, func() error {
				*log = append(*log, "close")
				return nil
			}}, nil
		}},
		{"absent", func(context.Context) (race, error) { return race{}, unavailable{"it is elsewhere"} }},
		{"last", func(context.Context) (race, error) { return race{runs: []run{note(log, "run")}, rows: rows}, nil }},
	}}
}

func TestMeasure(t *testing.T) {
	var log, steps []string
	r, err := three(&log).Measure(t.Context(), 2, func(done, total int) { steps = append(steps, fmt.Sprint(done, "/", total)) })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"run", "run", "close", "run", "run"}, log); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"0/6", "1/6", "2/6", "4/6", "5/6", "6/6"}, steps); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"absent: it is elsewhere"}, r.Notes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"it", "it"}, r.Missed()); d != "" || r.Runs != 2 || len(r.Rows) != 2 {
		t.Errorf("%s%+v", d, r)
	}
}

func TestMeasureFails(t *testing.T) {
	cause := errors.New("cause")
	closed := false
	failing := Benchmark{cases: []scene{{"it", func(context.Context) (race, error) {
		return race{
			runs:  []run{func(context.Context) error { return cause }},
			close: func() error { closed = true; return nil },
		}, nil
	}}}}
	if _, err := failing.Measure(t.Context(), 1, func(int, int) {}); !errors.Is(err, cause) || !closed {
		t.Errorf("%v; closed %v", err, closed)
	}
	var log []string
	if _, err := three(&log).Measure(t.Context(), 0, func(int, int) {}); err == nil || log != nil {
		t.Errorf("no run at all: %v, %v", err, log)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := three(&log).Measure(ctx, 5, func(done, _ int) {
		if done == 2 {
			interrupt()
		}
	})
	if d := cmp.Diff([]string{"run", "run", "close"}, log); d != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestOnCores(t *testing.T) {
	before, inside := runtime.GOMAXPROCS(0), 0
	onCores(1, func() { inside = runtime.GOMAXPROCS(0) })
	if after := runtime.GOMAXPROCS(0); inside != 1 || after != before {
		t.Errorf("%d cores inside, %d before and %d after", inside, before, after)
	}
}
