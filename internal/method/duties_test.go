package method_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
)

type (
	none    = methodtest.None
	binding = method.Binding[none, none, none]
	step    = method.StepOf[none, none, none]
)

// A binding that has left a duty out stops the program at its start, and the message names the duty.
func TestABindingWithoutADuty(t *testing.T) {
	for want, leave := range map[string]func(*binding){
		"binding  lacks Name":                         func(b *binding) { b.Name = "" },
		"binding bare lacks Keys":                     func(b *binding) { b.Keys = nil },
		"binding bare lacks Steps":                    func(b *binding) { b.Steps = nil },
		"binding bare lacks NewParty or NewServer":    func(b *binding) { b.NewParty = nil },
		"lacks NewParty or NewServer":                 func(b *binding) { b.NewServer = nil },
		"binding bare lacks Public or PublicServer":   func(b *binding) { b.Public = nil },
		"lacks Public or PublicServer":                func(b *binding) { b.PublicServer = nil },
		"lacks Facts (method.NoFacts says":            func(b *binding) { b.Facts = nil },
		"lacks Minimums (method.NoMinimums says":      func(b *binding) { b.Minimums = nil },
		"binding bare lacks Result":                   func(b *binding) { b.Result = nil },
		"lacks Ended (method.IgnoresEnds says":        func(b *binding) { b.Ended = nil },
		"binding bare lacks Model.Write":              func(b *binding) { b.Model = &method.ModelOf[none]{} },
		"binding bare lacks a function of Later":      func(b *binding) { b.Later = &method.LaterOf[none, none]{} },
		"binding bare lacks a function of Questions":  func(b *binding) { b.Questions = &method.QuestionsOf[none, none]{} },
		"binding bare lacks a function of Devices":    func(b *binding) { b.Devices = &method.DevicesOf[none, none]{} },
		"binding bare lacks a function of Questions ": nil, // the half of a pair, below
	} {
		b := methodtest.Bare("bare")
		if leave == nil {
			b.Questions = &method.QuestionsOf[none, none]{
				Keep:       func(*none, method.Closing) (method.RetainedState, error) { return method.RetainedState{}, nil },
				KeepServer: func(*none, method.Closing) (method.RetainedState, error) { return method.RetainedState{}, nil },
				OpenParty:  func(method.RetainedState, *job.Reader) (method.Erasable, error) { return nil, nil },
				Left:       func([]byte) bool { return false },
			}
		} else {
			leave(&b)
		}
		if got := stopped(func() { method.New(b) }); !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := stopped(func() { method.New(methodtest.Bare("bare")) }); got != "" {
		t.Errorf("a whole binding: %s", got)
	}
}

// stopped returns the value with which a program panics.
func stopped(do func()) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint(r)
		}
	}()
	do()
	return ""
}

// A plan with a step that has left a duty out is no plan, for the coordinator and for every party.
func TestAStepWithoutADuty(t *testing.T) {
	c := method.Instance{Job: new(job.Job), Coordinator: "hub", Parties: []string{"north", "south"}}
	among := func(members []protocol.Member) *method.Session {
		return &method.Session{Protocol: "declare", Members: members}
	}
	machine := func(*none, method.Setup) (*method.Run, error) { return nil, nil }
	whole := step{Name: "tell", Session: among(c.AllMembers()), Party: machine, Server: machine, Releases: method.ReleasesNothing[none]}
	for want, leave := range map[string]func(*step){
		`step "" has no name`: func(s *step) { s.Name = "" },
		`step "tell" must be either a session or a computation`:                func(s *step) { s.Session = nil },
		`step "tell" must be either a session or a computation `:               func(s *step) { s.Compute = func(*none, context.Context, method.Reporter) error { return nil } },
		`step "tell" has no Party`:                                             func(s *step) { s.Party = nil },
		`step "tell" has no Releases; write method.ReleasesNothing`:            func(s *step) { s.Releases = nil },
		"only if the coordinator is a member; member: true, Server set: false": func(s *step) { s.Server = nil },
		"only if the coordinator is a member; member: false, Server set: true": func(s *step) { s.Session = among(c.DataParties()) },
		"party south is in no session of the plan": func(s *step) {
			s.Session = among(append(protocol.Members(protocol.RoleServer, "hub"), protocol.Members(protocol.RoleParty, "north")...))
		},
		"": func(*step) {},
	} {
		b := methodtest.Bare("bare")
		one := whole
		leave(&one)
		b.Steps = func(method.Instance) ([]step, error) { return []step{one}, nil }
		_, err := method.New(b).Plan(c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want))) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
