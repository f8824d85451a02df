package secagg

import (
	"fmt"
	"math"
	"testing"
)

// The table of k/t for sigma = 40 and eta = 20 at 10^2 to 10^6 clients, and for
// eta = 30; computed independently with scipy's hypergeometric distribution.
func TestDegreeTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct {
		adversary          Adversary
		corrupted, dropped float64
		eta                float64
		want               []string
	}{
		{SemiHonest, .05, .05, 20, []string{"12/6", "30/17", "34/20", "36/21", "38/22"}},
		{SemiHonest, .05, .10, 20, []string{"16/6", "36/19", "42/22", "46/23", "50/25"}},
		{SemiHonest, .10, .10, 20, []string{"22/11", "48/27", "54/31", "58/33", "64/36"}},
		{SemiHonest, .05, .33, 20, []string{"28/6", "72/24", "86/29", "96/32", "102/34"}},
		{SemiHonest, .10, .30, 20, []string{"34/11", "88/36", "108/44", "122/49", "130/52"}},
		{SemiHonest, .20, .20, 20, []string{"40/21", "98/54", "122/67", "134/73", "144/78"}},
		{SemiHonest, .33, .33, 20, []string{"68/34", "286/150", "422/221", "480/251", "518/270"}},
		{Active, .05, .05, 20, []string{"16/11", "52/37", "62/44", "68/48", "74/52"}},
		{Active, .05, .10, 20, []string{"26/16", "78/52", "96/64", "106/70", "114/75"}},
		{Active, .10, .10, 20, []string{"32/22", "96/67", "122/85", "134/93", "146/101"}},
		{Active, .05, .33, 20, []string{"72/39", "398/223", "746/420", "882/496", "970/545"}},
		{Active, .10, .30, 20, []string{"72/42", "414/247", "778/465", "926/553", "1016/606"}},
		{Active, .20, .20, 20, []string{"62/42", "302/206", "482/328", "552/375", "600/407"}},
		{SemiHonest, .05, .05, 30, []string{"12/6", "34/18", "38/21", "40/22", "44/24"}},
		{SemiHonest, .10, .10, 30, []string{"22/11", "52/28", "60/32", "66/35", "70/37"}},
		{SemiHonest, .05, .33, 30, []string{"30/6", "84/26", "102/32", "110/34", "116/36"}},
		{SemiHonest, .20, .20, 30, []string{"42/21", "112/59", "136/71", "150/78", "160/83"}},
		// The pairs of Google's own test.
		{SemiHonest, .45, .45, 20, []string{"92/46", "822/417"}},
		{SemiHonest, .33, .05, 20, []string{"34/29", "78/60", "92/70", "102/77", "110/83"}},
		{Active, .33, .05, 20, []string{"42/37", "132/109", "178/146", "196/160"}},
		{Active, .30, .30, 20, []string{"92/62", "872/584", "4822/3230", "9388/6286", "11136/7454"}},
	} {
		n := 10
		for _, want := range tt.want {
			n *= 10
			c := Cohort{Clients: n, Corrupted: tt.corrupted, Dropped: tt.dropped, Adversary: tt.adversary, Eta: tt.eta}
			d, err := c.Degree()
			if got := fmt.Sprintf("%d/%d", d.Holders, d.Threshold); err != nil || got != want {
				t.Errorf("%s, %d clients, %v corrupted, %v dropped, eta %v: %s, %v; want %s", tt.adversary, n, tt.corrupted, tt.dropped, tt.eta, got, err, want)
			}
		}
	}
}

func TestDegreeOfFew(t *testing.T) {
	for _, tt := range []struct {
		cohort Cohort
		want   Degree
	}{
		{Cohort{Clients: 10, Corrupted: .05, Dropped: .33, Adversary: SemiHonest}, Degree{Holders: 4, Threshold: 2}}, // Google's test
		{Cohort{Clients: 943, Corrupted: .05, Dropped: .10, Adversary: Active}, Degree{Holders: 74, Threshold: 49}},
		{Cohort{Clients: 3, Adversary: SemiHonest}, Degree{Holders: 2, Threshold: 3, Complete: true}},
		{Cohort{Clients: 4, Dropped: .25, Adversary: Active}, Degree{Holders: 3, Threshold: 3, Complete: true}},
	} {
		if got, err := tt.cohort.Degree(); err != nil || got != tt.want {
			t.Errorf("%+v: %+v, %v; want %+v", tt.cohort, got, err, tt.want)
		}
	}
}

// The threshold of a complete graph is above what corrupted clients reach alone. If the server lies,
// it is above what they reach with half of the honest clients, too: each honest client signs one list.
func TestCompleteGraphResistsCorruptedClients(t *testing.T) {
	complete := 0
	for _, adversary := range []Adversary{SemiHonest, Active} {
		for n := 2; n <= 40; n++ {
			for corrupted := range 100 {
				for dropped := range 100 {
					c := Cohort{Clients: n, Corrupted: float64(corrupted) / 100, Dropped: float64(dropped) / 100, Adversary: adversary}
					d, err := c.Degree()
					if err != nil || !d.Complete {
						continue
					}
					complete++
					bad := n * corrupted / 100
					if d.Threshold <= bad || adversary == Active && 2*(d.Threshold-bad) <= n-bad {
						t.Fatalf("%+v: %+v", c, d)
					}
				}
			}
		}
	}
	if complete == 0 {
		t.Error("no graph is complete")
	}
}

func TestDegreeRefuses(t *testing.T) {
	for name, c := range map[string]Cohort{
		"one client":             {Clients: 1, Adversary: Active},
		"no adversary":           {Clients: 9},
		"too many corrupted":     {Clients: 9, Corrupted: 1, Adversary: SemiHonest},
		"too many of both":       {Clients: 1000, Corrupted: .5, Dropped: .5, Adversary: SemiHonest},
		"too many for active":    {Clients: 1000, Corrupted: .3, Dropped: .4, Adversary: Active},
		"NaN":                    {Clients: 9, Dropped: math.NaN(), Adversary: Active},
		"sigma":                  {Clients: 9, Sigma: -1, Adversary: Active},
		"great sigma":            {Clients: 9, Sigma: 129, Adversary: Active},
		"eta":                    {Clients: 9, Eta: -1, Adversary: Active},
		"great eta":              {Clients: 9, Eta: 129, Adversary: Active},
		"two, one of whom drops": {Clients: 2, Dropped: .5, Adversary: SemiHonest},
	} {
		if d, err := c.Degree(); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
