package method

import (
	"encoding/json"
	"reflect"
	"testing"
)

// own represents the details that only one method's results have.
type own struct {
	Rounds int   `json:"rounds"`
	Kept   []int `json:"items_kept,omitempty"`
}

func TestDetailsStandBesideTheCommonKeys(t *testing.T) {
	for name, details := range map[string]any{"own": &own{Rounds: 3, Kept: []int{1, 2}}, "empty": &struct{}{}, "none": nil} {
		written, err := json.Marshal(&Result{Job: "j", HeldOut: 7, Details: details})
		if err != nil {
			t.Fatal(err)
		}
		var read Result
		if err := json.Unmarshal(written, &read); err != nil {
			t.Fatalf("%s: %v in %s", name, err, written)
		}
		again, err := json.Marshal(&read)
		if err != nil || read.Job != "j" || read.HeldOut != 7 {
			t.Fatalf("%s: %+v, %v", name, read, err)
		}
		var one, other map[string]any
		if json.Unmarshal(written, &one) != nil || json.Unmarshal(again, &other) != nil || !reflect.DeepEqual(one, other) {
			t.Errorf("%s: wrote %s, and then %s", name, written, again)
		}
		got, err := DetailsOf[own](&read)
		if want, _ := details.(*own); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
	}
}

func TestDetailsThatAreNoObject(t *testing.T) {
	if b, err := json.Marshal(&Result{Details: []int{1}}); err == nil {
		t.Errorf("a list as details is written: %s", b)
	}
	if _, err := DetailsOf[own](&Result{Details: 3}); err == nil {
		t.Error("a number is taken for a method's details")
	}
}
