package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/report"
)

// demoFlags holds the flags of mercer demo.
type demoFlags struct {
	out  string
	wire string
	seed insecureSeed
}

func (a *app) demo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [NAME]",
		Short: "Run a whole federation on this machine: hospitals, banks, a recommender or many devices",
		Long: `Run a whole federation on this machine, on bundled data. The default NAME is
hospitals.

hospitals: one coordinator and three hospitals run as processes, each with a fresh
identity and its own part of real data. They train one classifier with OKRA over
sockets on loopback, one from sums of random features, and one of which only the model
is ever opened. Then the demonstration compares each hospital alone, all together by
Mercer in these three ways, and all rows pooled without privacy. Afterwards it removes the homes; report and result stay in the folder --out.
OKRA's model holds encoded rows: the coordinator does not keep it, so that it answers
no prediction queries.

banks: a bank, a shop and an insurer run as processes. Each knows ten numbers about
nearly the same people, in lists of different order. They find their common people
without showing each other the rest. Then they train one classifier by protocol gram
on the columns of all three. (The people are the patients of the bundled Wisconsin
tumour data, which may be passed on.)

recommender: 250 devices run in one process, each with its own keys and masks. They
learn by secure aggregation which films go together, and no one sees a person's list
of films. A tenth of the devices vanishes on the way. If ml-100k is in the data folder
(mercer data get ml-100k), the data are the first people of MovieLens. Otherwise the
ratings are generated. The result says which.

devices: an issuer, a relay and a gateway run as processes on this machine, with 200
devices that hold a digit each. In three windows of anonymous packages, each with a
token, they train a model that recognises odd digits. The gateway ends with the model
and says what it learnt about the devices.`,
		Example: "  mercer demo\n  mercer demo banks\n  mercer demo recommender\n  mercer demo devices\n  mercer demo --json --wire float64",
		Args: func(cmd *cobra.Command, given []string) error {
			return args("NAME")(cmd, append(given, "hospitals")[:max(1, len(given))])
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			name := append(args, "hospitals")[0]
			if name == "crowd" {
				a.notices.add("warning: demo crowd is now called demo devices; write devices")
				name = "devices"
			}
			if name != "hospitals" && f.seed.cmd.Flags().Changed("wire") {
				return nil, usage("--wire is for the hospitals only; remove it")
			}
			switch name {
			case "hospitals":
				return a.hospitals(ctx, f)
			case "banks":
				return a.banks(ctx, f)
			case "devices":
				return a.devices(ctx, f)
			case "recommender":
				return a.recommender(ctx, f)
			}
			return nil, usage("unknown demonstration %q; this version has hospitals, banks, recommender and devices", name)
		}),
	}
	cmd.Flags().StringVar(&f.out, "out", "mercer-demo", "folder for the results")
	cmd.Flags().StringVar(&f.wire, "wire", "float32", "type of the encoded numbers on the wire: float32 or float64")
	f.seed.flag(cmd)
	a.detailFlags(cmd.Flags())
	a.explainFlag(cmd.Flags())
	return cmd
}

func (a *app) hospitals(ctx context.Context, f demoFlags) (Result, error) {
	j, err := a.exampleJob("digits-hospitals")
	if err != nil {
		return nil, err
	}
	if j, err = a.reader.With(j, map[string]string{"protocol.wire": f.wire}); err != nil {
		return nil, usage("--wire is %s; use float32 or float64", f.wire)
	}
	further := []further{
		{title: "by sums", text: "by sums", key: "by_sums", details: "sums", kind: report.Sums, example: "digits-sums"},
		{title: "model only", text: "that opens the model only", key: "model_only", details: "sealed", kind: report.Sums, example: "sealed-digits"},
	}
	for i := range further {
		if further[i].job, err = a.exampleJob(further[i].example); err != nil {
			return nil, err
		}
	}
	return a.inProcesses(ctx, f, j, further)
}

// further is another job of the demonstration, on the same rows.
type further struct {
	title, text  string // what the job opens: as a name, such as "by sums", and as words that follow "the job"
	key, details string // key of its figures in the demonstration's result, and in the details of the job's own result
	kind         report.Kind
	example      string
	job          *job.Job
}

// banks runs the demonstration of three companies that hold different columns about the same
// people. The people are patients, because the data set of patients may be redistributed.
func (a *app) banks(ctx context.Context, f demoFlags) (Result, error) {
	j, err := a.exampleJob("breast-cancer-vertical")
	if err != nil {
		return nil, err
	}
	j.Name = "demo-banks"
	j.Data.Partition.Parties = []string{"bank", "shop", "insurer"}
	j.Data.Partition.Coverage = banksCoverage
	if err := a.reader.Validate(j); err != nil {
		return nil, err
	}
	return a.inProcesses(ctx, f, j, nil)
}

// banksCoverage is the share of all people who are in each company's table.
const banksCoverage = 0.95

// exampleJob reads one of the job files that the program contains.
func (a *app) exampleJob(name string) (*job.Job, error) {
	file, err := examples.Read(name)
	if err != nil {
		return nil, err
	}
	return a.reader.Knowing(exampleDictionary).Parse(name+".yaml", file)
}

// exampleDictionary reads one of the dictionaries that the program contains.
func exampleDictionary(name, _ string) (*job.Dictionary, error) {
	file, err := examples.Read(name)
	if err != nil {
		return nil, err
	}
	return job.ParseDictionary(name+".yaml", file)
}

// inProcesses runs the members of a job as processes on this machine. They also run the jobs in others, which open
// less, on the same rows. inProcesses compares the results.
func (a *app) inProcesses(ctx context.Context, f demoFlags, j *job.Job, others []further) (r Result, err error) {
	if !signal.Ignored(syscall.SIGHUP) { // stop the processes when the terminal is closed
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	if err := folder(f.out); err != nil {
		return nil, err
	}
	shares, err := partition.Shares(j, a.loader(ctx))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mercer-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result, decided, err := a.runDemo(ctx, j, others, shares, f.seed, dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_, err = orAbandon(ctx, func() (struct{}, error) {
		return struct{}{}, baseline.Compare(ctx, a.local, j, shares, decided, result.Result)
	})
	if err != nil {
		return nil, err
	}
	addComparison(result.Result, time.Since(began))
	if err := result.inspect(j, shares); err != nil {
		return nil, err
	}
	for i, other := range others {
		result.objectTo(i, partition.Refusals(other.job, shares, 0))
	}
	if result.table, err = sheetOf(j, shares, decided); err != nil {
		return nil, err
	}
	return a.finish(j, result, f.out)
}

// objectTo records why parties with default policies would refuse the further job with the given index.
func (o *outcome) objectTo(at int, list []partition.Refusal) {
	b := o.besides[at]
	if len(b.held) > 0 {
		list = append(list, partition.Refusal{Why: "a further job over these rows awaits approval by each operator, which this demonstration gave: " + b.held[0]})
	}
	for _, why := range partition.Lines(list) {
		o.Refused = append(o.Refused, b.title+": "+why)
	}
	o.objections.further = append(o.objections.further, objection{partition.Refusing(list, o.objections.parties), "refuse the job " + b.text})
}

// runDemo runs the federation's processes in a folder, and stops them at the end.
func (a *app) runDemo(ctx context.Context, j *job.Job, others []further, shares []partition.Share, seed insecureSeed, dir string) (r outcome, o *method.Outcome, err error) {
	program, err := os.Executable()
	if err != nil {
		return r, nil, err
	}
	c := demo.Config{Program: []string{program}, Reader: a.reader, Job: j, Shares: shares, Dir: dir}
	if len(others) > 0 {
		c.Dictionary = others[0].job.Data.Dictionary // all have the same
	}
	if seed.given() {
		c.InsecureSeed = &seed.seed
	}
	fed, err := demo.Found(c)
	if err != nil {
		return r, nil, err
	}
	defer func() { err = errors.Join(err, fed.Stop()) }()
	if err := fed.Start(ctx); err != nil {
		return r, nil, err
	}
	ctx, stop := fed.Watch(ctx)
	defer stop()
	if r, o, err = a.demonstrate(ctx, fed, others); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r, o, err
}

// demonstrate runs the federation's job and the further jobs.
func (a *app) demonstrate(ctx context.Context, fed *demo.Federation, others []further) (outcome, *method.Outcome, error) {
	r, o, err := a.watched(ctx, fed, fed.Job)
	result := outcome{Result: r}
	for _, other := range others {
		if err != nil {
			break
		}
		var b beside
		if b, err = a.ranBeside(ctx, fed, other); err == nil {
			result.besides = append(result.besides, b)
		}
	}
	return result, o, err
}

// approved runs a job that needs approval at each hospital, because an earlier job released the
// same rows. The demonstration owns all rows, so it approves the job for the operators. The result
// reasons lists why the ledgers require approval.
func (a *app) approved(ctx context.Context, fed *demo.Federation, j *job.Job) (r *method.Result, reasons []string, err error) {
	for range len(fed.Shares) + 1 {
		if r, _, err = a.watched(ctx, fed, j); fault.CodeOf(err) != fault.CodePolicy {
			return r, reasons, err
		}
		more, failed := fed.Approve()
		if failed != nil || len(more) == 0 {
			return nil, nil, errors.Join(err, failed)
		}
		reasons = append(reasons, more...)
	}
	return nil, nil, err
}

// beside is the outcome of a further job on the same rows.
type beside struct {
	further
	metrics learner.Metrics
	figures map[string]any // metrics, the total time, and the method's other figures
	said    string         // line of text with the method's figures
	held    []string       // the ledgers' reasons for which the job needed approval
}

// ranBeside runs a further job and returns its outcome.
func (a *app) ranBeside(ctx context.Context, fed *demo.Federation, other further) (beside, error) {
	r, held, err := a.approved(ctx, fed, other.job)
	if err != nil {
		return beside{}, err
	}
	shown, err := method.Presented(a.reader.Protocols, other.job, r)
	if err != nil {
		return beside{}, err
	}
	d, err := method.DetailsOf[map[string]map[string]any](r)
	if err != nil {
		return beside{}, err
	}
	if shown == nil || len(shown.More) == 0 || d == nil || (*d)[other.details] == nil {
		return beside{}, fmt.Errorf("protocol %s reports no figures of the job %s", other.job.Protocol.Name(), other.text)
	}
	figures := (*d)[other.details]
	figures["metrics"], figures["total_s"] = r.Metrics, r.Timings["total"]
	return beside{other, r.Metrics, figures, shown.More[0].Value, held}, nil
}

// watched submits a job and shows its stages until it ends.
func (a *app) watched(ctx context.Context, fed *demo.Federation, j *job.Job) (*method.Result, *method.Outcome, error) {
	shown := a.progress()
	defer shown.Close()
	id, err := fed.Submit(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	return fed.Wait(ctx, id, (&deployed{shown: shown}).show)
}

// Sizes of the recommender's demonstration, which is smaller than the example fedcfk-ml100k with all 943 people.
const (
	demoPeople  = 250
	demoItems   = 140 // number of generated items; with 250 devices, hardly more are possible
	demoRatings = 30  // number of generated ratings by each person
)

// recommender runs the demonstration of a recommender on people's devices.
func (a *app) recommender(ctx context.Context, f demoFlags) (Result, error) {
	if err := folder(f.out); err != nil {
		return nil, err
	}
	j, err := a.exampleJob("fedcfk-ml100k")
	if err != nil {
		return nil, err
	}
	play := local.Of(a.local, j).Play
	if play == nil {
		return nil, errors.New("this program has no support for recommenders")
	}
	j.Name = "demo-recommender"
	return a.launch(j, f.out, func(dir string) (outcome, error) {
		return orAbandon(ctx, func() (outcome, error) { return a.play(ctx, j, play, a.demoRatings, dir, f.seed.source()) })
	})
}

// demoRatings returns the ratings of the first people of MovieLens, or generated ratings if that
// data set is missing. The name of the result says which.
func (a *app) demoRatings(source string) (*dataset.Ratings, error) {
	r, err := a.library().Ratings(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return generated.Ratings(demoPeople, demoItems, demoRatings, [32]byte{}), nil
	case err != nil:
		return nil, err
	}
	return r.First(demoPeople), nil
}
