package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// trained holds the result of one training of limited length.
type trained struct {
	length  string // length of the training as text, such as "64 directions"
	seconds float64
	error   float64
}

// course holds trainings of one method, from short to long.
type course struct {
	name      string
	trainings []trained
}

// best returns the least error that the course reaches within the given seconds. It returns NaN if
// every training takes longer.
func (c course) best(seconds float64) float64 {
	least := math.NaN()
	for _, t := range c.trainings {
		if t.seconds <= seconds && !(least <= t.error) {
			least = t.error
		}
	}
	return least
}

// reaches returns the seconds of the fastest training with at most the given error.
func (c course) reaches(error float64) (seconds float64, ok bool) {
	for _, t := range c.trainings {
		if t.error <= error && (!ok || t.seconds < seconds) {
			seconds, ok = t.seconds, true
		}
	}
	return seconds, ok
}

// least returns the smallest error of all trainings of the course.
func (c course) least() float64 { return c.best(math.Inf(1)) }

// guFigure3 reproduces Figure 3: the test error against the time of training. Each point is a
// separate training of another length.
func guFigure3(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original, or generated where the cell says so"}
	sets := guSetsFor(l)[:2]
	if l.Quick {
		sets = sets[:1]
	}
	for _, g := range sets {
		t, origin := g.job(l)
		t.compare, t.repeats = "", 0
		courses, err := l.courses(ctx, g, t)
		if err != nil {
			return nil, err
		}
		for _, c := range courses {
			for _, one := range c.trainings {
				cell := fmt.Sprintf("%s (%s), %s, %s", g.name, origin, c.name, one.length)
				f.Rows = append(f.Rows, Row{cell, "s", once(one.seconds), nil}, Row{cell, "error", once(one.error), nil})
			}
			if rival := c.name == "FD-SVRG" || c.name == "SecureBoost" || c.name == "PP-SVMV"; rival && origin == "original" {
				f.Claims = append(f.Claims, asDoubted(overtakes(courses[0], c, g.name)), overtakes(courses[1], c, g.name))
			}
		}
		f.Curves = append(f.Curves, againstTime("error on "+g.name+", "+origin, courses))
	}
	return f, nil
}

// courses trains every method on the rows of FDSKL's job. It returns first Algorithm 1, then
// Mercer's training, then the rivals.
func (l *Runner) courses(ctx context.Context, g guSet, t task) ([]course, error) {
	published, dsg, err := l.publishedCourses(ctx, g, t)
	if err != nil {
		return nil, err
	}
	fast := course{name: oneShot}
	for _, n := range []int{64, 256, 1024, 2048} {
		t.protocol = fmt.Sprintf("{name: fdskl, directions: %d}", n)
		if err := l.extend(ctx, &fast, t, fmt.Sprintf("%d directions", n), 0); err != nil {
			return nil, err
		}
	}
	rivals, err := l.rivalCourses(ctx, t)
	if err != nil {
		return nil, err
	}
	list := append([]course{published, fast}, append(rivals, dsg)...)
	if !g.exact {
		return list, nil
	}
	pp, svm := course{name: "PP-SVMV"}, course{name: "LIBSVM's kernel, pooled"}
	t.protocol, t.learner = growing[1].protocol, growing[1].learner
	if err := l.extend(ctx, &pp, t, "all rows", 0); err != nil {
		return nil, err
	}
	t.protocol, t.data = "{name: pooled}", strings.Replace(t.data, "\npartition: {by: columns, parties: [a, b, c, d], aligned: true}", "", 1)
	err = l.extend(ctx, &svm, t, "all rows", 0)
	return append(list, pp, svm), err
}

// extend runs a job and appends its training to a course. If seconds is 0, the time is the job's
// training time.
func (l *Runner) extend(ctx context.Context, c *course, t task, length string, seconds float64) error {
	r, err := l.do(ctx, t)
	if err != nil {
		return err
	}
	if seconds == 0 {
		seconds = training(r)
	}
	c.trainings = append(c.trainings, trained{length, seconds, 1 - together(r, "accuracy").Mean})
	return nil
}

// publishedCourses trains Algorithm 1 and its comparison, DSG on pooled columns.
func (l *Runner) publishedCourses(ctx context.Context, g guSet, t task) (ours, dsg course, err error) {
	ours.name, dsg.name = algorithm1, "DSG, pooled"
	for _, n := range []int{256, 1024, publishedIterations} {
		r, err := l.do(ctx, g.published(t, n))
		if err != nil {
			return ours, dsg, err
		}
		length := fmt.Sprintf("%d iterations", n)
		ours.trainings = append(ours.trainings, trained{length, training(r), 1 - together(r, "accuracy").Mean})
		dsg.trainings = append(dsg.trainings, trained{length, r.Timings["compare"], 1 - pooled(r, "accuracy").Mean})
	}
	return ours, dsg, nil
}

// rivalCourses trains FD-SVRG and SecureBoost.
func (l *Runner) rivalCourses(ctx context.Context, t task) ([]course, error) {
	linear, trees := course{name: "FD-SVRG"}, course{name: "SecureBoost"}
	for _, n := range []int{2, 10, 40} {
		one := guRivals[0].on(t)
		one.learner = fmt.Sprintf("{name: logistic, batch: 256, rate: 2, iterations: %d}", n)
		if err := l.extend(ctx, &linear, one, fmt.Sprintf("%d iterations", n), 0); err != nil {
			return nil, err
		}
	}
	first, err := l.do(ctx, encryptedTree.on(t))
	if err != nil {
		return nil, err
	}
	for _, n := range []int{1, 5, 20, boostedTrees} {
		one := guRivals[1].on(t)
		one.learner = fmt.Sprintf("{name: boosted-trees, rounds: %d}", n)
		// Encryption does not change the trees, so they are trained without it. The time of n
		// encrypted trees is estimated as n times the time of the first.
		if err := l.extend(ctx, &trees, one, fmt.Sprintf("%d trees", n), float64(n)*training(first)); err != nil {
			return nil, err
		}
	}
	return []course{linear, trees}, nil
}

// overtakes judges the claim that one method reaches the best error of another method sooner.
func overtakes(ours, rival course, set string) Claim {
	error := rival.least()
	its, _ := rival.reaches(error)
	text := fmt.Sprintf("%s reaches %s's error sooner (%s).", ours.name, rival.name, set)
	seconds, ok := ours.reaches(error)
	if !ok {
		return judge(text, false, "%s reaches %.4f after %.3g s; the best error of ours is %.4f", rival.name, error, its, ours.least())
	}
	return judge(text, seconds <= its, "%.4f after %.3g s, beside %.3g s", error, seconds, its)
}

// againstTime returns a curve of the least error of each method over the time of training.
func againstTime(title string, courses []course) report.Curve {
	var all []float64
	worst := 0.0
	for _, c := range courses {
		for _, t := range c.trainings {
			all, worst = append(all, t.seconds), max(worst, t.error)
		}
	}
	steps := moments(max(slices.Min(all), leastSeconds), slices.Max(all))
	c := report.Curve{Title: title, X: "seconds of training", Scale: report.Scale{Most: math.Ceil(12*worst) / 10}} // 1.2 times the largest error, rounded up
	for _, s := range steps {
		c.Steps = append(c.Steps, strconv.FormatFloat(s, 'g', -1, 64))
	}
	for _, one := range courses {
		line := report.Line{Name: one.name}
		for _, s := range steps {
			line.Values = append(line.Values, one.best(s))
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

const leastSeconds = 1e-3 // smallest value at which the time axis can begin, in seconds

// moments returns the values of a time axis, each 1, 2 or 5 times a power of ten. It begins with
// the first value that is at least low, and ends with the first that is at least high.
func moments(low, high float64) (list []float64) {
	for power := int(math.Floor(math.Log10(low))); ; power++ {
		for _, digit := range []float64{1, 2, 5} {
			s := digit * math.Pow10(power)
			if s >= low {
				list = append(list, s)
			}
			if s >= high {
				return list
			}
		}
	}
}

// Runner runs jobs and stores their results. It runs a job of several experiments only once.
type Runner struct {
	Reader *job.Reader
	Run    func(context.Context, *job.Job) (*method.Result, error)
	Has    func(source string) bool // reports whether a source exists
	// Ratings reads a source of ratings.
	Ratings func(source string) (*dataset.Ratings, error)
	Runs    int  // number of random splits or draws for each figure, at least 1
	Quick   bool // measures fewer sizes, for a quick result
	mu      sync.Mutex
	done    map[string]*method.Result
}

// task describes a job of an experiment. The fields are YAML texts.
type task struct {
	name     string
	data     string // keys of section data, one in each line
	protocol string
	kernel   string
	learner  string
	compare  string // list of comparisons; "" for none
	link     string // modelled network; "" for none
	repeats  int    // number of repetitions; 0 or 1 for one run
}

// text returns the content of the job file.
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

// do runs a job, or returns the stored result of an equal job. It is safe for concurrent use.
func (l *Runner) do(ctx context.Context, t task) (*method.Result, error) {
	text := t.text()
	if r := l.stored(text); r != nil {
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
	l.store(text, r)
	return r, nil
}

// stored returns the result of the job with a text, or nil.
func (l *Runner) stored(text string) *method.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done[text]
}

func (l *Runner) store(text string, r *method.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(map[string]*method.Result)
	}
	l.done[text] = r
}

// together returns a figure for all parties together.
func together(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.Together[figure]
	}
	return once(r.Metrics[figure])
}

// pooled returns a figure of the comparison that trains on all rows in one place.
func pooled(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.Pooled[figure]
	}
	return once(r.Pooled[figure])
}

func once(v float64) learner.Spread { return learner.SpreadOf([]float64{v}) }

// details decodes the fields of a result that only its method has.
func details(r *method.Result, into any) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
