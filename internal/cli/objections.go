package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
)

// objections counts the parties with default policies that would object to a deployed job.
type objections struct {
	parties  int         // 0 if the number is unknown, as for devices
	refuse   int         // parties that would refuse the job
	further  []objection // objections to the demonstration's further jobs
	withhold int         // parties that would withhold the figures over their own rows
}

// objection counts the parties that would do what verb says, such as "refuse this job".
type objection struct {
	count int
	verb  string
}

// object adds the objections of parties with default policies to the outcome. Such a party refuses
// the job, or withholds its own figures.
func (o *outcome) object(refused, withheld []partition.Refusal, parties int) {
	o.Refused, o.Withheld = partition.Lines(refused), partition.Lines(withheld)
	o.objections = objections{parties: parties, refuse: partition.Refusing(refused, parties), withhold: partition.Refusing(withheld, parties)}
}

// warning returns one line that counts the objections, or "" if there are none or the number of parties is unknown.
func (n objections) warning() string {
	var list []string
	all := append([]objection{{n.refuse, "refuse this job"}}, n.further...)
	for _, one := range append(all, objection{n.withhold, "withhold the figures over their own rows"}) {
		if one.count > 0 {
			list = append(list, fmt.Sprintf("%d would %s", one.count, one.verb))
		}
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		count, verb, _ := strings.Cut(list[0], " ")
		return fmt.Sprintf("%s of %d parties with default policies %s", count, n.parties, verb)
	}
	last := len(list) - 1
	return fmt.Sprintf("of %d parties with default policies %s and %s", n.parties, strings.Join(list[:last], ", "), list[last])
}

// outlook counts in one line the parties with default policies that would object. It returns no line
// if the number of parties is unknown.
func (n objections) outlook() []string {
	if n.parties == 0 {
		return nil
	}
	line := n.warning()
	if line == "" {
		line = fmt.Sprintf("0 of %d parties with default policies would refuse this job", n.parties)
	}
	return []string{"refusals: none in this run; deployed, " + line + ": each party decides by its own policy and its ledger of earlier releases"}
}

// warnOfObjections adds one notice about the objections. With --explain it adds each of them.
func (a *app) warnOfObjections(r *method.Result, n objections) {
	if len(r.Refused)+len(r.Withheld) == 0 {
		return
	}
	line := n.warning()
	if line == "" { // warning counts nothing if the number of parties is unknown
		line = "a party with the default policy would refuse this job"
	}
	line = "notice: this run went on; deployed, " + line
	if !a.explain {
		a.notices.add(line + " (--explain says why)")
		return
	}
	a.notices.add(line)
	for _, why := range r.Refused {
		a.notices.add("notice: deployed, a party would refuse this job: " + why)
	}
	for _, why := range r.Withheld {
		a.notices.add("notice: deployed, a party would withhold its own figures: " + why)
	}
}

// detailFlags adds the flags that choose how much a command prints about a result.
func (a *app) detailFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&a.verbose, "verbose", false, "also print the details that the report has: figures of each class, costs, what each role learns, and every notice")
}

// explainFlag adds the flag --explain, with which a command lists the parties' objections.
func (a *app) explainFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&a.explain, "explain", false, "list what parties with default policies would refuse or withhold in a deployment, and the keys of a policy that allow it")
}
