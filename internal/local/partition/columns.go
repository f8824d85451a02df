package partition

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// shareColumns returns the shares of parties that hold different columns. A party has its own
// source, or some columns of one table. Each party gets the share of rows that the job sets.
func shareColumns(j *job.Job, load Loader) ([]Share, error) {
	sets, err := columnSets(j, load)
	if err != nil {
		return nil, err
	}
	shares := make([]Share, len(sets))
	for i, own := range sets {
		if share := j.Data.Partition.Coverage; share > 0 {
			rows, err := dataset.Cover(own.X.Rows(), share, i, j.Seed)
			if err != nil {
				return nil, err
			}
			own = own.Subset(rows)
		}
		shares[i] = Share{j.Parties()[i], method.Table{Set: own, IDRule: ruleOf(j, i)}}
	}
	return shares, nil
}

// ruleOf returns the rule by which a party makes its ids, as its catalogue would give it. It is "" if
// all parties have columns of one table.
func ruleOf(j *job.Job, party int) string {
	if j.Data.Sources == nil {
		return ""
	}
	s := j.Data.Sources[party]
	return s.ID.Canonical(s.Mapping.Columns)
}

// columnSets returns each party's columns, with all rows.
func columnSets(j *job.Job, load Loader) ([]*dataset.Set, error) {
	if j.Data.Sources == nil {
		return divideColumns(j, load)
	}
	var sets []*dataset.Set
	for _, s := range j.Data.Sources {
		d := j.Data.Own(s.Party)
		if !j.Labels(s.Party) {
			d.Label = job.NoLabel
		}
		set, err := load(s, d)
		if err == nil {
			set, err = columns.Chosen(j, s.Party, set)
		}
		if err != nil {
			return nil, withParty(s.Party, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// divideColumns divides the columns of one table among the parties. A party gets neighbouring
// columns, or the columns that the job names for it. Rows without ids are numbered from 1.
func divideColumns(j *job.Job, load Loader) ([]*dataset.Set, error) {
	set, err := load(job.Source{File: j.Data.Source}, j.Data.Shared())
	if err != nil {
		return nil, err
	}
	if set, err = method.TakeLabels(j, set); err != nil {
		return nil, err
	}
	numbered := *set
	if set.IDs == nil {
		numbered.IDs = ordinals(set.X.Rows())
	}
	sets, err := cutColumns(j, &numbered)
	if err != nil {
		return nil, err
	}
	for i := range sets {
		if !j.Labels(j.Parties()[i]) {
			sets[i].Labels = nil
		}
	}
	if j.Data.Spread {
		spreadLabels(j, sets)
	}
	return sets, nil
}

// spreadLabels divides the labels among the active parties. The job's seed decides which party gets
// a row's label, and each party gets its configured share of the labels.
func spreadLabels(j *job.Job, sets []*dataset.Set) {
	order := prg.New(splitKey(j, j.Parties()[0]), "partition/labels").Perm(len(sets[0].Labels))
	from, sum := 0, 0.0
	for i, share := range labelShares(j) {
		sum += share
		to := int(math.Round(sum * float64(len(order))))
		own := make([]string, len(order))
		for _, row := range order[from:to] {
			own[row] = sets[i].Labels[row]
		}
		sets[i].Labels, from = own, to
	}
}

// labelShares returns the fraction of the labels for each active party, in the parties' order.
func labelShares(j *job.Job) []float64 {
	active := j.Active()
	shares := make([]float64, len(active))
	for i, name := range active {
		shares[i] = 1 / float64(len(active))
		for _, s := range j.Data.Partition.Labels {
			if s.Party == name {
				shares[i] = s.Share
			}
		}
	}
	return shares
}

// cutColumns gives each party its columns of the table.
func cutColumns(j *job.Job, set *dataset.Set) ([]*dataset.Set, error) {
	parties := j.Parties()
	if j.Columns(parties[0]) != nil {
		return cutByName(j, set)
	}
	columns, err := dataset.ByColumns(set.X.Cols(), len(parties))
	if err != nil {
		return nil, err
	}
	sets := make([]*dataset.Set, len(columns))
	for i, cols := range columns {
		sets[i] = set.SelectColumns(cols)
	}
	return sets, nil
}

// cutByName gives each party the columns that the job names for it.
func cutByName(j *job.Job, set *dataset.Set) (sets []*dataset.Set, err error) {
	owner := make(map[string]string)
	if i := slices.IndexFunc(j.Parties(), func(name string) bool { return j.Columns(name) == nil }); i >= 0 {
		return nil, fmt.Errorf("the job's partition names columns of %s for some parties, and none for %s; to divide one table, name the columns of all parties or of none", set.Name, j.Parties()[i])
	}
	for _, name := range j.Parties() {
		for _, c := range j.Columns(name) {
			if other, taken := owner[c]; taken {
				return nil, fmt.Errorf("the job's partition gives column %q of %s to %s and to %s; a column must have one holder", c, set.Name, other, name)
			}
			owner[c] = name
		}
		own, err := columns.Chosen(j, name, set)
		if err != nil {
			return nil, err
		}
		sets = append(sets, own)
	}
	return sets, nil
}

// ordinals returns the numbers 1 to n as texts. All texts share one string, because the garbage
// collector would check each separate string in every cycle.
func ordinals(n int) []string {
	var text []byte
	ends := make([]int, n)
	for i := range n {
		text = strconv.AppendInt(text, int64(i+1), 10)
		ends[i] = len(text)
	}
	list, all, begin := make([]string, n), string(text), 0
	for i, end := range ends {
		list[i], begin = all[begin:end], end
	}
	return list
}

// InOrder returns each party's columns of the aligned rows, in the order of ids. It prepares the
// columns as the party itself would.
func InOrder(j *job.Job, shares []Share, ids []string, training int) ([]method.Split, error) {
	test := make([]bool, len(ids))
	for i := training; i < len(test); i++ {
		test[i] = true
	}
	splits := make([]method.Split, len(shares))
	for k, s := range shares {
		at := make(map[string]int, len(ids))
		for i, id := range s.Table.Set.IDs {
			at[id] = i
		}
		rows := make([]int, len(ids))
		for i, id := range ids {
			row, known := at[id]
			if !known {
				return nil, fmt.Errorf("partition: %s has no row with id %q, but the job uses this row", s.Party, id)
			}
			rows[i] = row
		}
		splits[k] = method.Split{Set: s.Table.Set.Subset(rows), Test: test}
		if !j.Data.Prepares() {
			continue
		}
		var err error
		if splits[k], _, err = columns.PrepareAlone(j, splits[k]); err != nil {
			return nil, err
		}
	}
	return splits, nil
}
