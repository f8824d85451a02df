package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/bench/paper"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// paperFlags holds the flags of mercer bench paper.
type paperFlags struct {
	only         []string
	out          string
	runs         int
	quick, check bool
}

func (a *app) benchPaper() *cobra.Command {
	var f paperFlags
	names := append(paper.Papers(), "all")
	cmd := &cobra.Command{
		Use:   "paper [" + strings.Join(names, "|") + "]",
		Short: "Reproduce the papers' tables and figures, beside the published values",
		Long: `Run the experiments of the four papers, and print each figure beside the published
one. A claim of a paper holds, does not hold, or cannot be checked. Data come from the
data folder. If it lacks the paper's data, other data take their place, and the table
says so.

With --out, the folder gets a page (report.html), all figures (figures.csv), and each
chart as SVG and PNG. They are written anew after each experiment, so Ctrl-C leaves
those that have ended.`,
		Example: "  mercer bench paper all --quick --out papers\n  mercer bench paper gu --only figure3,table4",
		Args:    onePaper, ValidArgs: names,
	}
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "experiments, such as table1 or figure3,table4; default all")
	cmd.Flags().StringVar(&f.out, "out", "", "folder for the page, the table and the pictures; default none")
	cmd.Flags().IntVar(&f.runs, "runs", 10, "number of splits of each figure; 1 with --quick unless given")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "measure fewer sizes")
	cmd.Flags().BoolVar(&f.check, "check", false, "end with exit code 1 if a claim does not hold that should")
	cmd.RunE = a.run(func(ctx context.Context, args []string) (Result, error) {
		if f.quick && !cmd.Flags().Changed("runs") {
			f.runs = 1
		}
		return a.papers(ctx, append(args, "all")[0], f)
	})
	return cmd
}

// onePaper accepts at most one argument, which is the name of a paper or the word all.
func onePaper(_ *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "all" && !slices.Contains(paper.Papers(), args[0]) {
		return usage("unknown paper %[2]q; mercer bench paper has %[1]s and all", strings.Join(paper.Papers(), ", "), strings.Join(args, " "))
	}
	return nil
}

// papers runs the experiments of one paper, or of all papers.
func (a *app) papers(ctx context.Context, which string, f paperFlags) (Result, error) {
	chosen, err := experimentsOf(which, f.only)
	switch {
	case err != nil:
		return nil, err
	case f.runs < 1:
		return nil, usage("--runs is %d; it must be at least 1", f.runs)
	}
	if f.out != "" {
		if err := folder(f.out); err != nil {
			return nil, err
		}
	}
	r := paperResult{Machine: thisMachine()}
	lab := &paper.Runner{Reader: a.reader, Run: a.paperJob, Has: a.has, Ratings: a.library().Ratings, Runs: f.runs, Quick: f.quick}
	for i, e := range chosen {
		began := time.Now()
		a.task = fmt.Sprintf("%s %s (%d of %d)", e.Paper, e.Name, i+1, len(chosen))
		found, err := e.Run(ctx, lab)
		if err != nil {
			return nil, r.stopped(e, err, f.out)
		}
		found.Seconds = time.Since(began).Seconds()
		r.Findings = append(r.Findings, found)
		if f.out != "" {
			if err := r.save(f.out); err != nil {
				return nil, err
			}
		}
		a.tell(fmt.Sprintf("%d of %d: %s %s took %.0f s", i+1, len(chosen), e.Paper, e.Name, found.Seconds))
	}
	if f.check {
		return r, r.err()
	}
	return r, nil
}

// experimentsOf returns the chosen experiments of one paper or of all papers. The list names
// holds their names, each with or without the paper's name. An empty list chooses all experiments.
func experimentsOf(which string, names []string) (chosen []paper.Experiment, err error) {
	found := make(map[string]bool)
	for _, e := range paper.Experiments() {
		whole := e.Paper + " " + e.Name
		if which != "all" && e.Paper != which {
			continue
		}
		if len(names) == 0 || slices.Contains(names, e.Name) || slices.Contains(names, whole) {
			chosen = append(chosen, e)
		}
		found[e.Name], found[whole] = true, true
	}
	for _, name := range names {
		if !found[name] {
			return nil, usage("--only %s is not an experiment of %s; mercer bench paper has %s", name, which, strings.Join(experimentNames(), ", "))
		}
	}
	return chosen, nil
}

// stopped returns the error of an interrupted or failed experiment. The error also names the page
// with the earlier experiments.
func (r paperResult) stopped(e paper.Experiment, err error, out string) error {
	before := ""
	if out != "" && len(r.Findings) > 0 {
		before = fmt.Sprintf("; %s has the %s before it", filepath.Join(out, "report.html"), humanize.Count(len(r.Findings), "experiment"))
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: codeInterrupted, Exit: interrupted, Err: fmt.Errorf("interrupted in %s %s%s", e.Paper, e.Name, before)}
	}
	return fmt.Errorf("%s %s: %w%s", e.Paper, e.Name, err, before)
}

func experimentNames() (list []string) {
	for _, e := range paper.Experiments() {
		list = append(list, e.Paper+" "+e.Name)
	}
	return list
}

// has reports whether the named source is a file or is in the data folder.
func (a *app) has(source string) bool {
	var missing *catalogue.Error
	_, err := a.library().Find(source)
	return !errors.As(err, &missing)
}

// paperJob runs one job of an experiment and removes its files. It is safe for concurrent use.
func (a *app) paperJob(ctx context.Context, j *job.Job) (_ *method.Result, err error) {
	dir, err := os.MkdirTemp("", "mercer-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The job has an app of its own, because its runs set the task that progress names. Its notices are
	// about public data sets, which have no operators: nobody reads them.
	own := *a
	own.notices = new(notices)
	run, err := own.simulateAll(ctx, j, dir, daemon.InsecureSeeds(j.Seed))
	return run.Result, err
}

// paperResult holds the measurements of experiments and a description of the machine.
type paperResult struct {
	Machine  benchMachine         `json:"machine"`
	Findings []*paper.Measurement `json:"findings"`
}

// save writes the HTML page, the table and the pictures of the experiments.
func (r paperResult) save(out string) error {
	return inFolder(out, func() error { return r.write(out) })
}

// write writes the files into a folder that exists.
func (r paperResult) write(out string) error {
	var page, table bytes.Buffer
	m := r.Machine
	s := report.Study{Title: "The papers' tables and figures", Facts: []report.Row{
		{Label: "Machine", Value: fmt.Sprintf("%s/%s, %d cores, products by %s", m.OS, m.Arch, m.Cores, m.Path)}, {Label: "Go", Value: m.Go},
	}}
	for _, f := range r.Findings {
		s.Parts = append(s.Parts, f.Part())
	}
	if err := errors.Join(report.WriteStudy(&page, s), paper.WriteCSV(&table, r.Findings)); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if err := f.SavePictures(out); err != nil {
			return err
		}
	}
	return errors.Join(disk.Replace(filepath.Join(out, "figures.csv"), table.Bytes()), disk.Replace(filepath.Join(out, "report.html"), page.Bytes()))
}

// err returns an error that carries all measurements if an expected claim does not hold.
func (r paperResult) err() error {
	var failed []string
	for _, f := range r.Findings {
		for _, c := range f.Claims {
			if c.Surprises() {
				failed = append(failed, f.Experiment.Paper+" "+f.Experiment.Name+": "+c.Text)
			}
		}
	}
	if failed == nil {
		return nil
	}
	return &Error{Code: codeFailed, Exit: Failed, Result: r, Err: errors.New("does not hold: " + strings.Join(failed, "; ")), Hint: "look at the figures with --json"}
}

// Print writes a table for each experiment, and the verdicts on the claims.
func (r paperResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, f := range r.Findings {
		p.linef("%s %s: %s (%.0f s)", f.Experiment.Paper, f.Experiment.Name, f.Experiment.Title, f.Seconds)
		p.linef("%s", paragraph("data: "+f.Data))
		if header, rows := f.Brief(); rows != nil {
			t := &tableOf{header: header}
			for _, row := range rows {
				var cells []any
				for _, cell := range row {
					cells = append(cells, cell)
				}
				t.add(cells...)
			}
			p.join(t.print(w))
		}
		for _, c := range f.Claims {
			p.linef("%s", paragraph(fmt.Sprintf("%s: %s (%s)", c.Verdict, c.Text, c.Numbers)))
		}
		p.linef("")
	}
	return p.err
}
