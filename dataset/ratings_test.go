package dataset

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readText(t *testing.T, text string) *Ratings {
	t.Helper()
	r, err := ReadRatings(strings.NewReader(text), RatingsOptions{Name: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadRatings(t *testing.T) {
	want := &Ratings{
		Name: "r", Users: []string{"2", "10"}, Items: []string{"5", "7"}, Timed: true,
		List: []Rating{{1, 0, 3, 100}, {0, 1, 4.5, 90}, {1, 1, -1, 110}},
	}
	for name, text := range map[string]string{
		"tabs":         "10\t5\t3\t100\n2\t7\t4.5\t90\n10\t7\t-1\t110\n",
		"commas":       "10,5,3,100\n2,7,4.5,90\n10,7,-1,110",
		"double colon": "10::5::3::100\n2::7::4.5::90\n10::7::-1::110\n",
		"header":       "userId,movieId,rating,timestamp\r\n10,5,3,100\r\n2,7,4.5,90\r\n10,7,-1,110\r\n",
	} {
		if d := cmp.Diff(want, readText(t, text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	words := readText(t, "bob::tea::1\nann::10::2\nbob::9::3\n")
	if d := cmp.Diff(&Ratings{Name: "r", Users: []string{"ann", "bob"}, Items: []string{"10", "9", "tea"}, List: []Rating{{1, 2, 1, 0}, {0, 0, 2, 0}, {1, 1, 3, 0}}}, words); d != "" {
		t.Error(d)
	}
}

func TestReadRatingsRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":          {"", "r: the text has no ratings; give lines of user, item, rating and, if known, time"},
		"only a header":  {"user,item,rating\n", "r: the text has no ratings; give lines of user, item, rating and, if known, time"},
		"no separator":   {"1 2 3\n", `r:1: there is no separator in "1 2 3"; separate user, item, rating and time by tabs, commas or ::`},
		"two fields":     {"1,2\n", "r:1: the line has 2 fields; a rating is user, item, rating and, if known, time"},
		"other fields":   {"1,2,3\n1,3,3,4\n", "r:2: the line has 4 fields, but the lines before have 3; give every line the same number of fields"},
		"empty line":     {"1,2,3\n\n", "r:2: the line has 1 field, but the lines before have 3; give every line the same number of fields"},
		"no user":        {",2,3\n", `r:1: the user is ""; write a name without blanks around it`},
		"blank":          {"1, 2,3\n", `r:1: the item is " 2"; write a name without blanks around it`},
		"no number":      {"1,2,good\n", `r:1: the rating "good" is not a number; write a number`},
		"not finite":     {"1,2,NaN\n", `r:1: the rating "NaN" is not a finite number; write a number`},
		"time":           {"1,2,3,1e9\n", `r:1: the time "1e9" is not a whole number; write seconds since 1970`},
		"twice":          {"1,2,3\n1,3,3\n1,2,4\n", `r:3: user "1" has rated item "2" already, in line 1; keep one of the two ratings`},
		"a late header":  {"1,2,3\nuser,item,rating\n", `r:2: the rating "rating" is not a number; write a number`},
		"too long":       {"1,2,3\n1," + strings.Repeat("x", longestRating) + ",3\n", "r:2: the line is longer than 4096 bytes, its end included; a rating has three or four short fields"},
		"a zip":          {"PK\x03\x04", "r: the file is a zip archive or a spreadsheet, not text; unpack it or export it as CSV"},
		"another hidden": {"1\t2\t3\n1,2\t2\t3,4\n1\t\x002\t3\n", "r:3: the file is not text, since it contains a zero byte; export the table as CSV in UTF-8, or give the file the suffix of its format"},
	} {
		_, err := ReadRatings(strings.NewReader(tt.text), RatingsOptions{Name: "r"})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", name, err, tt.want)
		}
	}
	bounds := defaultLimits()
	bounds.cells = 8
	if _, err := readRatings(strings.NewReader("1,1,1\n1,2,1\n1,3,1\n"), RatingsOptions{}, bounds); err == nil || !strings.Contains(err.Error(), "input:3: the text has more than 2 ratings") {
		t.Error(err)
	}
}

func TestRatingsWithin(t *testing.T) {
	r := readText(t, "bob,tea,1\nann,10,2\nbob,9,3\n")
	got, err := r.Within([]string{"tea", "milk", "9", "10"})
	want := &Ratings{Name: "r", Users: []string{"ann", "bob"}, Items: []string{"tea", "milk", "9", "10"}, List: []Rating{{1, 0, 1, 0}, {0, 3, 2, 0}, {1, 2, 3, 0}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if d := cmp.Diff([]string{"10", "9", "tea"}, r.Items); d != "" {
		t.Error(d)
	}
	if _, err := r.Within([]string{"tea", "9"}); err == nil || err.Error() != `dataset: r: user "ann" rates item "10", which is not among the 2 given items` {
		t.Error(err)
	}
}

func TestRatingSplits(t *testing.T) {
	r := readText(t, "a,1,5,9\nb,1,2,1\na,2,1,8\na,3,4,7\nb,2,5,2\na,4,5,2\n")
	for name, tt := range map[string]split{
		"every":           call(r.EveryPerUser(2)),
		"newest per user": call(r.NewestPerUser(.5)),
		"newest":          call(r.Newest(.5)),
	} {
		want := map[string][]int{"every": {2, 4, 5}, "newest per user": {0, 2, 4}, "newest": {0, 2, 3}}[name]
		if tt.err != nil || cmp.Diff(want, tt.test) != "" || len(tt.train)+len(tt.test) != len(r.List) {
			t.Errorf("%s: %v and %v, %v; want %v held out", name, tt.train, tt.test, tt.err, want)
		}
		seen := make(map[int]bool)
		for _, i := range append(tt.train, tt.test...) {
			seen[i] = true
		}
		if len(seen) != len(r.List) {
			t.Errorf("%s: %v and %v are no split", name, tt.train, tt.test)
		}
	}
	if d := cmp.Diff([][]int{{0, 2, 3}, {1}}, r.Liked(4).Profiles([]int{3, 2, 1, 0})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b"}, r.Liked(9).Users); d != "" {
		t.Error(d)
	}
	if one := r.First(1); len(one.Users) != 1 || len(one.List) != 4 || len(one.Items) != 4 {
		t.Errorf("%+v", one)
	}
	untimed := readText(t, "1,1,1\n1,2,1\n")
	if _, _, err := untimed.Newest(.5); err == nil {
		t.Error("ratings without times are split by time")
	}
	if _, _, err := r.Newest(1); err == nil {
		t.Error("everything is held out")
	}
	if _, _, err := r.EveryPerUser(1); err == nil {
		t.Error("everything is held out")
	}
}

type split struct {
	train, test []int
	err         error
}

func call(train, test []int, err error) split { return split{train, test, err} }

func FuzzReadRatings(f *testing.F) {
	for _, text := range []string{"1\t2\t3\t4\n", "user,item,rating\n1,2,3\n", "1::2::3\n", "1,2,3\n1,2,3\n", ",,\n", "\xef\xbb\xbf1,2,3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRatings(strings.NewReader(text), RatingsOptions{})
		var syntax *SyntaxError
		if err != nil {
			if !errors.As(err, &syntax) {
				t.Fatalf("%v is no *SyntaxError", err)
			}
			return
		}
		seen := make(map[[2]int]bool)
		for _, x := range r.List {
			if x.User >= len(r.Users) || x.Item >= len(r.Items) || seen[[2]int{x.User, x.Item}] {
				t.Fatalf("%+v of %d users and %d items", x, len(r.Users), len(r.Items))
			}
			seen[[2]int{x.User, x.Item}] = true
		}
	})
}
