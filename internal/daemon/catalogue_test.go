package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const patients = `id,name,age,hiv,ssn,diagnosis,remission,visit
p1,Ann,40,1,123001,ill,no,17
p2,Bob,50,0,123002,well,yes,18
p3,Cem,60,1,123003,ill,yes,19
`

// home is a party's home with a table of patients and this configuration.
func home(t *testing.T, config string) (Home, *Config) {
	t.Helper()
	h := newHome(t, roster.Party)
	for name, text := range map[string]string{"patients.csv": patients, "config.yaml": "name: north\n" + config} {
		if err := os.WriteFile(filepath.Join(h.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := loadConfig(all.Reader(), h.ConfigPath())
	if err != nil {
		t.Fatal(err)
	}
	return h, c
}

const entry = `data:
  patients:
    path: patients.csv
    label: diagnosis
    id: id
    columns: [age, visit]
  bare: {path: patients.csv, columns: [age, visit]}
  several: {path: patients.csv, label: [diagnosis, remission], columns: [age, visit]}
  unlabelled: {path: patients.csv, label: none, columns: [age, visit]}
`

func columnsOf(names ...string) []job.OwnColumns {
	return []job.OwnColumns{{Party: "south", Names: []string{"other"}}, {Party: "north", Names: names}}
}

// The strongest adversary is a coordinator that writes the job: it names a column of private
// numbers as labels, which okra and gram send in clear, as ids, which other parties look up, or as
// features. A party refuses each, and its answer does not reveal whether the column exists.
func TestJobNamesColumnsThatAreNotOffered(t *testing.T) {
	h, c := home(t, entry)
	vertical := func(columns ...string) job.Partition {
		return job.Partition{By: job.Columns, Parties: []string{"north", "south"}, Columns: columnsOf(columns...)}
	}
	for name, d := range map[string]job.Data{
		"the label":                          {Source: "patients", Label: "ssn"},
		"a label that is not there":          {Source: "patients", Label: "income"},
		"a feature as the label":             {Source: "patients", Label: "age"},
		"the ids as the label":               {Source: "patients", Label: "id"},
		"the last column as the label":       {Source: "patients", Label: "last"},
		"a column by its place":              {Source: "patients", Label: "4"},
		"the ids":                            {Source: "patients", Label: "diagnosis", ID: "ssn"},
		"ids that are not there":             {Source: "patients", Label: "diagnosis", ID: "passport"},
		"ids of none":                        {Source: "patients", Label: "diagnosis", ID: "none"},
		"a feature":                          {Source: "patients", Label: "diagnosis", Partition: vertical("age", "ssn")},
		"a feature that is not there":        {Source: "patients", Label: "diagnosis", Partition: vertical("height")},
		"a label where there is none":        {Source: "bare", Label: "ssn"},
		"the right label where none is":      {Source: "bare", Label: "diagnosis"},
		"no label where there is none":       {Source: "bare"},
		"ids where there are none":           {Source: "bare", Label: job.NoLabel, ID: "id"},
		"a label of an entry that says none": {Source: "unlabelled", Label: "diagnosis"},
		"neither of two labels":              {Source: "several", Label: "ssn"},
		"two labels and no choice":           {Source: "several"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := h.load(context.Background(), c, d, dataset.SplitKey{1}, snapshots{})
			if err == nil {
				t.Fatalf("the job gets %v", table.Set)
			}
			if fault.CodeOf(err) != fault.CodePolicy || fault.NoticeOf(err).Trouble != fault.Offer {
				t.Errorf("code %d, the coordinator hears %q", fault.CodeOf(err), fault.NoticeOf(err).Sentence())
			}
			if !strings.Contains(err.Error(), d.Source) {
				t.Errorf("the log says %q", err)
			}
		})
	}
}

// The keys that a job may leave out, and those that it may repeat.
func TestJobPicksWhatIsOffered(t *testing.T) {
	h, c := home(t, entry)
	vertical := job.Partition{By: job.Columns, Parties: []string{"north", "south"}, Columns: columnsOf("visit")}
	for name, tt := range map[string]struct {
		data             job.Data
		labels, ids, all []string
	}{
		"nothing said":          {job.Data{Source: "patients"}, []string{"ill", "well", "ill"}, []string{"p1", "p2", "p3"}, []string{"age", "visit"}},
		"everything repeated":   {job.Data{Source: "patients", Label: "diagnosis", ID: "id", Partition: vertical}, []string{"ill", "well", "ill"}, []string{"p1", "p2", "p3"}, []string{"age", "visit"}},
		"without labels":        {job.Data{Source: "patients", Label: job.NoLabel}, nil, []string{"p1", "p2", "p3"}, []string{"age", "visit"}},
		"no label, none asked":  {job.Data{Source: "bare", Label: job.NoLabel}, nil, nil, []string{"age", "visit"}},
		"label: none":           {job.Data{Source: "unlabelled", Label: job.NoLabel}, nil, nil, []string{"age", "visit"}},
		"one of two labels":     {job.Data{Source: "several", Label: "remission"}, []string{"no", "yes", "yes"}, nil, []string{"age", "visit"}},
		"the other of the two":  {job.Data{Source: "several", Label: "diagnosis"}, []string{"ill", "well", "ill"}, nil, []string{"age", "visit"}},
		"neither of the labels": {job.Data{Source: "several", Label: job.NoLabel}, nil, nil, []string{"age", "visit"}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := h.load(context.Background(), c, tt.data, dataset.SplitKey{1}, snapshots{})
			if err != nil {
				t.Fatal(err)
			}
			set := table.Set
			if !slices.Equal(set.Labels, tt.labels) || !slices.Equal(set.IDs, tt.ids) || !slices.Equal(set.Columns, tt.all) {
				t.Errorf("labels %v, ids %v, columns %v", set.Labels, set.IDs, set.Columns)
			}
		})
	}
}

// A row without a label is read where the job says that labels are spread, and nowhere else.
func TestSpreadLabelsHaveGaps(t *testing.T) {
	h, c := home(t, entry)
	if err := os.WriteFile(filepath.Join(h.folder, "patients.csv"), []byte(strings.Replace(patients, "well", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	data := job.Data{Source: "patients"}
	if _, err := h.load(context.Background(), c, data, dataset.SplitKey{1}, snapshots{}); err == nil || !strings.Contains(err.Error(), `column "diagnosis" is empty`) {
		t.Errorf("error %v", err)
	}
	data.Spread = true
	table, err := h.load(context.Background(), c, data, dataset.SplitKey{1}, snapshots{})
	if err != nil || !slices.Equal(table.Set.Labels, []string{"ill", "", "ill"}) {
		t.Errorf("%+v, %v", table.Set, err)
	}
}

// A column of labels is no feature, whichever label a job takes; and a column that
// happens to be called id is not released as ids.
func TestLabelsAreNoFeatures(t *testing.T) {
	h, c := home(t, "data:\n  patients: {path: numbers.csv, label: [ill, late]}\n")
	if err := os.WriteFile(filepath.Join(h.folder, "numbers.csv"), []byte("id,age,ill,late\n1,40,0,1\n2,50,1,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"ill", "late", job.NoLabel} {
		table, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: label}, dataset.SplitKey{1}, snapshots{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Set.Columns, []string{"age"}) || table.Set.IDs != nil {
			t.Errorf("label %s: columns %v, ids %v", label, table.Set.Columns, table.Set.IDs)
		}
	}
}

// A job holds later rows out by the one column that the entry offers for it, with or without a
// list of features.
func TestLaterRowsOfATable(t *testing.T) {
	h, c := home(t, "data:\n  dated: {path: dated.csv, label: ill, cut: day, cut_dates: [2024-01-01]}\n  listed: {path: dated.csv, label: ill, cut: day, cut_dates: [2024-01-01], columns: [visit]}\n  renamed: {path: dated.csv, label: ill, cut: day, cut_dates: [2024-01-01], columns: {age: {as: years}}}\n  bare: {path: dated.csv, label: ill, columns: [age, visit]}\n")
	if err := os.WriteFile(filepath.Join(h.folder, "dated.csv"), []byte("day,age,visit,ill\n2023-05-01,40,1,no\n2024-05-01,50,2,yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := func(column string) job.Test { return job.Test{Column: column, From: "2024-01-01"} }
	for source, columns := range map[string][]string{"dated": {"age", "visit"}, "listed": {"visit"}, "renamed": {"years", "visit"}} {
		for _, test := range []job.Test{later("day"), {Fraction: 0.25}} {
			table, err := h.load(context.Background(), c, job.Data{Source: source, Label: "ill", Test: test}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{byte(len(source))}})
			if err != nil {
				t.Fatal(err)
			}
			set := table.Set
			if !slices.Equal(set.Columns, columns) || !slices.Equal(set.Labels, []string{"no", "yes"}) || (set.Cut != nil) != (test.Column != "") || table.Label != "ill" {
				t.Errorf("%s, %+v: columns %v, labels %v, cells %v", source, test, set.Columns, set.Labels, set.Cut)
			}
		}
		for _, column := range []string{"age", "birthday"} {
			if _, err := h.load(context.Background(), c, job.Data{Source: source, Label: "ill", Test: later(column)}, dataset.SplitKey{1}, snapshots{}); fault.CodeOf(err) != fault.CodePolicy || fault.NoticeOf(err).Trouble != fault.Offer {
				t.Errorf("%s by %s: %v", source, column, err)
			}
		}
	}
	if _, err := h.load(context.Background(), c, job.Data{Source: "bare", Label: "ill", Test: later("day")}, dataset.SplitKey{1}, snapshots{}); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("an entry without cut: %v", err)
	}
}

// Rows of one group are held out together at a party whose catalogue says so, whatever the job
// says; a job that names another group is refused.
func TestGroupsOfATable(t *testing.T) {
	h, c := home(t, "data:\n  grouped: {path: grouped.csv, label: ill, group: patient}\n  bare: {path: grouped.csv, label: ill, columns: [age]}\n")
	if err := os.WriteFile(filepath.Join(h.folder, "grouped.csv"), []byte("patient,age,ill\nann,40,no\nbob,50,yes\nann,41,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"", "patient"} {
		table, err := h.load(context.Background(), c, job.Data{Source: "grouped", Label: "ill", Group: group, Test: job.Test{Fraction: 0.25}}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{1}})
		if err != nil {
			t.Fatal(err)
		}
		if set := table.Set; !slices.Equal(set.Groups, []string{"ann", "bob", "ann"}) || !slices.Equal(set.Columns, []string{"age"}) {
			t.Errorf("group %q: groups %v, columns %v", group, set.Groups, set.Columns)
		}
	}
	for source, group := range map[string]string{"grouped": "age", "bare": "patient"} {
		if _, err := h.load(context.Background(), c, job.Data{Source: source, Label: "ill", Group: group}, dataset.SplitKey{1}, snapshots{}); fault.CodeOf(err) != fault.CodePolicy || fault.NoticeOf(err).Trouble != fault.Offer {
			t.Errorf("%s by %s: %v", source, group, err)
		}
	}
}

// The strongest adversary is a coordinator that writes the job and has been allowed
// one table: rows of another table do not come along as test rows.
func TestTestRowsOfAnotherTable(t *testing.T) {
	h, c := home(t, entry)
	_, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: "diagnosis", Test: job.Test{Source: "several"}}, dataset.SplitKey{1}, snapshots{})
	if fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("error %v", err)
	}
}

// A table has the policy that stands with it, whole, or else the policy of the home.
func TestPolicyOfATable(t *testing.T) {
	h, c := home(t, `policy: {protocols: [moments], limits: {max_directions: 64}}
data:
  usual: {path: patients.csv}
  own: {path: patients.csv, policy: {protocols: [okra]}}
  closed: {path: patients.csv, policy: {}}
`)
	for table, want := range map[string]string{"usual": "[moments] 64", "own": "[okra] 0", "closed": "[] 0"} {
		p, err := c.policy(h, table)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Protocols, p.Limits.MaxDirections); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	if _, err := c.policy(h, "gone"); err == nil {
		t.Error("a table that is not there has a policy")
	}
}

func TestCatalogueThatContradictsItself(t *testing.T) {
	for config, want := range map[string]string{
		"data:\n  p: {path: a.csv, label: y, columns: [x, y]}":                   `data p: column "y" has two uses, a label and a feature; name it once`,
		"data:\n  p: {path: a.csv, label: [y, y]}":                               `data p: column "y" has two uses, a label and a label; name it once`,
		"data:\n  p: {path: a.csv, id: y, label: y}":                             `data p: column "y" has two uses, a label and the id; name it once`,
		"data:\n  p: {path: a.csv, label: [y, none]}":                            `data p: "none" is not a column name, so it cannot be a label; name a column`,
		"data:\n  p: {path: a.csv, columns: [\"\"]}":                             `data p: "" is not a column name, so it cannot be a feature; name a column`,
		"data:\n  p: {path: a.csv, label: {a: b}}":                               "config.yaml:3: unknown key \"a\"; known keys: column, missing",
		"data:\n  p: {path: a.csv, label: y, cut: y}":                            `data p: column "y" is the cut column, and also a label, the id or the group; name another column as cut`,
		"data:\n  p: {path: a.csv, group: y, id: y}":                             `data p: column "y" has two uses, the id and the group; name it once`,
		"data:\n  p: {path: a.csv, group: y, cut: y}":                            `data p: column "y" is the cut column, and also a label, the id or the group; name another column as cut`,
		"data:\n  p: {path: a.csv, group: y, features: 9}":                       "data p: the setting \"group\" requires columns with names, but \"features\" is for columns without names; remove \"features\"",
		"data:\n  p: {path: a.csv, label: y, columns: {y: {as: event}}}":         `data p: one of "label", "group", "cut" and "weight" names a column that "columns" renames: "y" to "event"; write "event"`,
		"data:\n  p: {path: a.csv, group: y, columns: {y: {as: ward}}}":          `"y" to "ward"; write "ward"`,
		"data:\n  p: {path: a.csv, cut: y, columns: {y: {as: day}}}":             `"y" to "day"; write "day"`,
		"data:\n  p: {path: a.csv, weight: w, features: 3}":                      "data p: the setting \"weight\" requires columns with names, but \"features\" is for columns without names; remove \"features\"",
		"data:\n  p: {path: a.csv, weight: w, label: w}":                         "data p: column \"w\" has two uses, a label and the weight; name it once",
		"data:\n  p: {path: a.csv, weight: w, columns: [w]}":                     "data p: column \"w\" has two uses, the weight and a feature; name it once",
		"data:\n  p: {path: a.csv, weight: g, columns: {g: {as: w}}}":            "data p: one of \"label\", \"group\", \"cut\" and \"weight\" names a column that \"columns\" renames: \"g\" to \"w\"; write \"w\"",
		"data:\n  p: {path: a.csv, policy: {limits: {max_ids: 0}}}":              `max_ids is "0"; write a whole number above 0`,
		"data:\n  p: {path: a.csv, policy: {limits: {max_ids_total: 0}}}":        `max_ids_total is "0"; write a whole number above 0`,
		"data:\n  p: {path: a.csv, policy: {limits: {max_directions: -2}}}":      `max_directions is "-2"; write a whole number above 0`,
		"data:\n  p: {path: a.csv, policy: {limits: {max_directions_total: x}}}": `max_directions_total is "x"; write a whole number above 0`,
		"data:\n  p: {path: a.csv, policy: {limits: {rows: -1}}}":                `data p: "rows" in the policy's limits is -1; write 0 for no limit, or a number above 0`,
		"data:\n  p: {path: a.csv, policy: {protocols: [orka]}}":                 `data p: "protocols" in the policy names "orka"; did you mean "okra"?`,
		"data:\n  p: {path: a.csv, policy: {floors: {training_row: 1}}}":         `config.yaml:3: unknown key "training_row"; did you mean "training_rows"?`,
		"data:\n  p: {path: a.csv, policy: {floors: {training_rows: many}}}":     `config.yaml:3: training_rows is "many"; write a whole number`,
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("name: north\n"+config+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(all.Reader(), path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", config, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	_, c := home(t, `data:
  b: {path: patients.csv}
  a: {path: patients.csv, label: none, policy: {protocols: [okra]}}
  c: {path: patients.csv, label: x, policy: {}}
`)
	want := []string{
		"b has no \"label\" and can be used without labels only",
		"no job is allowed to use b; list the allowed protocols in data.b.policy.protocols",
		"no job is allowed to use c; list the allowed protocols in data.c.policy.protocols",
	}
	if got := c.Warnings(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Parts of a file and stacks of files exist if their files do. A member has no bundled tables.
func TestMissingFiles(t *testing.T) {
	h, c := home(t, "data:\n  here: {path: patients.csv}\n  gone: {path: absent.csv}\n")
	h.put(t, "patients.csv", "age,ill\n1,0\n")
	h.put(t, "scans#2.npz", "")
	file := h.path("patients.csv")
	for name, path := range map[string]string{"two": file + " + " + file, "part": "patients.csv#x", "sign": "scans#2.npz#x", "bare": "absent", "bundled": "bundled:digits", "half": file + " + /absent.csv"} {
		c.Data[name] = Source{Path: path}
	}
	var want []string
	for _, one := range [][2]string{{"bare", h.path("absent")}, {"bundled", h.path("bundled:digits")}, {"gone", h.path("absent.csv")}, {"half", file + " + /absent.csv"}} {
		want = append(want, fmt.Sprintf("no job can read %s, because there is no file %s", one[0], one[1]))
	}
	if got := c.MissingFiles(h); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Columns may swap their names, and one may keep its name.
func TestLabelOfRenamedColumns(t *testing.T) {
	for _, columns := range []string{"{x: {as: y}, y: {as: x}}", "{y: {as: y}}", "{y: {unit: kg}}"} {
		home(t, "data:\n  p: {path: a.csv, label: y, columns: "+columns+"}\n")
	}
}

// A policy with the keys of the last version applies as it did, and its operator is warned of each
// key. A policy that has them beside the section limits is refused.
func TestEarlierKeysOfAPolicy(t *testing.T) {
	h, c := home(t, `policy: {protocols: [moments], max_ids: 7, max_ids_total: 8, max_directions: 64, max_directions_total: 90}
data:
  all: {path: patients.csv, label: none}
  own: {path: patients.csv, label: none, policy: {protocols: [okra], floors: {rows: 8, share: 0.4}}}
`)
	for table, want := range map[string]string{"all": "7 8 64 90 100 0.5", "own": "0 0 0 0 8 0.4"} {
		p, err := c.policy(h, table)
		if err != nil {
			t.Fatal(err)
		}
		l, v := p.Limits, p.Limits.Values()
		if got := fmt.Sprint(l.MaxIDs, l.MaxIDsTotal, l.MaxDirections, l.MaxDirectionsTotal, v.Rows, v.Share); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	warned := strings.Join(c.Warnings(), "\n")
	for _, want := range []string{
		`max_ids in the policy now belongs to the section "limits"`, "max_ids_total in the", "max_directions in the", "max_directions_total in the",
		`data own: the policy's section "floors" is now called "limits"; rename the section`,
	} {
		if !strings.Contains(warned, want) {
			t.Errorf("the warnings lack %q:\n%s", want, warned)
		}
	}
	for _, both := range []string{"{floors: {rows: 8}, limits: {rows: 8}}", "{max_ids: 7, limits: {rows: 8}}"} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("name: north\npolicy: "+both+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(all.Reader(), path); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "the policy has the section \"limits\" and also a key of an earlier version") {
			t.Errorf("%s: %v", both, err)
		}
	}
}

// Saved labels read back unchanged.
func TestSavedLabels(t *testing.T) {
	for _, labels := range []Labels{{}, {Columns: []string{"y"}}, {Columns: []string{"y", "z"}}, {Columns: []string{job.NoLabel}}, {[]string{"y", "z"}, []string{"y", "z"}}} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		c := &Config{Name: "north", Data: map[string]Source{"p": {Path: "a.csv", Label: labels}}}
		if err := c.save(path, roster.Party); err != nil {
			t.Fatal(err)
		}
		again, err := loadConfig(all.Reader(), path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(labels, again.Data["p"].Label); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// An operator who takes the example of a fresh home as it is has allowed nothing.
func TestExampleAllowsNothing(t *testing.T) {
	_, text, _ := strings.Cut(string(example), "# data:\n")
	h, c := home(t, "data:\n"+strings.ReplaceAll(text[len("# "):], "\n# ", "\n"))
	p, err := c.policy(h, "patients")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all.Reader().Known().Protocols {
		j := &job.Job{Protocol: jobtest.Protocol(t, name)}
		if err := p.Check(j, 100); fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(c.Warnings()) != 1 {
		t.Errorf("%q", c.Warnings())
	}
	fresh := filepath.Join(t.TempDir(), "config.yaml")
	if err := (&Config{Name: "north"}).save(fresh, roster.Party); err != nil {
		t.Fatal(err)
	}
	if c, err := loadConfig(all.Reader(), fresh); err != nil || c.Data != nil || c.Name != "north" {
		t.Errorf("%+v, %v", c, err)
	}
}
