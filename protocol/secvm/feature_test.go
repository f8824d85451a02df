package secvm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func columns(t *testing.T, n int) secvm.Params {
	t.Helper()
	return params(t, func(s *secvm.Spec) { s.Bins, s.Columns = n, true })
}

// Every column has its own bin. Names that are no columns are ignored by Vector and refused
// by CheckNames.
func TestColumnsAreTheirOwnBins(t *testing.T) {
	p := columns(t, 12)
	if got, want := p.Vector([]string{"12", "3", "1", "3", "3"}), (secvm.Vector{{0, 1}, {2, 3}, {11, 1}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, bad := range []string{"13", "0", "-1", "+1", "01", " 1", "1.0", "ball", ""} {
		if v := p.Vector([]string{bad, "2"}); !slices.Equal(v, secvm.Vector{{1, 1}}) {
			t.Errorf("%q counts: %v", bad, v)
		}
		if err := p.CheckNames([]string{"2", bad}); err == nil || !strings.Contains(err.Error(), "numbers, 1 to 12") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := p.CheckNames([]string{"1", "12"}); err != nil {
		t.Error(err)
	}
	hashed := params(t, nil)
	if err := hashed.CheckNames([]string{"ball", ""}); err != nil {
		t.Errorf("a hash has a bin for every name: %v", err)
	}
}

// Parameters with columns survive encoding, and differ from a model with as many bins.
func TestParamsOfColumns(t *testing.T) {
	p := columns(t, 16)
	q, err := secvm.DecodeParams(p.Encode())
	if err != nil || q != p || !q.Spec().Columns || q.Tag() == params(t, nil).Tag() {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := secvm.NewParams(secvm.Spec{Name: "a", Bins: 5, Hashes: 1, Columns: true, Packages: 9, Cohort: 2}); err == nil || !strings.Contains(err.Error(), "not hashed") {
		t.Errorf("hashes of columns: %v", err)
	}
}

// Devices limit columns as they limit bins.
func TestLimitsOfColumns(t *testing.T) {
	limits := secvm.Limits{Cohort: 2, Paper: true}.OrDefaults()
	if err := limits.Check(columns(t, 1<<16)); err != nil {
		t.Error(err)
	}
	if err := limits.Check(columns(t, 1<<16+1)); err == nil || !strings.Contains(err.Error(), "65537 columns") {
		t.Error(err)
	}
}
