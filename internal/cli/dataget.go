package cli

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/source"
)

// dataGetResult is what was fetched, or was there.
type dataGetResult struct {
	Name    string    `json:"name"`
	Licence string    `json:"licence"`
	Files   []gotFile `json:"files"`
}

type gotFile struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Fetched bool   `json:"fetched"` // false: it was there
}

// Print names the files.
func (r dataGetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, f := range r.Files {
		how := "was there"
		if f.Fetched {
			how = "fetched"
		}
		p.linef("%s  %s, SHA-256 right", f.Path, how)
	}
	p.linef("licence: %s", r.Licence)
	return p.err
}

// fetchTime bounds one file's way here.
const fetchTime = 5 * time.Minute

func (a *app) dataGet() *cobra.Command {
	var folder string
	var names []string
	for _, o := range source.Originals() {
		names = append(names, o.Name)
	}
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Fetch a public data set from its publisher",
		Long: `Fetch a public data set from its publisher into the data folder, and check its
SHA-256: a file that is not the expected one is not kept. This version knows
` + strings.Join(names, ", ") + `.`,
		Example: "  mercer data get a9a\n  mercer data get a9a --out ./data",
		Args:    args("NAME"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if folder == "" {
				folder = source.Folder(a.env)
			}
			if folder == "" {
				return nil, usage("there is no data folder; set %s to one, or give --out", source.Variable)
			}
			o, err := source.LookupOriginal(args[0])
			if err != nil {
				return nil, err
			}
			return getData(ctx, o, folder)
		}),
	}
	cmd.Flags().StringVar(&folder, "out", "", "folder in which the set's folder is made; the data folder if empty")
	return cmd
}

func getData(ctx context.Context, o source.Original, folder string) (Result, error) {
	client := &http.Client{Timeout: fetchTime}
	defer client.CloseIdleConnections()
	r := dataGetResult{Name: o.Name, Licence: o.Licence, Files: []gotFile{}}
	for _, f := range o.Files {
		path, fresh, err := f.Fetch(ctx, client, filepath.Join(folder, o.Name))
		if err != nil {
			return nil, err
		}
		r.Files = append(r.Files, gotFile{path, f.SHA256, fresh})
	}
	return r, nil
}
