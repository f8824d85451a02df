package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/report"
)

func outFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", "", "folder for the result, its report and the predictions of held-out rows; default none")
}

// save writes the result and the report of a finished job into a folder. It also writes the
// predictions of held-out rows if the coordinator knows scores and labels. For a failed job, it
// writes only a report, which says why the job failed.
func (r *jobResult) save(ctx context.Context, c *admin.Client, out string) error {
	if r.Failure != nil && r.Result == nil {
		path, err := r.saveFailure(out)
		r.Files = []string{path}
		return err
	}
	if r.Result == nil {
		return usage("job %s has no result yet; wait with mercer job wait %s", r.ID, r.ID)
	}
	table, err := r.decisions(ctx, c)
	if err == nil {
		r.Files, err = saveResult(r.reader, out, outcome{Result: r.Result, table: table})
	}
	return err
}

// saveFailure writes the report of a failed job into a folder and returns its path.
func (r *jobResult) saveFailure(out string) (string, error) {
	run := report.Run{Title: r.Name, Failure: r.Failure.Message, Summary: []report.Row{{Label: "Job", Value: r.ID}, {Label: "Parties", Value: strings.Join(r.Parties, ", ")}}}
	if r.Failure.Blamed != "" {
		run.Summary = append(run.Summary, report.Row{Label: "Blamed", Value: r.Failure.Blamed})
	}
	var b bytes.Buffer
	if err := report.Write(&b, run); err != nil {
		return "", err
	}
	path := filepath.Join(out, "report.html")
	return path, inFolder(out, func() error { return disk.Replace(path, b.Bytes()) })
}

// decisions returns the predictions of a job, or nil if the job was forgotten or the coordinator has no labels.
func (r *jobResult) decisions(ctx context.Context, c *admin.Client) (*sheet, error) {
	if r.Forgotten {
		return nil, nil
	}
	decided, err := c.Outcome(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return heldOutSheet(decided, (*sheet).addPositions)
}

// saveResult writes a result into a folder, with its report if the job is known, and its table of predictions if there
// is one. It returns the paths of the files.
func saveResult(reader *job.Reader, out string, o outcome) (files []string, err error) {
	if o.About != nil { // nil for results of an earlier version, which contain no job file
		if o.job, err = reader.Parse(o.Job+".yaml", []byte(o.About.Job)); err != nil {
			return nil, err
		}
	}
	if o.shown, err = method.Presented(reader.Protocols, o.job, o.Result); err != nil {
		return nil, err
	}
	err = inFolder(out, func() (err error) { files, err = writeResult(out, o); return err })
	return files, err
}

// writeResult writes the files of a result into a folder that exists.
func writeResult(out string, o outcome) (files []string, err error) {
	if o.Predictions, err = saveTable(out, o.table); err != nil {
		return nil, err
	}
	if o.table != nil {
		files = append(files, o.Predictions)
	}
	if o.job != nil {
		if o.Report, err = savePage(out, o); err != nil {
			return nil, err
		}
		files = append(files, o.Report)
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(out, "result.json")
	return append(files, path), disk.Replace(path, append(text, '\n'))
}

// ownResult is a job's result at a party that knows labels and scores of held-out rows.
type ownResult struct {
	ID     string   `json:"id"`
	Own    outcome  `json:"result"`
	Files  []string `json:"files,omitempty"` // files that --out has written
	reader *job.Reader
}

// showOwn reads a job's result from a party's home. Unless target is "", it also writes the result
// into this folder.
func (a *app) showOwn(home daemon.Home, id, target string) (Result, error) {
	own, err := home.Judged(id)
	if err != nil {
		e := usage("%w", err)
		e.Hint = "a party with labels has figures of jobs of fdskl, fd-svrg and secureboost; the results of other jobs are in the coordinator's home"
		return nil, e
	}
	r := ownResult{ID: id, Own: outcome{Result: own.Result, job: jobIn(a.reader, own.Result), verbose: a.verbose}, reader: a.reader}
	r.Own.table, err = heldOutSheet(own.Outcome, func(s *sheet) { s.add("id", own.Outcome.Held) })
	if err == nil && target != "" {
		r.Files, err = saveResult(a.reader, target, r.Own)
	}
	return r, err
}

// Print shows the party's own result.
func (r ownResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s  %s  as this party knows it", r.ID, r.Own.Job)
	p.linef("")
	r.Own.files = r.Files
	p.join(r.Own.Print(w))
	return p.err
}

// jobFile is a job together with the text of its file.
type jobFile struct {
	path string
	text []byte
	job  *job.Job
}

func (a *app) readJobFile(path string) (*jobFile, error) {
	b, err := regular.Read(path)
	if err != nil {
		return nil, usage("the job file cannot be read: %w", err)
	}
	j, err := a.reader.Parse(path, b)
	return &jobFile{path, b, j}, err
}

// readJob reads a job file.
func (a *app) readJob(path string) (*job.Job, error) {
	f, err := a.readJobFile(path)
	if err != nil {
		return nil, err
	}
	return f.job, nil
}

// names reports whether section "data" of the job file has the key.
func (f *jobFile) names(key string) bool { return job.DataKey(f.text, key) }

// locate adds the number of a line of the job file, and advice, to an error about a source, a column, folds or a
// parameter of the learner. It returns other errors unchanged.
func (f *jobFile) locate(err error) error {
	if line := f.lineOf(err); line > 0 {
		return fmt.Errorf("%s:%d: %w%s", f.path, line, err, f.advice(err))
	}
	return err
}

// lineOf returns the line of the job file, from 1, that causes an error. It returns 0 if none is known.
func (f *jobFile) lineOf(err error) int {
	var (
		column *dataset.ColumnError
		absent *catalogue.Error
		source *sourceError
		unfit  *svm.ParameterError
	)
	switch {
	case errors.As(err, &unfit):
		return job.LearnerKeyLine(f.text, unfit.Parameter)
	case errors.As(err, &source):
		return job.DataKeyLine(f.text, "sources", source.party)
	case errors.As(err, &column):
		return job.DataLine(f.text, column.Column)
	case errors.As(err, &absent):
		return job.DataLine(f.text, absent.Source)
	case strings.Contains(err.Error(), learner.FoldsMisfit(f.job.Data.Folds)):
		return job.DataKeyLine(f.text, "folds")
	}
	return 0
}

// advice returns advice to append to an error about a source: on labels that the first party lacks, and on a
// relative path in a job file of another folder. It returns "" for other errors.
func (f *jobFile) advice(err error) string {
	var column *dataset.ColumnError
	if d := f.job.Data; errors.As(err, &column) && d.Partition.By == job.Columns && column.Column == d.Label {
		return "; by columns the first party holds the labels, so list that party first"
	}
	var absent *catalogue.Error
	folder := filepath.Dir(f.path)
	if !errors.As(err, &absent) || !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(absent.Source) || folder == "." {
		return ""
	}
	advice := "; paths are relative to the folder in which mercer runs, not to that of the job file"
	if at := filepath.Join(folder, absent.Source); regular.Check(at) == nil {
		advice += ": write " + at
	}
	return advice
}
