package overview

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// A member's time is that of its connection, or of its loss. A connection that was renewed between two looks
// counts as new.
func TestAttendance(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	a := NewAttendance(Member{Name: "north", Since: at(0)}, Member{Name: "east", Since: at(0)})
	for i, step := range []struct {
		open  []Connection
		want  []Member // that have changed
		north Member
	}{
		{nil, nil, Member{Name: "north", Since: at(0)}},
		{[]Connection{{"north", at(5), "v1"}}, []Member{{Name: "north", Connected: true, Since: at(5), Version: "v1"}}, Member{Name: "north", Connected: true, Since: at(5), Version: "v1"}},
		{[]Connection{{"north", at(5), "v1"}}, nil, Member{Name: "north", Connected: true, Since: at(5), Version: "v1"}},
		{[]Connection{{"north", at(7), "v2"}}, []Member{{Name: "north", Connected: true, Since: at(7), Version: "v2"}}, Member{Name: "north", Connected: true, Since: at(7), Version: "v2"}},
		{[]Connection{{"stranger", at(8), ""}}, []Member{{Name: "north", Since: at(14), Version: "v2"}}, Member{Name: "north", Since: at(14), Version: "v2"}},
	} {
		got := a.Update(step.open, at(10+i))
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d: changed %+v, want %+v", i, got, step.want)
		}
		all := a.Members()
		if all[0] != step.north || all[1].Connected || len(all) != 2 {
			t.Errorf("step %d: %+v", i, all)
		}
	}
}

// A coordinator is ready as long as its broker accepts, a party as long as it is connected.
func TestReady(t *testing.T) {
	boss := Overview{Name: "boss", Role: roster.Coordinator, Members: []Member{{Name: "north"}}}
	if err := boss.Ready(); err == nil || !strings.Contains(err.Error(), "the broker of boss accepts no connection") {
		t.Errorf("without a broker: %v", err)
	}
	boss.Broker = &Broker{Accepts: true}
	if err := boss.Ready(); err != nil {
		t.Errorf("a coordinator whose party is away: %v", err)
	}
	north := Overview{Name: "north", Role: roster.Party, Members: []Member{{Name: "boss"}}}
	if err := north.Ready(); err == nil || !strings.Contains(err.Error(), "north has no connection to boss since") {
		t.Errorf("a party without a connection: %v", err)
	}
	north.Members[0].Connected = true
	if err := north.Ready(); err != nil {
		t.Error(err)
	}
}

// Each state of a job belongs to one role.
func TestStates(t *testing.T) {
	for _, s := range States(roster.Coordinator) {
		if slices.Contains(States(roster.Party), s) {
			t.Errorf("%s is a state at both roles", s)
		}
	}
	if Running.Over() || Closing.Over() || Open.Over() || !Done.Over() || !Failed.Over() || !Retained.Over() {
		t.Error("a state is over, or not, wrongly")
	}
}

// A stage waits for each of its parties. A sentence names what waits, and for whom.
func TestAwaiting(t *testing.T) {
	jobs := []Job{{ID: "1", Name: "a", Stage: "protocol", Waiting: &Waiting{Parties: []string{"east", "south"}}}, {ID: "2", Name: "b"}}
	o := Overview{Jobs: jobs, Awaiting: Waits(jobs)}
	if len(o.Awaiting) != 1 || o.Awaited("east") != 1 || o.Awaited("north") != 0 {
		t.Errorf("%+v", o.Awaiting)
	}
	for want, a := range map[string]Awaiting{
		"stage protocol of job a (1) waits for east, south":                        o.Awaiting[0],
		"stage s of job a (1) waits for south, and for the approval of east, west": {Job: "1", Name: "a", Stage: "s", Members: []string{"east", "south", "west"}, Undecided: []string{"east", "west"}},
		"stage s of job a (1) waits for the approval of east":                      {Job: "1", Name: "a", Stage: "s", Members: []string{"east"}, Undecided: []string{"east"}},
		"job a (1) waits for the approval of east":                                 {Job: "1", Name: "a", Members: []string{"east"}},
		"release r of job a waits for east":                                        {Name: "a", Release: "r", Members: []string{"east"}},
	} {
		if got := a.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What an overview says of members and jobs, and what an event says, has no number that a row could have
// reached: neither a count of rows nor a value. Texts of failures, which may have such numbers, have no field.
func TestNoNumbersOfRows(t *testing.T) {
	texts := map[string]bool{
		"ID": true, "Name": true, "State": true, "Stage": true, "Parties": true, "Role": true, "Version": true,
		"Job": true, "Kind": true, "Member": true, "Members": true, "Undecided": true, "Blamed": true, "Release": true,
		"Machine": true, "Subject": true, // of a person
	}
	numbers := map[string]bool{"UID": true} // a system's number of a user
	var check func(of reflect.Type)
	check = func(of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			kind := f.Type
			for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			switch {
			case kind == reflect.TypeFor[time.Time](), kind == reflect.TypeFor[fault.Code](), kind.Kind() == reflect.Bool:
			case kind.Kind() == reflect.Struct:
				check(kind)
			case kind.Kind() == reflect.String && texts[f.Name], numbers[f.Name]:
			default:
				t.Errorf("%s.%s is a %s; say here why it never has a number of rows", of, f.Name, f.Type)
			}
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Member](), reflect.TypeFor[Job](), reflect.TypeFor[Awaiting](), reflect.TypeFor[Event]()} {
		check(of)
	}
}
