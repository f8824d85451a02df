package okra

import (
	"bytes"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestNewParams(t *testing.T) {
	const sentence = `okra: encoder block is not secure, because the server learns every block's Gram matrix, and with about 110 known rows it can decode all others; to reproduce the paper, write "mode: paper"`
	for _, c := range []struct {
		in   Spec
		want Spec
		err  string
	}{
		{Spec{}, Spec{Encoder: Hadamard, Wire: Float32, Mode: Hardened, Rounds: 3}, ""},
		{Spec{Rounds: 2, Wire: Float64}, Spec{Encoder: Hadamard, Wire: Float64, Mode: Hardened, Rounds: 2}, ""},
		{Spec{Encoder: Haar}, Spec{Encoder: Haar, Wire: Float32, Mode: Hardened}, ""},
		{Spec{Mode: Paper}, Spec{Encoder: Block, Wire: Float32, Mode: Paper, BlockWidth: 96}, ""},
		{Spec{Mode: Paper, Encoder: Block, BlockWidth: 128}, Spec{Encoder: Block, Wire: Float32, Mode: Paper, BlockWidth: 128}, ""},
		{in: Spec{Encoder: Block}, err: sentence},
		{in: Spec{Encoder: Block, Mode: Hardened}, err: sentence},
		{in: Spec{Encoder: Haar, Mode: Paper}, err: `okra: "mode" is paper, but encoder haar is not the paper's; leave out "mode" or "encoder"`},
		{Spec{Encoder: Flake}, Spec{Encoder: Flake, Wire: Float32, Mode: Hardened}, ""},
		{Spec{Encoder: Flake, Mode: Paper}, Spec{Encoder: Flake, Wire: Float32, Mode: Paper}, ""},
		{in: Spec{Encoder: "fourier"}, err: `okra: encoder is "fourier"; choose hadamard, haar, hbh, flake or block`},
		{in: Spec{Wire: "float16"}, err: `okra: wire is "float16"; choose float32 or float64`},
		{in: Spec{Mode: "soft"}, err: `okra: mode is "soft"; choose hardened or paper`},
		{in: Spec{Rounds: 1}, err: "okra: one round of encoder hadamard hides nothing, because the transform is public and undoes itself; use at least 2 rounds"},
		{in: Spec{Rounds: -1}, err: `okra: "rounds" is -1; encoder hadamard takes 2 to 16 rounds`},
		{in: Spec{Rounds: 17}, err: `okra: "rounds" is 17; encoder hadamard takes 2 to 16 rounds`},
		{in: Spec{Encoder: Haar, Rounds: 3}, err: "okra: \"rounds\" is set, but encoder haar has no rounds; leave \"rounds\" out or use encoder hadamard"},
		{in: Spec{BlockWidth: 96}, err: "okra: block_width is set, but encoder hadamard has no blocks; leave block_width out or use encoder block"},
		{in: Spec{Mode: Paper, BlockWidth: 63}, err: "okra: block_width is 63; encoder block takes 64 to 128 features"},
		{in: Spec{Mode: Paper, BlockWidth: 129}, err: "okra: block_width is 129; encoder block takes 64 to 128 features"},
	} {
		p, err := NewParams(c.in)
		if fmt.Sprint(err) != c.err && !(err == nil && c.err == "") {
			t.Errorf("%+v: %v, want %s", c.in, err, c.err)
		}
		if err == nil {
			checkParams(t, p, c.want)
		}
	}
}

func checkParams(t *testing.T, p Params, want Spec) {
	t.Helper()
	if p.Spec() != want {
		t.Errorf("%+v, want %+v", p.Spec(), want)
	}
	if again, err := NewParams(p.Spec()); err != nil || again != p {
		t.Errorf("its own settings give %+v, %v", again, err)
	}
	if back, err := DecodeParams(p.Encode()); err != nil || back != p {
		t.Errorf("decodes to %+v, %v", back, err)
	}
}

func TestSpecFromYAML(t *testing.T) {
	d := yaml.NewDecoder(bytes.NewReader([]byte("{encoder: block, wire: float64, mode: paper, rounds: 0, block_width: 80}")))
	d.KnownFields(true)
	var s Spec
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if want := (Spec{Encoder: Block, Wire: Float64, Mode: Paper, BlockWidth: 80}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

func TestDecodeParamsRefuses(t *testing.T) {
	good := mustParams(t, Spec{}).Encode()
	for name, b := range map[string][]byte{
		"empty":      nil,
		"truncated":  good[:len(good)-1],
		"extended":   append(bytes.Clone(good), 0),
		"other name": bytes.Replace(good, []byte("okra"), []byte("orka"), 1),
		"one round":  append(bytes.Clone(good[:len(good)-4]), 1, 0, 0, 0),
		"defaults":   append(bytes.Clone(good[:len(good)-4]), 0, 0, 0, 0), // a second encoding
	} {
		if p, err := DecodeParams(b); err == nil || p != (Params{}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}
