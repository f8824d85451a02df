package catalogue

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Shards in one folder, and files joined by a plus sign, are one table.
func TestBlocksOfShards(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"b.csv": "y,b,a,id\nill,4,3,p3\n", "a.csv": "id,a,b,y\np1,1,2,well\np2,5,6,ill\n", "c.txt": "1 1:2\n", "other.csv": "a,c,y\n1,2,ill\n", "plain.csv": "a,b,y\n1,2,ill\n", "bad.csv": "id,a,b,y\np4,1,x,ill\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) string {
		for i, name := range names {
			names[i] = filepath.Join(folder, name)
		}
		return strings.Join(names, " + ")
	}
	read := func(ref string, c Columns) (string, error) {
		b, err := New("").Blocks(ref, c, 1)
		if err != nil {
			return "", err
		}
		var all []string
		for {
			s, err := b.Next()
			if errors.Is(err, io.EOF) {
				return strings.Join(all, " "), nil
			}
			if err != nil {
				return "", errors.Join(err, b.Close())
			}
			all = append(all, fmt.Sprint(s.IDs, s.Columns, s.X.Row(0, nil), s.Labels))
		}
	}
	const want = "[p1] [a b] [1 2] [well] [p2] [a b] [5 6] [ill] [p3] [a b] [3 4] [ill]"
	for _, ref := range []string{at("a.csv", "b.csv"), at("[ab].csv")} {
		if got, err := read(ref, Columns{Label: "y", ID: "id"}); got != want || err != nil {
			t.Errorf("%s: %s, %v", ref, got, err)
		}
	}
	for ref, said := range map[string]string{
		at("a.csv", "other.csv"): "only one of them has labels, or ids", at("nothing*.csv"): "matches no file", at("[.csv"): "is not a pattern",
		at("a.csv", "bad.csv"): `bad.csv:2: column "b" holds "x"`, at("a.csv", "c.txt"): "a table in this format cannot be read in blocks", at("none.csv"): "is not a file",
	} {
		if got, err := read(ref, Columns{Label: "y"}); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %s, %v", ref, got, err)
		}
	}
	if _, err := read(at("plain.csv", "other.csv"), Columns{Label: "y"}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("other columns: %v", err)
	}
}
