package model_test

import (
	"testing"

	"github.com/mercer-fl/mercer/model"
)

func TestIsPart(t *testing.T) {
	for head, want := range map[string]bool{
		"\x0e\x00mercer/v1/gram and the rest": true, "\x11\x00mercer/v1/fd-svrg and the rest": true, "\x15\x00mercer/v1/secureboost": true,
		"\x0e\x00mercer/v1/gra": false, "\x0e\x00mercer/v1/grim and the rest": false, "MERCER\x00M": false, "": false,
	} {
		if model.IsPart([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}
