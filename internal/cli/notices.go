package cli

import (
	"fmt"
	"slices"
	"sync"
)

// notices collects what a command has to say beside its result. The user reads it after the result,
// or after the error that ended the command. It is safe for concurrent use.
type notices struct {
	mu   sync.Mutex
	list noticeList
}

// noticeList holds notices in the order in which they are printed.
type noticeList struct {
	warnings []string
	// ofParties are the messages that each simulated party would show to its own operator only. The
	// user reads them because a simulation's user owns the tables of all parties.
	ofParties []string
}

// noticed is a Result that prints notices in its own text.
type noticed interface {
	Result
	with(list noticeList) Result
}

// add adds a notice, whose text says whether it is a warning. It adds a text only once, because several runs of a job
// give the same notices.
func (n *notices) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.list.warnings, line) {
		n.list.warnings = append(n.list.warnings, line)
	}
}

// ofParty adds the notices to one party's operator.
func (n *notices) ofParty(party string, lines []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, line := range lines {
		text := fmt.Sprintf("notice to %s's operator alone: %s", party, line)
		if i, found := slices.BinarySearch(n.list.ofParties, text); !found {
			n.list.ofParties = slices.Insert(n.list.ofParties, i, text) // parties run at the same time, in no fixed order
		}
	}
}

// take returns the notices and forgets them.
func (n *notices) take() noticeList {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = noticeList{}
	return list
}

// told writes all notices to stderr: those of a command that failed, or whose result shows none, as
// with --json.
func (n *notices) told(a *app) {
	for _, line := range n.take().all() {
		a.tell(line)
	}
}

// mostOfParties is the largest number of notices to parties' operators that a short result quotes. More of them would
// bury the result, because a job by sums has one for nearly every party.
const mostOfParties = 2

// all returns every notice.
func (l noticeList) all() []string { return slices.Concat(l.warnings, l.ofParties) }

// brief returns the notices as a short result prints them: those to parties' operators are counted
// if they are many.
func (l noticeList) brief() []string {
	if n := len(l.ofParties); n > mostOfParties {
		l.ofParties = []string{fmt.Sprintf("%d notices to parties' operators (--verbose)", n)}
	}
	return l.all()
}

// with returns the outcome with the notices.
func (o outcome) with(list noticeList) Result {
	o.notices = list
	return o
}

// with returns the demonstration's result with the notices.
func (c devicesDemo) with(list noticeList) Result {
	c.notices = list
	return c
}

// printNotices prints the warnings of the result, the notices of the command and the outlook on the parties'
// objections, as one block after the result.
func (o outcome) printNotices(p *printer) {
	list := o.notices
	warnings := make([]string, len(o.Warnings))
	for i, line := range o.Warnings {
		warnings[i] = "warning: " + line
	}
	list.warnings = slices.Concat(warnings, list.warnings)
	if o.objections.warning() == "" { // else a notice has it
		list.warnings = append(list.warnings, o.objections.outlook()...)
	}
	lines := list.brief()
	if o.verbose {
		lines = list.all()
	}
	if len(lines) > 0 {
		p.linef("")
	}
	for _, line := range lines {
		p.linef("%s", paragraph(line))
	}
}
