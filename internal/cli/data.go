package cli

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
)

func (a *app) data() *cobra.Command {
	cmd := commandGroup("data", "List, download and inspect data, and freeze a home's tables")
	cmd.Example = "  mercer data list\n  mercer data info bundled:digits"
	cmd.AddCommand(a.dataList(), a.dataGet(), a.dataInfo(), a.dataFreeze(), a.dataWithdraw())
	return cmd
}

// dataListResult lists the data sets that can be loaded by name.
type dataListResult struct {
	Folder string            `json:"folder"` // path of the data folder; "" if there is none
	Data   []catalogue.Entry `json:"data"`
}

func (a *app) dataList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the bundled data and the tables of the data folder",
		Long: `List the data that a job can use by name: the bundled data, and the tables and
folders of images in the folder that MERCER_DATA names. A table is CSV or LIBSVM text,
.npy, .npz, .parquet, or IDX (MNIST's format).`,
		Example: "  mercer data list\n  MERCER_DATA=~/data mercer data list --json",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			entries, err := a.library().List()
			if err != nil {
				return nil, err
			}
			return dataListResult{Folder: catalogue.Folder(a.env), Data: entries}, nil
		}),
	}
}

// Print writes a table.
func (r dataListResult) Print(w io.Writer) error {
	t := &tableOf{header: []string{"name", "rows", "columns", "classes", "file size", "licence"}}
	for _, e := range r.Data {
		size := ""
		if e.Bytes > 0 {
			size = humanize.Bytes(e.Bytes)
		}
		t.add(e.Name, numberOrBlank(e.Rows), numberOrBlank(e.Columns), numberOrBlank(e.Classes), size, e.Licence)
	}
	p := &printer{w: w}
	p.join(t.print(w))
	if r.Folder == "" {
		p.linef("\nno data folder; set %s to one, or give a path", catalogue.Variable)
	}
	return p.err
}

// numberOrBlank returns the number n, or "" if n is 0, which means unknown.
func numberOrBlank(n int) any {
	if n == 0 {
		return ""
	}
	return n
}

// dataGetResult lists the files of a data set, downloaded or already present.
type dataGetResult struct {
	Name    string    `json:"name"`
	Licence string    `json:"licence"`
	Files   []gotFile `json:"files"`
}

type gotFile struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Fetched bool   `json:"fetched"` // false if the file already existed
}

// Print lists the files.
func (r dataGetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, f := range r.Files {
		how := "already there"
		if f.Fetched {
			how = "downloaded"
		}
		p.linef("%s  %s, SHA-256 correct", f.Path, how)
	}
	p.linef("licence: %s", r.Licence)
	return p.err
}

// fetchTime is the longest time for the download of one file.
const fetchTime = 5 * time.Minute

func (a *app) dataGet() *cobra.Command {
	var folder string
	var names []string
	for _, o := range catalogue.Originals() {
		names = append(names, o.Name)
	}
	cmd := &cobra.Command{
		Use: "get NAME", SuggestFor: []string{"fetch", "download"},
		Short: "Download a public data set from its publisher",
		Long: `Download a public data set from its publisher into the data folder. The command
checks the SHA-256 of every file and keeps only the expected ones. This version
knows ` + strings.Join(names, ", ") + `.`,
		Example: "  mercer data get a9a\n  mercer data get a9a --out ./data",
		Args:    args("NAME"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			o, err := catalogue.LookupOriginal(args[0])
			if err != nil {
				return nil, err
			}
			if folder == "" {
				folder = catalogue.Folder(a.env)
			}
			if folder == "" {
				return nil, usage("there is no data folder; set %s to a folder, or give --out", catalogue.Variable)
			}
			return getData(ctx, o, folder)
		}),
	}
	cmd.Flags().StringVar(&folder, "out", "", "folder that gets a folder for the data set; default the data folder")
	return cmd
}

func getData(ctx context.Context, o catalogue.Original, folder string) (Result, error) {
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
