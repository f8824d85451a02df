package devices

import (
	"context"
	"testing"
)

// A third question of a device ends its oldest: a device that comes back after it was killed is
// not kept out by connections of its earlier process. Other devices' questions stay.
func TestPollsOfADeviceAreFew(t *testing.T) {
	d := &desks{}
	var polls []context.Context
	var ends []func()
	ask := func(name string) (*poll, bool) {
		ctx, p, ok := d.poll(t.Context(), name)
		if ok {
			polls, ends = append(polls, ctx), append(ends, func() { d.end(name, p) })
		}
		return p, ok
	}
	for _, name := range []string{"device-1", "device-2", "device-1", "device-1"} {
		if _, ok := ask(name); !ok {
			t.Fatalf("%s has no place", name)
		}
	}
	for i, over := range []bool{true, false, false, false} {
		if got := polls[i].Err() != nil; got != over {
			t.Errorf("poll %d is over: %v", i+1, got)
		}
	}
	for _, end := range ends {
		end()
	}
	if len(d.of) != 0 {
		t.Errorf("%d desks are kept of devices that have nothing under way", len(d.of))
	}
}

// An answer keeps the place of its question until it has been read: a device that reads none has
// two, and a question that gave way to a later one has none.
func TestAnswersKeepTheirPlace(t *testing.T) {
	d := &desks{}
	var asked []*poll
	for range 3 {
		_, p, ok := d.poll(t.Context(), "device-1")
		if !ok {
			t.Fatal("a question does not give way")
		}
		asked = append(asked, p)
	}
	for i, want := range []bool{false, true, true} {
		if got := d.mayAnswer("device-1", asked[i]); got != want {
			t.Errorf("question %d may be answered: %v", i+1, got)
		}
	}
	if _, _, ok := d.poll(t.Context(), "device-1"); ok {
		t.Error("a third question beside two answers")
	}
	if _, _, ok := d.poll(t.Context(), "device-2"); !ok {
		t.Error("another device has no place")
	}
	d.end("device-1", asked[0]) // has none
	d.end("device-1", asked[1])
	if _, _, ok := d.poll(t.Context(), "device-1"); !ok {
		t.Error("no place after an answer was read")
	}
}

// A device has one place for a message. All together have room for some; those that were late
// share a part of it that is their own, and those that were late often have room for one.
func TestPlacesForMessages(t *testing.T) {
	d := &desks{}
	first, ok := d.post("device-0", maxPostBytes)
	if _, again := d.post("device-0", 1); !ok || again {
		t.Fatalf("first %v, second %v", ok, again)
	}
	first(true)
	fill := func(from int) (places int, done []func(bool)) {
		for i := range 100 {
			if free, ok := d.post(Name(from+i), maxPostBytes); ok {
				places, done = places+1, append(done, free)
			}
		}
		return places, done
	}
	prompt, done := fill(1000)
	if prompt != 48 {
		t.Errorf("%d devices send at a time, want 48", prompt)
	}
	if free, ok := d.post("device-0", maxPostBytes); !ok {
		t.Error("a device that was late has no place of its kind")
	} else {
		free(false)
	}
	for _, free := range done { // all of them are too slow
		free(true)
	}
	late, _ := fill(1000)
	if late != 15+48 { // 48 of the hundred have never had a place before
		t.Errorf("%d devices send at a time, want 15 that were late and 48 others", late)
	}
	if _, ok := d.post(Name(1001), 1); ok {
		t.Error("a device that was late has a place of the others")
	}
	d = &desks{}
	for i := range 10 {
		for range maxTimes + 1 {
			free, ok := d.post(Name(i), 1)
			if !ok {
				t.Fatalf("%s has no place while nobody else has one", Name(i))
			}
			free(true)
		}
	}
	if often, _ := fill(0); often != 1+48 {
		t.Errorf("%d devices send at a time, want one that was late often and 48 others", often)
	}
}
