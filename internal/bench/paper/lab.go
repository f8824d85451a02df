package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// Lab runs jobs. A job that several experiments need runs once.
type Lab struct {
	Reader *job.Reader
	Run    func(context.Context, *job.Job) (*method.Result, error)
	Has    func(source string) bool // reports whether a source is there
	Runs   int                      // splits or draws of a figure, from 1
	Quick  bool                     // fewer sizes, for a look
	done   map[string]*method.Result
}

// task describes a job of an experiment. Its lists are YAML.
type task struct {
	name     string
	data     string // under data:, a key in each line
	protocol string
	kernel   string
	learner  string
	compare  string // "" for none
	link     string // "" for none
	repeats  int    // 0 or 1 for one run
}

// text is the job file.
func (t task) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: %s}\nspec:\n  data:\n", t.name)
	for line := range strings.Lines(t.data) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
	}
	fmt.Fprintf(&b, "  protocol: %s\n  kernel: %s\n  learner: %s\n  compare: [%s]\n", t.protocol, t.kernel, t.learner, t.compare)
	if t.repeats > 1 {
		fmt.Fprintf(&b, "  repeats: %d\n", t.repeats)
	}
	if t.link != "" {
		fmt.Fprintf(&b, "  link: %s\n", t.link)
	}
	return b.String()
}

// do runs a job, or returns the result of an equal one.
func (l *Lab) do(ctx context.Context, t task) (*method.Result, error) {
	text := t.text()
	if r, ran := l.done[text]; ran {
		return r, nil
	}
	j, err := l.Reader.Parse("the job "+t.name, []byte(text))
	if err != nil {
		return nil, err
	}
	r, err := l.Run(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", t.name, err)
	}
	if l.done == nil {
		l.done = make(map[string]*method.Result)
	}
	l.done[text] = r
	return r, nil
}

// together returns a figure of all parties.
func together(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.Together[figure]
	}
	return once(r.Metrics[figure])
}

// pooled returns a figure of all rows in one place.
func pooled(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.Pooled[figure]
	}
	return once(r.Pooled[figure])
}

func once(v float64) learner.Spread { return learner.SpreadOf([]float64{v}) }

// details reads the part of a result that only its method has, as any reader of the result does.
func details(r *method.Result, into any) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
