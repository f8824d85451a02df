package traffic

import (
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func random() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// calibrated checks that a chance is exact, or errs on the safe side.
func calibrated(t *testing.T, name string, draw func(r *rand.Rand) Statistic) {
	t.Helper()
	const draws = 3000
	r := random()
	var twentieth, hundredth int
	for range draws {
		chance := draw(r).Chance
		if chance < .05 {
			twentieth++
		}
		if chance < .01 {
			hundredth++
		}
	}
	// 150 and 30 are expected at most, with deviations of 12 and 5.5.
	if twentieth > 200 || hundredth > 52 || twentieth < 30 {
		t.Errorf("%s: of %d draws with nothing to find %d have a chance below 1/20, %d below 1/100", name, draws, twentieth, hundredth)
	}
}

func TestNothingToFind(t *testing.T) {
	calibrated(t, "Uniform", func(r *rand.Rand) Statistic {
		times := make([]float64, 100)
		for i := range times {
			times[i] = r.Float64()
		}
		return Uniform(times)
	})
	calibrated(t, "Runs", func(r *rand.Rand) Statistic { return Runs(shuffled(r, 40, 10)) })
	calibrated(t, "Independent", func(r *rand.Rand) Statistic { return Independent(scattered(r, 20, 6, 1200)) })
	if s := Runs([]int{1, 2, 3, 4}); !s.Suspicious() {
		t.Errorf("from requests of nobody twice %v was concluded", s)
	}
}

// shuffled returns each of the senders the given number of times, in random order.
func shuffled(r *rand.Rand, senders, each int) []int {
	list := make([]int, senders*each)
	for i, at := range r.Perm(len(list)) {
		list[at] = i % senders
	}
	return list
}

func scattered(r *rand.Rand, rows, cols, n int) [][]int {
	table := make([][]int, rows)
	for i := range table {
		table[i] = make([]int, cols)
	}
	for range n {
		table[r.IntN(rows)][r.IntN(cols)]++
	}
	return table
}

// What is planted is found.
func TestFinds(t *testing.T) {
	r := random()
	early := make([]float64, 1000) // a tenth of the packages at once, as participation was sent as published
	for i := range early {
		if i >= 100 {
			early[i] = r.Float64()
		}
	}
	if s := Uniform(early); !s.Suspicious() {
		t.Errorf("early arrivals: %+v", s)
	}
	pairs := shuffled(r, 40, 10) // one sender in five sends two after each other
	for i := 0; i+1 < len(pairs); i += 10 {
		at := i + 2 + slices.Index(pairs[i+2:], pairs[i])
		if at > i+1 {
			pairs[i+1], pairs[at] = pairs[at], pairs[i+1]
		}
	}
	if s := Runs(pairs); !s.Suspicious() {
		t.Errorf("neighbours: %+v", s)
	}
	table := scattered(r, 20, 6, 1200)
	for i := range table { // each row has a favourite
		table[i][i%6] += 10
	}
	if s := Independent(table); !s.Suspicious() {
		t.Errorf("favourites: %+v", s)
	}
	messages := make([][]byte, 50)
	for i := range messages {
		messages[i] = binary.BigEndian.AppendUint64([]byte("head"), r.Uint64())
		messages[i] = binary.BigEndian.AppendUint64(messages[i], r.Uint64())
	}
	if got := Prefix(messages); got != 4 {
		t.Errorf("a head of %d bytes", got)
	}
	if b := Repeated(messages, 4); b != nil {
		t.Errorf("%x is in no two messages", b)
	}
	copy(messages[30][9:], messages[7][6:14])
	if b := Repeated(messages, 4); string(b) != string(messages[7][6:14]) {
		t.Errorf("%x, where %x was planted", b, messages[7][6:14])
	}
}

// The mean that [Runs] compares with equals the mean over all orders of a series.
func TestRunsOfAllOrders(t *testing.T) {
	series := []int{0, 0, 0, 1, 1, 2, 2}
	var sum, orders float64
	var visit func(k int)
	visit = func(k int) {
		if k == len(series) {
			sum, orders = sum+Runs(series).Value, orders+1
			return
		}
		for i := k; i < len(series); i++ {
			series[k], series[i] = series[i], series[k]
			visit(k + 1)
			series[k], series[i] = series[i], series[k]
		}
	}
	visit(0)
	if mean := sum / orders; math.Abs(mean-1) > 1e-9 {
		t.Errorf("over %.0f orders the mean is %g", orders, mean)
	}
}

// A tap changes nothing and notes everything.
func TestTap(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(append(b, '!'))
	}))
	defer server.Close()
	tap := NewTap(func() (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck
	go tap.Serve(l)
	for _, say := range []string{"one", "two"} {
		r, err := http.Post("http://"+l.Addr().String(), "text/plain", strings.NewReader(say))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		if err != nil || string(b) != say+"!" {
			t.Errorf("%q, %v", b, err)
		}
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	seen, err := tap.Seen()
	if err != nil || len(seen) != 2 {
		t.Fatal(seen, err)
	}
	for i, say := range []string{"one", "two"} {
		e := seen[i]
		if string(e.Request.Body) != say || string(e.Answer.Body) != say+"!" || e.Connection != 1 ||
			!strings.HasPrefix(e.Request.Head, "POST / HTTP/1.1\r\n") || !strings.HasSuffix(e.Request.Head, "\r\n\r\n") {
			t.Errorf("%+v", e)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
