package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/say"
	"github.com/mercer-fl/mercer/internal/source"
)

func (a *app) data() *cobra.Command {
	cmd := group("data", "List data, fetch it, and look at it before a job uses it")
	cmd.Example = "  mercer data list\n  mercer data info bundled:digits"
	cmd.AddCommand(a.dataList(), a.dataGet(), a.dataInfo())
	return cmd
}

// dataListResult is what can be loaded by name.
type dataListResult struct {
	Folder string         `json:"folder"` // empty when there is none
	Data   []source.Entry `json:"data"`
}

func (a *app) dataList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the bundled data and the tables of the data folder",
		Long: `List the data that can be used by name: what the program carries, and the
tables (CSV and LIBSVM text, .npy, .npz, .parquet, IDX as MNIST has it) and
folders of images in the folder that MERCER_DATA names.`,
		Example: "  mercer data list\n  MERCER_DATA=~/data mercer data list --json",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			entries, err := a.library().List()
			if err != nil {
				return nil, err
			}
			return dataListResult{Folder: source.Folder(a.env), Data: entries}, nil
		}),
	}
}

// Print writes a table.
func (r dataListResult) Print(w io.Writer) error {
	t := &tableOf{header: []string{"name", "rows", "columns", "classes", "file size", "licence"}}
	for _, e := range r.Data {
		size := ""
		if e.Bytes > 0 {
			size = say.Bytes(e.Bytes)
		}
		t.add(e.Name, known(e.Rows), known(e.Columns), known(e.Classes), size, e.Licence)
	}
	p := &printer{w: w}
	p.join(t.print(w))
	if r.Folder == "" {
		p.linef("\nno data folder; set %s to one, or give a path", source.Variable)
	}
	return p.err
}

// known shows a number, or nothing where it is not known.
func known(n int) any {
	if n == 0 {
		return ""
	}
	return n
}
