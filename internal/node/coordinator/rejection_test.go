package coordinator

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// A rejection by a party's operator is a part of the job's status, with the party that sent it, and of the file that
// a restarted coordinator reads. Another refusal is none.
func TestRejectionIsKept(t *testing.T) {
	for _, c := range []struct {
		refusal error
		want    *Rejection
	}{
		{control.Rejected("no ethics vote"), &Rejection{Party: "east", Reason: "no ethics vote"}},
		{fault.Forbiddenf("kernel rbf is not allowed"), nil},
	} {
		f, err := control.DecodeRefusal(control.Refuse(c.refusal).Encode())
		if err != nil {
			t.Fatal(err)
		}
		err = fmt.Errorf("stage count: %w", refusedBy("east", f))
		j := Job{Status: Status{State: overview.Failed, Failure: failure(err), Rejection: rejection(err)}}
		file, err := json.Marshal(j.Status)
		if err == nil {
			j.Status = Status{}
			err = json.Unmarshal(file, &j.Status)
		}
		if err != nil || !reflect.DeepEqual(j.Rejection, c.want) {
			t.Errorf("%v: %+v, %v", c.refusal, j.Rejection, err)
		}
		if said := "east refused: " + f.Sentence(); j.Failure.Code != fault.CodePolicy || j.Failure.Message != "stage count: "+said || j.Failure.Told != said {
			t.Errorf("%v: %+v", c.refusal, j.Failure)
		}
	}
}
