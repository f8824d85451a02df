package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

func (a *app) job() *cobra.Command {
	cmd := commandGroup("job", "Submit jobs to a running coordinator and follow them")
	cmd.Example = "  mercer job submit job.yaml --home ./c\n  mercer job wait ID --home ./c"
	cmd.AddCommand(a.jobNew(), a.jobCheck(), a.jobSubmit(), a.jobList(), a.jobShow(), a.jobLogs(), a.jobWait(), a.jobAbort(), a.jobApprove(), a.jobReject(), a.jobDownload(), a.jobForget(), a.jobDelete(), a.jobDrop())
	return cmd
}

func (a *app) jobDelete() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "delete ID",
		Short: "Delete a finished job: erase it at all members, and remove its file, status and result",
		Long: `Have every member erase the artifacts of a finished job, as mercer job forget does.
Then remove the job file, the status and the result from the coordinator. With
retention: {results: 2y} in its config.yaml, the coordinator deletes each job two
years after its end.`,
		Example: "  mercer job delete 0123456789abcdef0123456789abcdef --home ./c",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		erased, err := c.Delete(ctx, args[0])
		return forgetResult{args[0], erased}, err
	})
}

func (a *app) jobDrop() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "drop ID",
		Short: "Destroy a party's secrets of a job that its coordinator has not closed",
		Long: `Destroy a party's seeds, keys and journals of a job that its coordinator has not
closed. The job cannot continue, and the coordinator is notified. A party does this
automatically 30 days after a job began (unclosed: 30d in its config.yaml). In the
party's home, mercer job list shows the open jobs.`,
		Example: "  mercer job list --home ./north\n  mercer job drop 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		return droppedJob{args[0]}, c.Drop(ctx, args[0])
	})
}

func (a *app) jobForget() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "forget ID",
		Short: "Erase the artifacts of a finished job: secrets, model and tables",
		Long: `Erase the artifacts of a finished job. In a party's home, these are its encoder, its
model or model part, the order of its rows, its recommendations and the notices on its
table. In the coordinator's home, these are the model, the decisions on held-out rows,
the data for prediction queries, and the artifacts at all parties. Artifacts are
sealed under a key for each job, and the key is overwritten. Where the parties hold
different columns (fdskl, gram), the model is useless once one party has erased its
part. The result stays; mercer job delete removes it. A job without artifacts is no
error.`,
		Example: "  mercer job forget 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		erased, err := c.Forget(ctx, args[0])
		return forgetResult{args[0], erased}, err
	})
}

// ofParty reports whether the home in use is a party's. If the folder has only a daemon's socket, it asks the daemon,
// and returns false if the daemon does not answer.
func (a *app) ofParty(ctx context.Context, home string) bool {
	if !a.onlySocket {
		return a.at(home).IsParty(a.reader)
	}
	var o overview.Overview
	err := callDaemon(home, func(c *admin.Client) (err error) {
		o, err = c.Overview(ctx)
		return err
	})
	return err == nil && o.Role == roster.Party
}

// callDaemon calls the daemon of a home through its control socket.
func callDaemon(home string, call func(c *admin.Client) error) error {
	c := admin.NewClient(daemon.At(home).Socket())
	defer c.Close()
	return call(c)
}

// clientCommand turns a function that calls a home's daemon into a command.
func (a *app) clientCommand(cmd *cobra.Command, call func(ctx context.Context, c *admin.Client, args []string) (Result, error)) *cobra.Command {
	var home string
	a.homeFlag(cmd, &home)
	cmd.RunE = a.run(func(ctx context.Context, args []string) (Result, error) {
		a.useHome(home)
		c := admin.NewClient(a.at(home).Socket())
		defer c.Close()
		r, err := call(ctx, c, args)
		if errors.Is(err, admin.ErrNoDaemon) {
			err = cmp.Or(checkFolder(home), err)
		}
		return r, err
	})
	return cmd
}

// checkFolder returns an error if a home is not even a folder.
func checkFolder(home string) error {
	switch info, err := os.Stat(home); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return usage("%s is a file, and a home is a folder; give another with --home", home)
	}
	return usage("there is no home %s; give another with --home, or create it with mercer federation init --home %[1]s", home)
}

// useHome makes the job reader find the data dictionaries and studies of a home, including revoked ones.
// It remembers the home for the commands that results name.
func (a *app) useHome(home string) {
	if home != a.defaultHome() {
		a.homeOption = " --home " + shellWord(home)
	}
	a.onlySocket = !exists(a.at(home).ConfigPath())
	a.reader = a.at(home).Knowing(a.reader)
}

// jobResult describes a job as the coordinator knows it.
type jobResult struct {
	admin.Job
	Files   []string `json:"files,omitempty"` // files that --out has written
	reader  *job.Reader
	verbose bool   // also print the details of the result
	home    string // the option --home, after a blank; "" for the usual home
}

// Print shows the job and, if it has ended, its result.
func (r jobResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s  %s  %s", r.ID, r.Name, r.state())
	if r.Forgotten {
		p.linef("%s", paragraph(forgottenText(r.Silent)))
	}
	if r.Failure != nil {
		p.linef("%s", paragraph(r.Failure.Message))
		for _, path := range r.Files {
			p.linef("%s", path)
		}
	}
	if r.Result != nil {
		p.linef("")
		shown, err := method.Presented(r.reader.Protocols, nil, r.Result)
		p.join(err)
		p.join(outcome{Result: r.Result, shown: shown, verbose: r.verbose, files: r.Files, next: r.next(), job: jobIn(r.reader, r.Result)}.Print(w))
	}
	return p.err
}

// next returns the command that usually follows a finished job. It is the prediction command of a
// party if the job answers prediction queries, or else the command for the report, or "" if --out has written it. Where
// parties hold columns, the prediction command names the others' table of the new rows.
func (r jobResult) next() string {
	j := r.asSubmitted()
	switch {
	case !r.Forgotten && j != nil && j.Prediction == job.Open:
		command := fmt.Sprintf("mercer predict --job %s TABLE.csv --home HOME-OF-A-PARTY --label none", r.ID)
		if j.Data.Partition.By == job.Columns {
			command += " --source TABLE # TABLE: the name at the other parties of their table with the new rows"
		}
		return command
	case len(r.Files) == 0:
		return fmt.Sprintf("mercer job show %s --out FOLDER%s", r.ID, r.home)
	}
	return ""
}

// asSubmitted returns the job that made the result. It returns nil without a result, and for a result
// of an earlier version, which contains no job file, or if the job cannot be read here.
func (r jobResult) asSubmitted() *job.Job {
	if r.Result == nil || r.Result.About == nil {
		return nil
	}
	j, err := r.reader.Parse(r.Name+".yaml", []byte(r.Result.About.Job))
	if err != nil {
		return nil
	}
	return j
}

// forgottenText names the parties that have not yet reported that they erased a job's data.
func forgottenText(silent []string) string {
	if len(silent) == 0 {
		return "the job's artifacts are erased at the coordinator and, as the parties report, at all of them"
	}
	return fmt.Sprintf("the job's artifacts are erased at the coordinator; no report yet from %s", strings.Join(silent, ", "))
}

func (r jobResult) state() string {
	if r.Stage == "" {
		return string(r.State)
	}
	text := string(r.State) + ", stage " + r.Stage
	if w := r.Waiting; w != nil {
		text += fmt.Sprintf(", waits for %v since %s", w, w.Since.Local().Format(time.TimeOnly))
	}
	if !r.Deadline.IsZero() {
		text += ", ends by " + r.Deadline.Local().Format(time.DateTime)
	}
	return text
}

// check returns the error with which a job failed, or nil.
func (r jobResult) check() error {
	if r.State != overview.Failed {
		return nil
	}
	e := classify(&fault.Error{
		Code: r.Failure.Code, Blamed: r.Failure.Blamed, Err: fmt.Errorf("job %s failed: %s", r.ID, r.Failure.Message),
	})
	e.Result = r
	return e
}

func (a *app) jobSubmit() *cobra.Command {
	var wait bool
	cmd := a.clientCommand(&cobra.Command{
		Use:     "submit JOB.yaml",
		Short:   "Submit a job; a file submitted twice makes two jobs",
		Example: "  mercer job submit job.yaml --home ./c --wait",
		Args:    args("JOB.yaml"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		file, err := a.jobToSubmit(args[0])
		if err != nil {
			return nil, err
		}
		r := jobResult{reader: a.reader, verbose: a.verbose, home: a.homeOption}
		if r.Job, err = c.Submit(ctx, args[0], file); err == nil && wait {
			r.Job, err = a.waitShowing(ctx, c, r.ID)
		}
		if err != nil {
			return nil, err
		}
		return r, r.check()
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the job ends")
	a.detailFlags(cmd.Flags())
	return cmd
}

// jobToSubmit checks a job file and returns the text that the daemon gets. A folder that has only a daemon's socket
// has no dictionaries and studies; then only the daemon checks a job that names one.
func (a *app) jobToSubmit(path string) ([]byte, error) {
	f, err := a.readJobFile(path)
	switch {
	case a.onlySocket && (errors.Is(err, job.ErrUnapproved) || errors.Is(err, job.ErrStudyUnapproved)):
		return f.text, nil
	case err != nil:
		return nil, err
	}
	if err := f.job.Deployable(); err != nil {
		return nil, badJob(err)
	}
	return f.job.Encode(), nil
}

func (a *app) jobWait() *cobra.Command {
	var timeout time.Duration
	var out string
	cmd := a.clientCommand(&cobra.Command{
		Use:     "wait ID",
		Short:   "Wait until a job ends",
		Example: "  mercer job wait 0123456789abcdef0123456789abcdef --home ./c --timeout 1h",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		j, err := a.waitShowing(ctx, c, args[0])
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("job %s did not finish within %v: %w", args[0], timeout, err)
		}
		if err != nil {
			return nil, err
		}
		r := jobResult{Job: j, reader: a.reader, verbose: a.verbose, home: a.homeOption}
		if out != "" {
			if err := r.save(ctx, c, out); err != nil {
				return r, errors.Join(r.check(), err)
			}
		}
		return r, r.check()
	})
	outFlag(cmd, &out)
	a.detailFlags(cmd.Flags())
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time; 0 waits without a limit")
	return cmd
}

func (a *app) jobShow() *cobra.Command {
	var home, out string
	var alignment, recommendations, notices, remarks bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a job with its result, or its tables at a party",
		Long: `In the coordinator's home, show a job with its result. --out writes the result, its
report and the predictions of held-out rows into a folder.

In a party's home, show the file of a job that awaits the operator's approval, or the
artifacts for the party's operator alone. A party with labels and scores of held-out
rows (fdskl, fd-svrg, secureboost) has figures, and --out writes the same files.
--alignment prints the row ids of a job by columns as CSV, in the order of its
decisions. --recommendations prints the items recommended to this party's person.
--notices lists the columns of this party's table that lie far from the other parties',
and the columns with values that too few rows have for sums to count them. In a party's
home, only the file of a job that awaits approval needs a running daemon.`,
		Example: "  mercer job show 0123456789abcdef0123456789abcdef --home ./c --json\n  mercer job show 0123456789abcdef0123456789abcdef --home ./shop --alignment",
		Args:    args("ID"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if remarks {
				a.notices.add("warning: --remarks is now called --notices; write --notices")
				notices = true
			}
			switch item, err := selectedArtifact(alignment, recommendations, notices); {
			case err != nil:
				return nil, err
			case item != "":
				return a.showLeft(home, args[0], item)
			}
			a.useHome(home)
			if a.ofParty(ctx, home) {
				switch j, err := a.awaitingAt(ctx, home, args[0]); {
				case err != nil:
					return nil, err
				case j != nil:
					return j, nil
				}
				return a.showOwn(a.at(home), args[0], out)
			}
			r := jobResult{reader: a.reader, verbose: a.verbose, home: a.homeOption}
			err := callDaemon(home, func(c *admin.Client) (err error) {
				if r.Job, err = c.Job(ctx, args[0]); err == nil && out != "" {
					err = r.save(ctx, c, out)
				}
				return err
			})
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	outFlag(cmd, &out)
	a.detailFlags(cmd.Flags())
	cmd.Flags().BoolVar(&alignment, "alignment", false, "in a party's home: show the ids of the job's rows, in their order")
	cmd.Flags().BoolVar(&recommendations, "recommendations", false, "in a party's home: show the items that the job recommends")
	cmd.Flags().BoolVar(&notices, "notices", false, "in a party's home: show the notices on its table")
	cmd.Flags().BoolVar(&remarks, "remarks", false, "") // former name of the flag --notices
	_ = cmd.Flags().MarkHidden("remarks")
	return cmd
}

// selectedArtifact returns the artifact that the flags select, or "" if no flag is given.
func selectedArtifact(alignment, recommendations, notices bool) (item vault.Item, err error) {
	for _, one := range []struct {
		asked bool
		item  vault.Item
	}{{alignment, vault.Alignment}, {recommendations, vault.Recommendations}, {notices, vault.Notices}} {
		switch {
		case one.asked && item != "":
			return "", usage("--%s and --%s print different tables; give only one of them", item.Noun(), one.item.Noun())
		case one.asked:
			item = one.item
		}
	}
	return item, nil
}

// leftResult is a table that a party keeps after a job.
type leftResult struct {
	Job   string `json:"job"`
	Item  string `json:"item"`
	Table string `json:"csv"`
}

func (a *app) showLeft(home, job string, item vault.Item) (Result, error) {
	table, err := a.at(home).Left(job, item)
	if err != nil {
		return nil, err
	}
	return leftResult{job, string(item), string(table)}, nil
}

// Print writes only the table.
func (r leftResult) Print(w io.Writer) error {
	_, err := io.WriteString(w, r.Table)
	return err
}

// jobListResult lists the jobs that a daemon knows.
type jobListResult struct {
	Jobs []admin.Job `json:"jobs"`
}

// Print writes a table of the jobs.
func (r jobListResult) Print(w io.Writer) error {
	t := &tableOf{header: []string{"job", "name", "begun", "ended", "state", "parties"}}
	for _, j := range r.Jobs {
		t.add(j.ID, cmp.Or(j.Name, "-"), minute(begun(j.Job)), minute(j.Ended), jobResult{Job: j}.state(), cmp.Or(strings.Join(j.Parties, ", "), "-"))
	}
	return t.print(w)
}

// begun returns the time of a job's submission, or at a party of its first session.
func begun(j overview.Job) time.Time {
	if j.Submitted.IsZero() {
		return j.Started
	}
	return j.Submitted
}

// minute formats a time to the minute. For the zero time, which is unknown or has not come, it returns "-".
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func (a *app) jobList() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "list",
		Short: "List a coordinator's jobs in the order of submission, or a party's open and retained jobs",
		Long: `List jobs with their parties and dates. A coordinator lists all jobs: a job begins
with its submission. A party lists the jobs of which it holds open sessions or retained
state: there a job begins with the party's first session.`,
		Example: "  mercer job list --home ./c\n  mercer job list --home ./north",
		Args:    args(),
	}, func(ctx context.Context, c *admin.Client, _ []string) (Result, error) {
		jobs, err := c.Jobs(ctx)
		for i := range jobs {
			jobs[i].Result = nil // leave out the result, which mercer job show prints
		}
		return jobListResult{jobs}, err
	})
}

// downloadResult names the file to which a model was written.
type downloadResult struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// Print names the file.
func (r downloadResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s, %s", r.Path, humanize.Bytes(r.Bytes))
	return p.err
}

func (a *app) jobDownload() *cobra.Command {
	var out string
	cmd := a.clientCommand(&cobra.Command{
		Use:   "download ID",
		Short: "Download a job's model, unless it is private",
		Long: `Download a job's model. A model that holds encoded rows, such as OKRA's, never
leaves the coordinator, because any party could decode these rows.`,
		Example: "  mercer job download 0123456789abcdef0123456789abcdef --home ./c --out model.mercer",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		file, err := c.Model(ctx, args[0])
		var coded *fault.Error
		if errors.As(err, &coded) && coded.Code == fault.CodePolicy {
			return nil, refused(err, "query predictions instead: mercer predict --job "+args[0])
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(out); err == nil {
			return nil, usage("%s already exists; choose another --out", out)
		}
		return downloadResult{out, len(file)}, disk.Replace(out, file)
	})
	cmd.Flags().StringVar(&out, "out", "model.mercer", "file to write")
	return cmd
}

func (a *app) jobAbort() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "abort ID",
		Short: "Abort a queued or running job",
		Long: `Abort a queued or running job. The command waits until every party has destroyed
the job's secrets and files, or has the order to do so. The job fails and stays in the
list, and the next job starts. A job that has its result does not change.`,
		Example: "  mercer job abort 0123456789abcdef0123456789abcdef --home ./c",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		if err := c.Abort(ctx, args[0]); err != nil {
			return nil, err
		}
		j, err := c.Wait(ctx, args[0])
		return jobResult{Job: j, reader: a.reader}, err
	})
}
