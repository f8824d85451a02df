package forecast_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/forecast"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// text returns a job of three parties with the given lines of data, protocol, learner and what follows.
func text(data, protocol, learner, more string) string {
	return fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: planned}
spec:
  data: {source: patients, label: outcome%s}
  protocol: {%s}
  kernel: {name: rbf, gamma: 0.1}
  learner: {%s}
%s`, data, protocol, learner, more)
}

const (
	byRows    = `, partition: {parties: [north, south, east]}, test: {fraction: 0.25}`
	byColumns = `, id: id, partition: {by: columns, parties: [north, south, east]}, test: {fraction: 0.25}`
)

// plan plans a job over tables of the given rows and columns, on a machine on which each operation
// takes a nanosecond.
func plan(t *testing.T, j *job.Job, rows, columns int, l job.Link) (*forecast.Plan, error) {
	t.Helper()
	sizes, err := forecast.Counts{Rows: map[string]int{"": rows}, Columns: map[string]int{"": columns}}.Sizes(j)
	if err != nil {
		t.Fatal(err)
	}
	return forecast.Of(j, sizes, forecast.Setting{Machine: even(), Program: 1 << 20, Link: l})
}

// even returns a machine on which each operation takes a nanosecond.
func even() forecast.Machine {
	var m forecast.Machine
	for i := range reflect.ValueOf(&m).Elem().NumField() {
		reflect.ValueOf(&m).Elem().Field(i).SetFloat(1e-9)
	}
	return m
}

// Each step of the planned protocols has a formula, whichever of its settings a job has.
func TestEveryStepHasACost(t *testing.T) {
	for name, file := range map[string]string{
		"okra":                 text(byRows+", scale: standard", "name: okra", "name: svc", ""),
		"okra, haar, numbers":  text(byRows, "name: okra, encoder: haar, wire: float64", "name: gp, noise: 0.1", "  prediction: open\n"),
		"okra, hbh, no labels": strings.Replace(text(byRows, "name: okra, encoder: hbh", "name: kmeans, n_clusters: 3", ""), "label: outcome", "label: none", 1),
		"okra, groups":         text(`, group: site, folds: 3, partition: {parties: [north, south]}`, "name: okra", "name: svc, C: [1, 10]", ""),
		"okra, weights":        text(`, weight: w`+byRows, "name: okra", "name: svr", ""),
		"flake":                text(byRows, "name: flake", "name: svc", ""),
		"moments":              text(byRows+", scale: minmax", `name: moments, classes: ["0", "1"]`, "name: ridge-classifier, alpha: [0.1, 1]", ""),
		"moments, numbers":     text(byRows, "name: moments, targets: [0, 10]", "name: ridge, alpha: 1", ""),
		"gram":                 text(byColumns, "name: gram", "name: svc", ""),
		"gram, open":           text(byColumns, "name: gram", "name: ridge, alpha: 1", "  prediction: open\n"),
		"gram, aligned":        text(strings.Replace(byColumns, "east]", "east], aligned: true", 1), "name: gram", "name: svc", ""),
		"fdskl":                text(byColumns, "name: fdskl, directions: 64", "name: logistic", ""),
		"fdskl, numbers":       text(byColumns, "name: fdskl, directions: 64", "name: squared", ""),
		"fdskl, paper":         text(byColumns, "name: fdskl, mode: paper, bits: 32", "name: logistic", ""),
	} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, file)
			p, err := plan(t, j, 4000, 12, job.Link{})
			if err != nil {
				t.Fatal(err)
			}
			agrees(t, j, p)
		})
	}
}

// agrees checks that a plan has every step, and sums that agree with each other.
func agrees(t *testing.T, j *job.Job, p *forecast.Plan) {
	t.Helper()
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := m.Plan(method.Instance{Job: j, Coordinator: forecast.Coordinator, Parties: j.Parties()})
	if err != nil || len(steps) != len(p.Steps) {
		t.Fatalf("the job has %d steps and its plan %d, %v", len(steps), len(p.Steps), err)
	}
	bytes, rounds, sent, received := int64(0), 0, int64(0), int64(0)
	for i, s := range p.Steps {
		bytes, rounds = bytes+s.Bytes, rounds+s.Rounds
		if s.Name != steps[i].Name || (s.Protocol == "") != (steps[i].Session == nil) || s.Protocol != "" && s.Messages == 0 {
			t.Errorf("step %d is %+v, want %s", i, s, steps[i].Name)
		}
	}
	for _, one := range p.Members {
		sent, received = sent+one.Sent, received+one.Received
		if one.OnWire <= one.Sent+one.Received || one.Memory <= 1<<20 && one.Name != forecast.Coordinator || !(one.Seconds > 0) || one.Rounds == 0 {
			t.Errorf("%+v", one)
		}
	}
	if sent != received || sent != bytes || rounds != p.Rounds {
		t.Errorf("%d bytes are sent, %d received, %d in the steps; %d rounds of %d", sent, received, bytes, rounds, p.Rounds)
	}
}

// A protocol without formulas is refused by its name, as the user's mistake.
func TestProtocolsWithoutFormulas(t *testing.T) {
	planned := map[string]bool{"okra": true, "flake": true, "moments": true, "sealed": true, "gram": true, "fdskl": true}
	for _, p := range all.Reader().Protocols {
		if planned[p.Name()] {
			continue
		}
		j := &job.Job{Protocol: jobtest.Protocol(t, p.Name()), Data: job.Data{Partition: job.Partition{Parties: []string{"north", "south"}}}}
		_, err := forecast.Of(j, method.Sizes{}, forecast.Setting{})
		if err == nil || fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "protocol "+p.Name()+" has no formula for its costs") {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}

// Rows add bytes and memory in proportion, and a line adds the time of the busier direction of the
// slowest member and of every round.
func TestMoreRowsAndSlowLines(t *testing.T) {
	j := jobtest.Parse(t, text(byRows, "name: okra", "name: svc", ""))
	of := func(rows int, l job.Link) *forecast.Plan {
		p, err := plan(t, j, rows, 1000, l)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, two := of(20000, job.Link{}), of(40000, job.Link{})
	if ratio := float64(two.Members[1].Sent) / float64(one.Members[1].Sent); math.Abs(ratio-2) > .01 {
		t.Errorf("twice the rows are %.3f times the bytes", ratio)
	}
	slow := of(20000, job.Link{Rate: 1e6, Latency: time.Second})
	least := float64(one.Members[0].Received)/1e6 + float64(one.Rounds)
	if more := slow.Seconds - one.Seconds; more < least || more > 1.1*least {
		t.Errorf("the lines add %.2f s, want %.2f s", more, least)
	}
}

// Numbers as labels take the label holder of fdskl as long as two classes, however many are distinct.
func TestNumbersAreOneOutput(t *testing.T) {
	of := func(learner string) *forecast.Plan {
		p, err := plan(t, jobtest.Parse(t, text(byColumns, "name: fdskl, directions: 64", learner, "")), 4000, 12, job.Link{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	numbers, classes := of("name: squared").Members[1].Seconds, of("name: logistic").Members[1].Seconds
	if numbers > 1.01*classes {
		t.Errorf("the label holder takes %g s for numbers, %g s for two classes", numbers, classes)
	}
}

// Stated tables that are too large for the formulas are refused; the largest ones have costs above 0.
func TestLargeTables(t *testing.T) {
	j := jobtest.Parse(t, text(byRows, "name: okra", "name: svr", ""))
	if _, err := (forecast.Counts{Rows: map[string]int{"": 40_000_000}, Columns: map[string]int{"": 1}}).Sizes(j); err == nil || fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("120,000,000 rows: %v", err)
	}
	p, err := plan(t, j, 33_000_000, 100, job.Link{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Members {
		if m.Memory <= 0 || m.OnWire <= 0 || m.Seconds <= 0 {
			t.Errorf("%+v", m)
		}
	}
}

// Measure gives every operation a time that some machine could have.
func TestMeasure(t *testing.T) {
	m, err := forecast.Measure()
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if s := v.Field(i).Float(); v.Type().Field(i).Name != "Session" && !(s > 1e-13 && s < 1e-1) {
			t.Errorf("%s: %g s", v.Type().Field(i).Name, s)
		}
	}
}
