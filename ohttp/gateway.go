package ohttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

// MaxMessage is the largest size of a sealed request or answer in bytes. It is enough for the
// weights of a SecVM model with 2^20 bins.
const MaxMessage = 8 << 20

// Service answers the requests that a gateway has opened. It must be safe for concurrent use.
type Service func(context.Context, *bhttp.Request) *bhttp.Response

// Gateway opens sealed requests, passes them to Serve and seals the answers. As an HTTP handler it
// takes POST requests of type [RequestType], and answers a GET request with its public keys.
type Gateway struct {
	Keys   []*Key // the gateway's keys, the preferred key first
	Serve  Service
	Limit  int          // largest size of a sealed request in bytes; 0 means MaxMessage
	Replay *ReplayCache // refuses repeated sealed requests; nil allows them
	// Pad returns the size in bytes to which an answer is padded, because a relay sees sizes.
	// If it is nil, answers are not padded.
	Pad func(size int) int
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		g.serveKeys(w)
		return
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != RequestType {
		http.Error(w, "post "+RequestType, http.StatusUnsupportedMediaType)
		return
	}
	sealed, status := readAll(w, r, limit(g.Limit))
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	answer, err := g.Answer(r.Context(), sealed)
	switch {
	case errors.Is(err, ErrCrowded):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil: // sends the same text for all other errors, so that the text reveals nothing
		http.Error(w, "the request cannot be opened", http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", ResponseType)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer))) // prevents chunked transfer of large answers
		w.Header()["Date"] = nil
		_, _ = w.Write(answer) // a failed write is ignored, because the client repeats its request
	}
}

// Answer opens one sealed request and returns the sealed answer.
func (g *Gateway) Answer(ctx context.Context, sealed []byte) ([]byte, error) {
	key := g.key(sealed)
	if key == nil {
		return nil, errors.New("ohttp: the request is sealed to a key that the gateway does not have")
	}
	request, sealer, err := key.Decapsulate(sealed)
	if err != nil {
		return nil, err
	}
	if g.Replay != nil {
		if err := g.Replay.Admit(sealed, time.Now()); err != nil {
			return nil, err
		}
	}
	response, err := g.respond(ctx, request)
	if err != nil {
		return nil, err
	}
	return sealer.Seal(response)
}

// respond passes an opened request to Serve and returns the encoded answer, which is not yet
// sealed. If the content is not a request, respond returns an answer with status 400.
func (g *Gateway) respond(ctx context.Context, request []byte) ([]byte, error) {
	response := &bhttp.Response{Status: http.StatusBadRequest}
	if q, err := bhttp.ParseRequest(request); err == nil {
		response = g.Serve(ctx, q)
	}
	b, err := response.Encode()
	if err != nil || g.Pad == nil {
		return b, err
	}
	return response.EncodeTo(max(len(b), g.Pad(len(b))))
}

func (g *Gateway) key(sealed []byte) *Key {
	for _, k := range g.Keys {
		if len(sealed) > 0 && sealed[0] == k.id {
			return k
		}
	}
	return nil
}

func (g *Gateway) serveKeys(w http.ResponseWriter) {
	configs := make([]KeyConfig, len(g.Keys))
	for i, k := range g.Keys {
		configs[i] = k.Config()
	}
	w.Header().Set("Content-Type", KeysType)
	_, _ = w.Write(EncodeKeys(configs...))
}

// readAll reads a body of at most limit bytes. The second result is 0 or, after a failure, the HTTP
// status for the answer.
func readAll(w http.ResponseWriter, r *http.Request, limit int) ([]byte, int) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return b, 0
}

func limit(set int) int {
	if set == 0 {
		return MaxMessage
	}
	return set
}
