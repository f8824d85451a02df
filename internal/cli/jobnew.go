package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/profile"
	"github.com/mercer-fl/mercer/internal/job"
)

// draftedJob is the text of a job file.
type draftedJob struct {
	Text string `json:"job"`
}

func (j draftedJob) Print(w io.Writer) error {
	_, err := io.WriteString(w, j.Text)
	return err
}

func (a *app) jobNew() *cobra.Command {
	var asked profile.Draft
	var labels, ids []string
	cmd := &cobra.Command{
		Use:   "new [SITE=]FILE...",
		Short: "Draft a job for mercer simulate from the tables of several sites",
		Long: `Draft a job for mercer simulate from the tables of several sites, one CSV text or
parquet file each. The command finds out how each text is written (encoding, decimal
sign, sign between thousands, words for a gap), and which columns all sites have under
the same name. It prints the job with a description of each table and one dictionary.
Columns that only some sites have are listed as comments, with what to write.

--protocol drafts the job of another protocol than okra: moments for sums in place of
rows, sealed for sums that nobody sees, pooled for training without privacy, and gram or
fdskl for sites that have other columns of the same people. The first of these sites has
the labels, and all have --id.

--epsilon drafts a job with differential privacy, by moments or sealed: its noise hides
whether any one person took part. It is for 10,000 rows or more (docs/privacy.md). No row
may decide a range or what a gap counts as: the draft has the data's, rounded, so write
others from general knowledge.

Someone who knows the data must correct the job: units, ranges, and words that mean the
same. The ranges show the least and the greatest number of the data, rounded: write
possible ranges before anybody else reads the job. A further draft guesses all of them
anew: write it to another file, and copy your corrections.`,
		Example: "  mercer job new north.csv south.csv east=export.tsv --label outcome > job.yaml\n  mercer job new north.csv south.csv --label diagnosis --label south=befund > job.yaml\n  mercer job new bank.csv shop.csv --protocol gram --label default --id customer > job.yaml",
		Args: func(_ *cobra.Command, given []string) error {
			if len(given) == 0 {
				return usage("job new needs the table of each site; give files, as in mercer job new north.csv south.csv --label outcome")
			}
			return nil
		},
		RunE: a.run(func(_ context.Context, files []string) (Result, error) {
			d, err := a.draft(asked, files, labels, ids)
			if err != nil {
				return nil, err
			}
			if d.Unpaired() {
				a.notices.add("warning: the draft has no column yet, because no column has one name at all sites; take the # away from the columns that mean the same, and give them one name, both after \"as:\" at each site and in the dictionary")
			}
			return draftedJob{d.Job()}, nil
		}),
	}
	cmd.Flags().StringVar(&asked.Protocol, "protocol", "", "protocol of the job: "+strings.Join(profile.Protocols(), ", ")+"; default okra, or pooled for one table")
	cmd.Flags().Float64Var(&asked.Epsilon, "epsilon", 0, "epsilon of a job with differential privacy, such as 4, for protocol moments or sealed; default no privacy")
	cmd.Flags().StringSliceVar(&labels, "label", nil, "column of the labels, or SITE=COLUMN for a site that calls it otherwise")
	cmd.Flags().StringSliceVar(&ids, "id", nil, "column of the row ids, or SITE=COLUMN for a site that calls it otherwise")
	return cmd
}

// draft adds the tables of all sites to a draft. If the draft's protocol is "", it becomes the usual one for this
// number of tables.
func (a *app) draft(d profile.Draft, files, labels, ids []string) (profile.Draft, error) {
	d.Protocol = cmp.Or(d.Protocol, profile.Usual(len(files)))
	if !slices.Contains(profile.Protocols(), d.Protocol) {
		return d, usage("job new drafts no job of protocol %q; write --protocol with one of %s", d.Protocol, strings.Join(profile.Protocols(), ", "))
	}
	for i, file := range files {
		own := labels
		if !d.Labels(i) {
			own = []string{job.NoLabel}
		}
		s, err := a.siteOf(file, own, ids)
		if err != nil {
			return d, err
		}
		if slices.ContainsFunc(d.Sites, func(o profile.Site) bool { return o.Party == s.Party }) {
			return d, usage("two tables are called %s; name the sites, as in %s-2=%s", s.Party, s.Party, file)
		}
		d.Sites = append(d.Sites, s)
	}
	d.Label = cmp.Or(common(labels), d.Sites[0].Label)
	if err := cmp.Or(checkSites("--label", labels, d.Sites), checkSites("--id", ids, d.Sites)); err != nil {
		return d, err
	}
	if err := d.Check(); err != nil {
		return d, usage("%w", err)
	}
	return d, nil
}

// common returns the value that holds for all sites, or "".
func common(given []string) string {
	for _, g := range given {
		if !strings.Contains(g, "=") {
			return g
		}
	}
	return ""
}

// forSite returns the value for a site: its own one, or the one that holds for all sites.
func forSite(site string, given []string) string {
	for _, g := range given {
		if own, column, is := strings.Cut(g, "="); is && own == site {
			return column
		}
	}
	return common(given)
}

// checkSites refuses SITE=COLUMN for a site without a table.
func checkSites(flag string, given []string, sites []profile.Site) error {
	var parties []string
	for _, s := range sites {
		parties = append(parties, s.Party)
	}
	for _, g := range given {
		if site, _, is := strings.Cut(g, "="); is && !slices.Contains(parties, site) {
			return usage("%s %s names no site; the sites are %s", flag, g, strings.Join(parties, ", "))
		}
	}
	return nil
}

// siteOf describes the table of a site.
func (a *app) siteOf(file string, labels, ids []string) (s profile.Site, err error) {
	name, path, named := strings.Cut(file, "=")
	if !named {
		name, path = profile.NameOf(file), file
	} else if profile.NameOf(name) != name {
		return s, usage("the site %q cannot be a party; use up to 63 lower-case letters, digits and inner dashes, as in %s=%s", name, profile.NameOf(name), path)
	}
	c := catalogue.Columns{Label: forSite(name, labels), ID: forSite(name, ids)}
	if c.Label == "" {
		return s, usage("--label is missing: name the column to predict, and for a site that calls it otherwise --label %s=COLUMN", name)
	}
	d, err := a.understand(path, c)
	var none *dataset.ColumnError
	switch {
	case errors.As(err, &none) && none.Column == c.Label:
		return s, usage("%s: %w; name this site's own column, as in --label %s=COLUMN", path, err, name)
	case errors.As(err, &none):
		return s, usage("%s: %w; name this site's own column, as in --id %s=COLUMN", path, err, name)
	case err != nil:
		return s, err
	case d == nil && a.library().Missing(path):
		_, err := a.library().Find(path)
		return s, err
	case d == nil:
		return s, usage("%s is neither a CSV text nor a parquet file; see mercer data info %s", path, path)
	}
	if err := d.firstFatal(nil); err != nil {
		hint := infoHint(path, c.Label, d.own.CSV)
		if c.ID == "" && d.id != "" {
			hint = fmt.Sprintf("--id none leaves the ids in column %s out; %s", dataset.Quote(d.id), hint)
		}
		return s, &Error{Code: codeBadData, Exit: Usage, Err: err, Hint: hint}
	}
	return profile.Site{Party: name, Suggestion: profile.Suggestion{Table: d.Table, Own: d.own, Path: path, Label: d.label, ID: d.id}}, nil
}

// understand reads a table first to find out how its text is written, once more if it must guess the encoding, and
// then, by what it has found, to describe the table.
func (a *app) understand(path string, c catalogue.Columns) (*describedTable, error) {
	form := prepare.CSV{Comment: guess(path, dataset.GuessComment)}
	d, err := a.cells(path, prepare.Mapping{CSV: form}, c)
	if err != nil || d != nil && d.firstFatal(nil) != nil {
		if form.Encoding = guess(path, dataset.GuessEncoding); form.Encoding != "" {
			d, err = a.cells(path, prepare.Mapping{CSV: form}, c)
		}
	}
	if err != nil || d == nil || d.Rows == 0 {
		return d, err
	}
	s := profile.Suggestion{Table: d.Table, Own: prepare.Mapping{CSV: form}}
	return a.cells(path, prepare.Mapping{CSV: s.Form()}, c)
}

// guess returns what a function of package dataset guesses of a text, or "" if it cannot be read.
func guess(path string, of func(io.Reader) string) (found string) {
	f, err := regular.Open(path)
	if err != nil {
		return "" // the reader of the table reports it
	}
	found = of(f)
	if f.Close() != nil {
		return ""
	}
	return found
}
