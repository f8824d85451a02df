package release

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Reveals says in words what a party's release and an earlier one tell together
// that neither tells alone; nothing if they have no row in common, are of two
// kinds, or are the same.
func (r Release) Reveals(earlier Release) []string {
	came, went := r.rowsBeside(earlier)
	if r.Kind != earlier.Kind || came == len(r.Rows) {
		return nil
	}
	said := r.revealsPeers(earlier)
	if r.Kind != IDs {
		said = append(said, r.revealsColumns(earlier, came+went == 0)...)
		if r.Scale != earlier.Scale {
			said = append(said, fmt.Sprintf("columns are scaled by %s and were by %s: both %s together can tell ranges that one does not", r.Scale, earlier.Scale, r.both()))
		}
	}
	if came+went > 0 && !r.sameModel(earlier) {
		said = append(said, r.revealsRows(came, went))
	}
	return said
}

// sameModel says that both are rows of one model's kernel, of which a question
// about some of them again tells nothing new.
func (r Release) sameModel(earlier Release) bool {
	return r.Kind != IDs && r.Model != "" && r.Model == earlier.Model
}

// rowsBeside counts the rows that are new, and those that are gone.
func (r Release) rowsBeside(earlier Release) (came, went int) {
	old := earlier.Rows
	for _, row := range r.Rows {
		for len(old) > 0 && bytes.Compare(old[0][:], row[:]) < 0 {
			old, went = old[1:], went+1
		}
		if len(old) > 0 && old[0] == row {
			old = old[1:]
		} else {
			came++
		}
	}
	return came, went + len(old)
}

func (r Release) revealsRows(came, went int) string {
	if r.Kind == IDs {
		return fmt.Sprintf("%d ids are in this set and were not, %d were and are not: who compares both intersections learns which of its people came or went", came, went)
	}
	return fmt.Sprintf("%d rows are in this job and were not, %d were and are not: who compares both %s learns which rows are the same people's, and who came or went", came, went, r.both())
}

func (r Release) revealsPeers(earlier Release) []string {
	var said []string
	what := fmt.Sprintf("the difference of the two %s is the %s of their columns alone", r.both(), r.what())
	if r.Kind == IDs {
		what = "both intersections together tell whom they have and others have not"
	}
	if list := without(r.Peers, earlier.Peers); len(list) > 0 {
		said = append(said, fmt.Sprintf("peers that did not take part then: %s; %s", strings.Join(list, ", "), what))
	}
	if list := without(earlier.Peers, r.Peers); len(list) > 0 {
		said = append(said, fmt.Sprintf("peers that took part then and do not now: %s; %s", strings.Join(list, ", "), what))
	}
	return said
}

// revealsColumns compares values only over the same rows: over others they have
// other digests anyway.
func (r Release) revealsColumns(earlier Release, sameRows bool) []string {
	now, then := names(r.Columns), names(earlier.Columns)
	var said []string
	if list := without(now, then); len(list) > 0 {
		said = append(said, r.difference(list, "in this job and not in the earlier one"))
	}
	if list := without(then, now); len(list) > 0 {
		said = append(said, r.difference(list, "in the earlier job and not in this one"))
	}
	if !sameRows {
		return said
	}
	content := make(map[string][sha256.Size]byte)
	for _, c := range earlier.Columns {
		content[c.Name] = c.Content
	}
	var changed []string
	for _, c := range r.Columns {
		if old, there := content[c.Name]; there && old != c.Content {
			changed = append(changed, c.Name)
		}
	}
	if len(changed) > 0 {
		said = append(said, fmt.Sprintf("%s, with other values than in the earlier job: the difference of the two %s tells what has changed", columns(changed), r.both()))
	}
	return said
}

// what is let out of columns.
func (r Release) what() string {
	if r.Kind == Phases {
		return "set of distances"
	}
	return "Gram matrix"
}

// both is what two releases of columns have let out.
func (r Release) both() string {
	if r.Kind == Phases {
		return "sets of distances"
	}
	return "matrices"
}

// difference says what columns that are in one of two jobs give away.
func (r Release) difference(list []string, where string) string {
	if len(list) == 1 {
		return fmt.Sprintf("%s, %s: the difference of the two %s gives that column up to its sign", columns(list), where, r.both())
	}
	return fmt.Sprintf("%s, %s: the difference of the two %s is the %s of these columns alone", columns(list), where, r.both(), r.what())
}

// maxListed is how many columns a sentence names.
const maxListed = 8

func columns(list []string) string {
	if len(list) == 1 {
		return fmt.Sprintf("column %q", list[0])
	}
	quoted := make([]string, 0, maxListed)
	for _, name := range list[:min(maxListed, len(list))] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(list) - maxListed; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("columns %s", strings.Join(quoted, ", "))
}

func names(list []Column) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.Name
	}
	return out
}

// without returns those of a that are not in b, which is ascending.
func without(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if _, in := slices.BinarySearch(b, s); !in {
			rest = append(rest, s)
		}
	}
	return rest
}
