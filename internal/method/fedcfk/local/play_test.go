package local

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

const recommender = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data:
    source: ratings.csv
    partition: {by: devices, dropout: 0.1}
    test: {every: 10}
  protocol: {name: fedcfk, threshold: 4}
  kernel: {name: linear}
  learner: {name: cf-komd}
`

// honest is the recommender with a semi-honest server. Its sums are the same, and take a third of the time.
var honest = strings.Replace(recommender, "threshold: 4", "threshold: 4, adversary: semi-honest, margin: none", 1)

// played is a job that is played from generated ratings.
func played(t *testing.T, text string) local.Play {
	t.Helper()
	return local.Play{Job: jobtest.Parse(t, text), Ratings: from(small()), Dir: t.TempDir(), Seed: daemon.InsecureSeeds(1)}
}

func small() *dataset.Ratings { return generated.Ratings(60, 80, 20, [32]byte{1}) }

func from(r *dataset.Ratings) func(string) (*dataset.Ratings, error) {
	return func(string) (*dataset.Ratings, error) { return r, nil }
}

func runDevices(t *testing.T, text string) *method.Result {
	t.Helper()
	r, err := play(t.Context(), played(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A tenth of the clients drops out of each sum. The sums are over the remaining clients, and the
// rankings nearly equal those from pooled lists. Kernels are computed from the sums for every
// adversary.
func TestDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, text := range map[string]string{ // the first with a lambda of its own
		"active":      strings.Replace(recommender, "name: cf-komd", "name: cf-komd, lambda: 2", 1),
		"semi-honest": honest,
		"nobody goes": strings.Replace(recommender, ", dropout: 0.1", "", 1),
		"kernel":      strings.Replace(honest, "linear", "tanimoto", 1),
		"powers":      strings.Replace(honest, "name: linear", "name: dot-product, coefficients: [0, 1, 0.5]", 1),
	} {
		t.Run(name, func(t *testing.T) {
			c := played(t, text)
			c.Ratings = from(generated.Ratings(100, 60, 20, [32]byte{1})) // 80 people at least are left, enough for 53 items
			r, err := play(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Exact == nil || !*r.Exact {
				t.Error("the sums are not those of the plain lists")
			}
			figures := figuresOf(t, r)
			if figures.People != 100 || figures.Items != 60 || r.HeldOut != 200 || figures.Ratings != 1800 || figures.Kept < 40 || figures.Kept > 53 {
				t.Errorf("%+v, %d held out", figures, r.HeldOut)
			}
			counted := figures.Sums[0].Added
			want := [][2]int{{100, 10}, {counted, counted - 90 + 9}} // clients, vanished: a vanished client stays away
			if name == "nobody goes" {
				want = [][2]int{{100, 0}, {100, 0}}
			}
			for i, s := range figures.Sums {
				if s.Clients != want[i][0] || s.Vanished != want[i][1] || s.Added < s.Clients-s.Vanished || s.Added > s.Clients {
					t.Errorf("%+v", s)
				}
				if want[i][1] > 0 && s.Added == s.Clients-s.Vanished {
					t.Errorf("nobody has vanished after the vector had come: %+v", s)
				}
			}
			if a, b := r.Metrics["auc"], r.Pooled["auc"]; a < .65 || a < b-.07 || a > b+.03 || b > 1 {
				t.Errorf("auc %v, pooled %v", a, b)
			}
			lambda := komd.DefaultLambda
			if name == "active" {
				lambda = 2
			}
			if d := cmp.Diff(inOnePlace(t, c, lambda), r.Pooled, cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Errorf("pooled: %s", d)
			}
			if len(figures.Recommended) != 5 || len(r.Leakage["server"]) < 4 || len(r.Models) != 1 {
				t.Errorf("%+v %v", figures.Recommended, r.Leakage)
			}
		})
	}
}

// A sum that differs in one count from the plain lists' is not called exact: neither the first sum,
// nor the second one, of lists or of ratings.
func TestSumsThatAreNotExact(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Run("lists", func(t *testing.T) { notExact(t, honest, small()) })
	t.Run("ratings", func(t *testing.T) {
		notExact(t, strings.Replace(honest, "threshold: 4", "threshold: 4, ratings: 5", 1), grades())
	})
}

func notExact(t *testing.T, text string, all *dataset.Ratings) {
	t.Helper()
	p, err := gather(played(t, text), all)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newJobRun(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(context.Context) error{r.runFirstSum, r.runSecondSum, r.learn, r.evaluate} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first, second := r.first.Sums[0], r.second.Sums[0]
	for name, entry := range map[string]*int64{
		"neither": new(int64), "first": &first[0], "last item's likes": &first[len(all.Items)-1], "the end of the first": &first[len(first)-1],
		"second": &second[3], "the end of the second": &second[len(second)-1],
	} {
		*entry++
		if err := r.compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if exact := *r.result.Exact; exact != (name == "neither") {
			t.Errorf("%s is off by one: exact %v", name, exact)
		}
		*entry--
	}
}

// inOnePlace is CF-KOMD on the lists of all people, without a sum or a threshold.
func inOnePlace(t *testing.T, c local.Play, lambda float64) learner.Metrics {
	t.Helper()
	r, err := c.Ratings("")
	if err != nil {
		t.Fatal(err)
	}
	train, test, err := fedcfk.Split(c.Job, r)
	if err != nil {
		t.Fatal(err)
	}
	spec := komd.Spec{Name: komd.Name(c.Job.Kernel.Name), Coefficients: []float64{0, 1, .5}}
	if spec.Name != komd.DotProduct {
		spec.Coefficients = nil
	}
	k, err := spec.Kernel(komd.CountsOf(len(r.Items), train))
	if err != nil {
		t.Fatal(err)
	}
	return ranked(t, k, train, test, lambda)
}

// ranked returns the metrics of CF-KOMD on a kernel of items.
func ranked(t *testing.T, k linalg.Matrix[float64], train, test [][]int, lambda float64) learner.Metrics {
	t.Helper()
	m := komd.New(k)
	metrics, _, err := learner.Ranking(k.Rows, train, test, func(user int) ([]float64, error) {
		return m.Scores(train[user], lambda)
	})
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

// Equal secrets give equal results, however the cores share the work.
func TestDevicesAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	one, two := runDevices(t, recommender), runDevices(t, recommender)
	if lists := readLists(t, one); lists != readLists(t, two) || strings.Count(lists, "\n") != 1+60*10 || !strings.HasPrefix(lists, "user,rank,item,score\n1,1,") {
		t.Errorf("the recommendations differ, or are not 10 to each of 60 people: %s", lists)
	}
	figuresOf(t, one).Recommendations, figuresOf(t, two).Recommendations = "", ""
	if one.ModelHash != two.ModelHash || cmp.Diff(one.Details, two.Details) != "" || cmp.Diff(one.Metrics, two.Metrics) != "" {
		t.Errorf("%+v\n%+v", one, two)
	}
}

func figuresOf(t *testing.T, r *method.Result) *fedcfk.Figures {
	t.Helper()
	d, err := method.DetailsOf[fedcfk.Details](r)
	if err != nil || d == nil {
		t.Fatalf("details %+v, error %v", r.Details, err)
	}
	return d.Devices
}

func readLists(t *testing.T, r *method.Result) string {
	t.Helper()
	b, err := os.ReadFile(figuresOf(t, r).Recommendations)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRule14_OneEpochOnly: two sums over groups of people that differ by one person give
// that person's list. Nobody else's device takes part in the second.
func TestRule14_OneEpochOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p, err := gather(played(t, strings.Replace(recommender, ", dropout: 0.1", "", 1)), small())
	if err != nil {
		t.Fatal(err)
	}
	sum := func(names []string) (sums.Summation, error) {
		c := p.setting
		c.Parties = names
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		spec := c.Spec(len(names), c.Items)
		s, err := sums.NewSummation(p.ID, 0, p.Roster, *plan[0].Session, clients.Server, names, spec)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Sum(t.Context(), s, nil, func(i int) secagg.Vector { return p.devices[i].Likes() })
		return s, err
	}
	if _, err := sum(p.Names); err != nil {
		t.Fatal(err)
	}
	without, err := sum(p.Names[1:])
	if err == nil {
		t.Fatal("the server has the difference of two groups of people")
	}
	for i, name := range p.Names[1:] {
		if err := p.Ledgers[i+1].Claim(name, `secagg/masked-input/"once"/"fedcfk/popularity"`, without.Session.ID()); err == nil {
			t.Fatalf("%s has given its list again", name)
		}
	}
}

func TestDevicesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := play(ctx, played(t, recommender)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled job: %v", err)
	}
	unpopular := strings.Replace(recommender, "threshold: 4", "threshold: 60", 1)
	if _, err := play(t.Context(), played(t, unpopular)); err == nil || !strings.Contains(err.Error(), "only 0 items have the required 63 likes") {
		t.Errorf("a job without popular items: %v", err)
	}
	byTime := strings.Replace(recommender, "{every: 10}", "{by: time, fraction: 0.1}", 1)
	if _, err := play(t.Context(), played(t, byTime)); err == nil || !strings.Contains(err.Error(), "no times") {
		t.Errorf("ratings without times: %v", err)
	}
}
