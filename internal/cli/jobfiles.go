package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/admin"
)

func outFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", "", "folder for the result, its report and the predictions of held-out rows; default none")
}

// save writes the result of a job that is over into a folder, with its report and, where the
// coordinator holds scores and labels, the predictions of held-out rows.
func (r *jobResult) save(ctx context.Context, c *admin.Client, out string) error {
	if r.Result == nil {
		return usage("job %s has no result yet; wait with mercer job wait %s", r.ID, r.ID)
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return usage("--out %s cannot be the folder of the results: %w", out, err)
	}
	shown, err := presented(r.reader, nil, r.Result)
	if err != nil {
		return err
	}
	o := outcome{Result: r.Result, shown: shown}
	if err := r.saveDecisions(ctx, c, out, &o); err != nil {
		return err
	}
	if r.Result.About != nil { // a result of an earlier program does not say which job it is of
		j, err := r.reader.Parse(r.Name+".yaml", []byte(r.Result.About.Job))
		if err != nil {
			return err
		}
		if o.Report, err = savePage(out, j, o); err != nil {
			return err
		}
		r.Files = append(r.Files, o.Report)
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(out, "result.json")
	r.Files = append(r.Files, path)
	return disk.Replace(path, append(text, '\n'))
}

// saveDecisions writes the predictions, unless the job is forgotten.
func (r *jobResult) saveDecisions(ctx context.Context, c *admin.Client, out string, o *outcome) error {
	if r.Forgotten {
		return nil
	}
	decided, err := c.Outcome(ctx, r.ID)
	if err != nil {
		return err
	}
	if o.table, err = heldOut(decided, (*sheet).numbered); err != nil {
		return err
	}
	if o.Predictions, err = saveTable(out, o.table); err == nil && o.table != nil {
		r.Files = append(r.Files, o.Predictions)
	}
	return err
}
