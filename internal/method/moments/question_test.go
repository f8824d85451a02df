package moments

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// suspect is a person of whom the server knows the row, and guesses the label.
type suspect struct {
	row  []float64
	code int
}

// questionAbout is a solution that nothing was learnt for: with a narrow kernel it
// gives the suspects' rows the classes that are guessed, and all others the last class,
// which no row has. Rows that are decided rightly are suspects'.
func questionAbout(t *testing.T, f *federated, list ...suspect) *fitted {
	t.Helper()
	j, m := f.Server.Job, f.Server.features()
	features, err := directions(j, f.Server.session, m, 64)
	if err != nil {
		t.Fatal(err)
	}
	classes := len(job.As[*Keys](j.Protocol).Classes)
	s := moments.Solution{Weights: linalg.New[float64](classes, m), Offset: make([]float64, classes)}
	for c := range classes - 1 {
		s.Offset[c] = -0.5
	}
	x, phi := linalg.New[float64](1, 64), linalg.New[float64](1, m)
	for _, one := range list {
		copy(x.Data, one.row)
		features.Rows(phi, x)
		for k, v := range phi.Data {
			s.Weights.Row(one.code)[k] += v * 2 / float64(m)
		}
	}
	return &fitted{solution: s}
}

// runWithQuestion runs a whole job in which the server sends a forged solution.
func (f *federated) runWithQuestion(t *testing.T, about []suspect) {
	t.Helper()
	for i, st := range f.Plan {
		f.Step(t, i)
		if st.Name == "learn" {
			f.Server.fitted = questionAbout(t, f, about...)
			f.Server.body = f.Server.fitted.encode()
		}
	}
}

// answer returns the sum of the parties' measurements that such a job opens.
func (f *federated) answer(t *testing.T, about ...suspect) (sum int64) {
	t.Helper()
	j, body := f.Server.Job, questionAbout(t, f, about...).encode()
	for _, p := range f.Parties {
		q, err := decodeFitted(j, f.Server.features(), body)
		if err != nil {
			t.Fatal(err)
		}
		e, err := errorsOf(j, p.features, q, func(use panel) error { return p.Each(true, use) })
		if err != nil {
			t.Fatal(err)
		}
		sum += e.rounded(objectiveOf(j))[0]
	}
	return sum
}

// asked groups people whom a question is about, and two whom a party holds out, which the server knows.
type asked struct {
	who    string
	list   []suspect
	public []suspect
	in     bool
	others []suspect // who are known where somebody of the list is one of those
}

// The strongest server sends a forged solution, and needs neither a party's help nor another job.
// Parties count in fives, so a test of one person reveals nothing, and a test of several nearly how
// many. But two people that a party is known to hold out make the difference: with them, one job
// reveals whether a person whom the server knows is among that party's held-out rows with the label
// that it guesses. Nothing prevents it; TestAttackBoundaryOfRounding has a server that knows
// nobody. A job gives one such answer, because parties accept one solution and add one number for
// it.
func TestAttackQuestionAboutHeldOutRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	j := attackJob(t, "{fraction: 0.3}")
	j.Kernel.Gamma = 0.02 // pixels from 0 to 16: rows are like nothing but themselves
	tables := make(map[string]method.Table)
	for i, name := range j.Parties() {
		tables[name] = method.Table{Set: set.Subset(every(i*500, (i+1)*500)), Key: dataset.SplitKey{byte(i + 1)}}
	}
	suspects := func(s *dataset.Set, rows []int, wrong int) (list []suspect) {
		for _, i := range rows {
			code := slices.Index(job.As[*Keys](j.Protocol).Classes, s.Labels[i])
			list = append(list, suspect{s.X.Row(i, nil), (code + wrong) % 10})
		}
		return list
	}

	f := federate(t, j, tables)
	var members, outsiders []suspect
	var questions []asked
	held := 0
	for i, name := range j.Parties() {
		split := f.Parties[name].Split
		members = suspects(split.Set, split.Rows(true), 0)
		public, others := members[:2], members[2:4]
		held += len(members)
		questions = append(questions,
			asked{"held out", members, public, true, others},
			asked{"held out, another label", suspects(split.Set, split.Rows(true), 1+i), public, false, others},
			asked{"in training", suspects(split.Set, split.Rows(false), 0), public, false, others})
		if i == 0 {
			questions = append(questions, asked{"outside", suspects(set, every(1500, set.X.Rows()), 0), public, false, others})
			outsiders = slices.Concat(members[:7], questions[3].list[:13])
		}
	}
	f.runWithQuestion(t, outsiders)
	count := float64(f.Server.figures[0]) / moments.Thousand
	if f.Server.heldOut != int64(held) || len(f.Server.figures) != 1 || count != moments.Five {
		t.Errorf("of 20 people 7 are held out, the server reads %v of %d rows", f.Server.figures, f.Server.heldOut)
	}

	right, number, alone := 0, 0, 0
	for _, of := range questions {
		told := 0
		const every = 3
		for i := 0; i < len(of.list); i += every {
			public := of.public
			if i < len(public) {
				public = of.others
			}
			number++
			if f.answer(t, append(slices.Clone(public), of.list[i])...) > 0 == of.in {
				told++
			}
			if f.answer(t, of.list[i]) > 0 {
				alone++
			}
		}
		right += told
		t.Logf("%s: %d of %d are told rightly", of.who, told, (len(of.list)+every-1)/every)
	}
	t.Logf("%d held-out rows at three parties: %d of %d answers are right, and %d are given without two known people", held, right, number, alone)
	if alone > 0 {
		t.Errorf("%d people are told by a question about them alone", alone)
	}
	if float64(right) < 0.99*float64(number) {
		t.Errorf("%d of %d answers are right, want the attack to work: nothing prevents it", right, number)
	}
}

// A server that wants more answers submits more jobs, each with another fraction to
// hold out, so that the rows are never quite the same. Rows that one fraction trains
// with all smaller ones do too, and have been in twenty sums at most: the ledger holds the
// next job, and with it the next question, until the operator approves of it. It holds more than
// these, since few people of some class are in one of two fractions alone.
func TestAttackManyQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ledger, asked := disclosure.Ledger(t.TempDir()), 0
	for n := range 40 {
		j := attackJob(t, fmt.Sprintf("{fraction: %.2f}", 0.05*float64(1+n%10)))
		list, err := partyOf(t, j, "north", dealAll(t, j, "digits")["north"]).release()
		if err != nil {
			t.Fatal(err)
		}
		r := list[0]
		r.Model = fmt.Sprint("job ", n)
		id, err := ledger.Admit(disclosure.Asker{}, r, 0)
		var held *disclosure.HeldError
		if errors.As(err, &held) {
			continue
		}
		if err == nil {
			asked, err = asked+1, ledger.Release(r.Kind, id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if asked < 1 || asked > 10 {
		t.Errorf("%d of 40 jobs over one table give an answer, want 10 at most", asked)
	}
}
