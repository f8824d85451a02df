package all_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/all"
)

// Learner cca learns from encoded rows, which okra and flake bring, and from pooled ones. A sum of Gram
// matrices has no rows to divide into views.
func TestProtocolsOfTwoViews(t *testing.T) {
	for protocol, by := range map[string]string{"okra": "rows", "flake": "rows", "pooled": "rows", "gram": "columns"} {
		_, err := all.Reader().Parse("views.yaml", fmt.Appendf(nil, `apiVersion: mercer/v1
kind: Job
metadata: {name: views}
spec:
  data: {source: own, partition: {by: %s, parties: [a, b]}}
  protocol: {name: %s}
  kernel: {name: linear}
  learner: {name: cca, view: [age]}
`, by, protocol))
		if refused := err != nil && strings.Contains(err.Error(), "cca"); refused != (protocol == "gram") || err != nil && !refused {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}
