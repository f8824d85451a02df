package job

import (
	"strings"
	"testing"
)

func TestDataKey(t *testing.T) {
	for file, want := range map[string]bool{
		"spec: {data: {source: a, test: none}}": true, "spec: {data: {source: a, test: {every: 2}}}": true,
		"spec: {data: {source: test}}": false, "spec: {test: none}": false, "": false, "[": false,
	} {
		if got := DataKey([]byte(file), "test"); got != want {
			t.Errorf("%q has a test: %v, want %v", file, got, want)
		}
	}
}

func TestDataLine(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: shop.csv}
spec:
  protocol: {name: label}
  data:
    sources: {bank: bank.csv,
      shop: shop.csv}
    label: default
    partition:
      by: columns
      columns: {shop: [visits, spent]}
  learner: {name: svc}
`
	for path, want := range map[string]int{
		"sources": 7, "sources/bank": 7, "sources/shop": 8, "partition/columns/shop": 12, "folds": 0, "label/shop": 0, "sources/west": 0,
	} {
		if got := DataKeyLine([]byte(file), strings.Split(path, "/")...); got != want {
			t.Errorf("key %s stands in line %d, want %d", path, got, want)
		}
	}
	for text, want := range map[string]int{
		"bank.csv": 7, "shop.csv": 8, "default": 9, "spent": 12, // values
		"label": 0, "shop": 0, "columns": 11, // keys, and what stands outside
		"svc": 0, "": 0,
	} {
		if got := DataLine([]byte(file), text); got != want {
			t.Errorf("%q stands in line %d, want %d", text, got, want)
		}
	}
	for _, other := range []string{"", "[", "a", "spec: 1", "spec: {data: [x]}", "spec: {data: }"} {
		if got := DataLine([]byte(other), "data"); got != 0 {
			t.Errorf("%q has a line %d", other, got)
		}
		if got := DataKeyLine([]byte(other), "data"); got != 0 {
			t.Errorf("%q has a line %d of a key", other, got)
		}
	}
}
