package partition

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
)

// idAdvice compares the ids of parties that hold different columns. If steps of normalisation, such as lower
// case, would make more ids common, it returns a sentence with the keys to write; otherwise "". It also returns
// the number of ids that are common now.
func idAdvice(j *job.Job, shares []Share) (advice string, common int) {
	if j.Data.Partition.By != job.Columns || j.Data.Sources == nil || j.Data.Partition.Aligned {
		return "", 0
	}
	var tables [][]string
	var sizes, keys []string
	for _, s := range shares {
		tables = append(tables, s.Table.Set.IDs)
		sizes = append(sizes, fmt.Sprintf("%s (%s)", s.Party, humanize.Count(len(s.Table.Set.IDs), "id")))
	}
	common, alike, steps := prepare.CommonIDs(tables)
	if steps == nil {
		return "", common
	}
	for _, s := range j.Data.Sources {
		keys = append(keys, s.Party+": "+ruleText(ownRule(j, s).WithSteps(steps)))
	}
	had := fmt.Sprintf("only %d ids are", common)
	switch common {
	case 0:
		had = "no id is"
	case 1:
		had = "only 1 id is"
	}
	return fmt.Sprintf("%s common to %s; %d would be if %s did not count; write in the job file, under sources, %s (in a deployment, in each party's catalogue)",
		had, strings.Join(sizes, ", "), alike, described(steps), strings.Join(keys, ", and ")), common
}

// Explain adds to the error of a run the advice to make more ids common, if there is any.
func Explain(j *job.Job, shares []Share, err error) error {
	if advice, _ := idAdvice(j, shares); advice != "" {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	return err
}

// described says in words which differences between ids the steps remove.
func described(steps []string) string {
	words := map[string]string{"trim": "blanks around them", "lower": "case", "nfc": "the Unicode form"}
	list := make([]string, len(steps))
	for i, s := range steps {
		list[i] = words[s]
	}
	return strings.Join(list, " and ")
}

// ownRule returns the rule that makes the ids of a source, by the names of the source's own columns.
func ownRule(j *job.Job, s job.Source) prepare.IDRule {
	if !s.ID.IsZero() {
		return s.ID.IDRule
	}
	return prepare.IDRule{Columns: []string{s.Mapping.OwnName(j.Data.ID)}}
}

// ruleText writes a rule as the key "id" of a source.
func ruleText(r prepare.IDRule) string {
	columns := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		columns[i] = dataset.Quote(c)
	}
	return fmt.Sprintf("id: {columns: [%s], normalize: [%s]}", strings.Join(columns, ", "), strings.Join(r.Normalize, ", "))
}
