package admin

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// Client sends requests to a daemon's socket.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient returns a client for the daemon's socket. It connects at the first call.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return nil, err
		}
		if err := ownerServes(filepath.Dir(socket), peerUID(c)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
	return &Client{socket, &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// ownerServes returns an error if a socket is served by somebody who is neither root nor the owner of the folder with
// the socket, as far as the system tells.
func ownerServes(folder string, server int) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, is := info.Sys().(*syscall.Stat_t)
	if !is || server == access.UnknownUID || server == 0 || server == int(owner.Uid) {
		return nil
	}
	return fault.Forbiddenf("user %d serves the control socket in %s, which belongs to user %d; nothing was sent", server, folder, owner.Uid)
}

// Close closes idle connections to the daemon.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ErrNoDaemon reports that no daemon serves the socket.
var ErrNoDaemon = errors.New("no daemon runs in this home; start it first")

// Overview returns what the daemon knows about its federation.
func (c *Client) Overview(ctx context.Context) (o overview.Overview, err error) {
	return o, c.call(ctx, http.MethodGet, "/overview", nil, &o)
}

// Events calls f with each kept event of a job, or with all kept events if the job is "". It returns the first
// error of f.
func (c *Client) Events(ctx context.Context, job string, f func(overview.Event) error) error {
	return c.readEvents(ctx, "/events?job="+url.QueryEscape(job), f)
}

// Follow is like Events, and goes on with further events until ctx ends, f returns an error, or the daemon ends
// the stream. It always returns an error.
func (c *Client) Follow(ctx context.Context, job string, f func(overview.Event) error) error {
	err := c.readEvents(ctx, "/events?follow=1&job="+url.QueryEscape(job), f)
	return cmp.Or(err, ctx.Err(), errStreamEnded)
}

// readEvents calls f with each event of the daemon's answer.
func (c *Client) readEvents(ctx context.Context, path string, f func(overview.Event) error) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(silence, cancel)
	defer silent.Stop()
	res, err := c.send(reading, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxEventLine)
	for lines.Scan() {
		silent.Reset(silence)
		var e overview.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("admin: an event cannot be read: %w", err)
		}
		if e.Kind == overview.Dropped {
			return errTooSlow
		}
		if e.Kind == overview.Heartbeat {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("%w (%w)", errStreamEnded, err))
	}
	return nil
}

// errTooSlow reports that a daemon stopped sending events to a reader that takes them too slowly.
var errTooSlow = errors.New("the daemon sends no more events, because this reader was too slow; ask again")

// silence is the time after which a daemon that sends neither events nor heartbeats counts as gone.
const silence = 3 * heartbeat

// errStreamEnded reports that a daemon stopped sending events.
var errStreamEnded = errors.New("the daemon sends no more events; it has stopped, or it could not send them")

// Submit sends a job file to the coordinator, which queues the job.
func (c *Client) Submit(ctx context.Context, name string, file []byte) (j Job, err error) {
	return j, c.call(ctx, http.MethodPost, "/jobs?name="+url.QueryEscape(name), file, &j)
}

// Check asks a party's daemon whether it would accept a job.
func (c *Client) Check(ctx context.Context, name string, file []byte) (checked *Checked, err error) {
	return checked, c.call(ctx, http.MethodPost, "/check?name="+url.QueryEscape(name), file, &checked)
}

// Approve lets a job begin that awaits approval at a party.
func (c *Client) Approve(ctx context.Context, id string) error {
	_, err := c.fetch(ctx, http.MethodPost, jobPath(id)+"/approve", nil)
	return err
}

// Reject refuses a job that awaits approval at a party. The coordinator reads the reason.
func (c *Client) Reject(ctx context.Context, id, reason string) error {
	_, err := c.fetch(ctx, http.MethodPost, jobPath(id)+"/reject?reason="+url.QueryEscape(reason), nil)
	return err
}

// Jobs lists all jobs of a coordinator. At a party it lists the jobs whose state the party holds.
func (c *Client) Jobs(ctx context.Context) (list []Job, err error) {
	return list, c.call(ctx, http.MethodGet, "/jobs", nil, &list)
}

// Job returns one job.
func (c *Client) Job(ctx context.Context, id string) (j Job, err error) {
	return j, c.call(ctx, http.MethodGet, jobPath(id), nil, &j)
}

// Wait waits until a job has ended, and returns the job.
func (c *Client) Wait(ctx context.Context, id string) (j Job, err error) {
	return j, c.call(ctx, http.MethodGet, jobPath(id)+"/wait", nil, &j)
}

// Abort aborts a queued or running job. The job ends soon after Abort returns.
func (c *Client) Abort(ctx context.Context, id string) error {
	_, err := c.fetch(ctx, http.MethodPost, jobPath(id)+"/abort", nil)
	return err
}

// Outcome returns a job's decisions about held-out rows.
func (c *Client) Outcome(ctx context.Context, id string) (*method.Outcome, error) {
	b, err := c.fetch(ctx, http.MethodGet, jobPath(id)+"/outcome", nil)
	if err != nil {
		return nil, err
	}
	return method.DecodeOutcome(b)
}

// Model downloads the model file of a job. It fails if the model is private.
func (c *Client) Model(ctx context.Context, id string) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, jobPath(id)+"/model", nil)
}

// Predict asks a party's daemon to predict rows. It sends the daemon the features and the ids. If other
// parties hold columns of the rows, source names their table with these columns; "" means the job's
// table.
func (c *Client) Predict(ctx context.Context, id string, set *dataset.Set, source string) (p Prediction, err error) {
	rows, err := encodeRows(set)
	if err != nil {
		return p, fault.BadInput(err)
	}
	return p, c.call(ctx, http.MethodPost, jobPath(id)+"/prediction?source="+url.QueryEscape(source), rows, &p)
}

// Preparation returns the preparation that a job retained at the party. It returns nil if the job's
// tables had no schema: see dataset/prepare.
func (c *Client) Preparation(ctx context.Context, id string) ([]byte, error) {
	made, err := c.fetch(ctx, http.MethodGet, jobPath(id)+"/preparation", nil)
	if len(made) == 0 {
		return nil, err
	}
	return made, err
}

// Delete erases a job's artifacts at all members, and removes the job from the coordinator.
func (c *Client) Delete(ctx context.Context, id string) (f Forgotten, err error) {
	return f, c.call(ctx, http.MethodDelete, jobPath(id), nil, &f)
}

// Drop destroys everything that a party holds for an open job.
func (c *Client) Drop(ctx context.Context, id string) error {
	_, err := c.fetch(ctx, http.MethodDelete, jobPath(id)+"/sessions", nil)
	return err
}

// Forget erases a job's artifacts at this party or, if the daemon is the coordinator, at all
// members.
func (c *Client) Forget(ctx context.Context, id string) (f Forgotten, err error) {
	return f, c.call(ctx, http.MethodDelete, jobPath(id)+"/keepsake", nil, &f)
}

// Rotate erases every job that a later job could continue, and returns the erased items of each
// job.
func (c *Client) Rotate(ctx context.Context) (erased map[string]Forgotten, err error) {
	return erased, c.call(ctx, http.MethodPost, "/epoch", nil, &erased)
}

// Reload makes the daemon read its home's files again. An error that wraps [ErrNoDaemon] means that no daemon runs.
func (c *Client) Reload(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/reload", nil, &struct{}{})
}

// Invite asks for the address at which this user opens the daemon's web page.
func (c *Client) Invite(ctx context.Context) (i Invitation, err error) {
	return i, c.call(ctx, http.MethodPost, "/page", nil, &i)
}

func jobPath(id string) string { return "/jobs/" + url.PathEscape(id) }

func (c *Client) call(ctx context.Context, method, path string, body []byte, into any) error {
	b, err := c.fetch(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("admin: the daemon's answer cannot be read: %w", err)
	}
	return nil
}

func (c *Client) fetch(ctx context.Context, method, path string, body []byte) (answer []byte, err error) {
	res, err := c.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	return answer, nil
}

// send sends a request and returns the daemon's answer, whose body the caller closes. It returns an error
// for an answer that reports a problem.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://mercer"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	answer, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	var p Problem
	if err := json.Unmarshal(answer, &p); err != nil || p.Message == "" {
		return nil, fmt.Errorf("admin: the daemon answers with status %s: %s", res.Status, answer)
	}
	return nil, &fault.Error{Code: p.Code, Blamed: p.Blamed, Err: errors.New(p.Message)}
}

// unreachable returns a clearer error if no daemon serves the socket, or for another usual cause.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && errors.Is(err, fs.ErrPermission) {
		return fault.Forbiddenf("this user is not allowed to open the control socket %s; use the folder that the home's setting \"roles\" names, if you have a role there", c.socket)
	}
	if op != nil && op.Op == "dial" {
		return fmt.Errorf("%s: %w", c.socket, ErrNoDaemon)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the daemon has closed the connection without an answer: it has ended, or this user has as many connections open as allowed")
	}
	return fmt.Errorf("admin: %w", err)
}
