package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/page"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// pageServer serves the web page of a daemon.
type pageServer struct {
	config string       // path of the configuration
	port   net.Listener // nil: nothing is served
	page   *page.Page
	site   page.Site
	gate   access.Gate // knows the roles of the users of this machine
}

// openPage opens the port of a page that shows a home. Without the setting, no page is served. desk is nil at a
// coordinator.
func (h Home) openPage(s Page, shown page.Home, desk page.Desk, gate access.Gate, log *slog.Logger) (pageServer, error) {
	server := pageServer{config: h.ConfigPath(), gate: gate}
	if !s.given() {
		return server, nil
	}
	site, err := h.site(s, access.Person{Member: gate.Member, Machine: gate.Machine})
	if err != nil {
		return server, err
	}
	server.site, server.page = site, page.New(shown, desk, site, log)
	if server.port, err = endpoint.Listen(s.Listen); err == nil && s.Certificate != "" {
		server.port, err = h.secured(server.port, s)
	}
	if err != nil {
		return server, errors.Join(err, server.close())
	}
	return server, nil
}

// close closes the port. It does nothing if the port is closed.
func (s pageServer) close() error {
	if s.port == nil {
		return nil
	}
	if err := s.port.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serve serves until ctx ends.
func (s pageServer) serve(ctx context.Context, log *slog.Logger) error {
	if s.port == nil {
		<-ctx.Done()
		return nil
	}
	log.Info("serving the web page; mercer page prints the address to open", "address", s.port.Addr().String())
	return endpoint.Serve(ctx, s.port, s.page.Handler(), log)
}

// invite returns the address at which a user of this machine opens the page. If people log in to the page, the address
// is the same for everybody.
func (s pageServer) invite(who access.Person) (admin.Invitation, error) {
	switch {
	case s.port == nil:
		return admin.Invitation{}, fault.BadInputf("this home has no web page; write \"page: {listen: 127.0.0.1:9470}\" into %s, and start the daemon again", s.config)
	case s.site.Login != nil:
		return admin.Invitation{URL: s.site.Address(), Login: true}, nil
	case who.UID == nil:
		return admin.Invitation{}, fault.Forbiddenf("this system does not tell the daemon which user asks, so it lets nobody in")
	}
	path, err := s.page.Invite(page.Visitor{Person: who, May: func(need access.Role) error { return s.gate.Admit(*who.UID, need) }})
	return admin.Invitation{URL: "http://" + s.port.Addr().String() + path}, err
}

// ReportWriter writes a result as one HTML page.
type ReportWriter func(w io.Writer, r *method.Result) error

// coordinatorPage gives the web page of a coordinator access to the coordinator and its home.
type coordinatorPage struct {
	*coordinator.Coordinator
	home   Home
	jobs   *job.Reader
	report ReportWriter
}

// Reports implements page.Home.
func (c coordinatorPage) Reports() (list []page.Report, err error) {
	for _, j := range slices.Backward(c.List()) {
		if j.State == overview.Done {
			list = append(list, page.Report{Job: j.ID.String(), Name: j.Spec.Name, Ended: j.Ended})
		}
	}
	return list, nil
}

// job returns a job, with its result if it has one.
func (c coordinatorPage) job(of string) (coordinator.Job, error) {
	id, err := job.ParseID(of)
	if err != nil {
		return coordinator.Job{}, fault.BadInput(err)
	}
	j, err := c.Get(id)
	if errors.Is(err, coordinator.ErrNoJob) {
		return j, fault.BadInputf("this home has no job %s", of)
	}
	return j, err
}

// WriteReport implements page.Home.
func (c coordinatorPage) WriteReport(w io.Writer, of string) error {
	j, err := c.job(of)
	if err != nil {
		return err
	}
	if j.Result == nil {
		return fault.BadInputf("job %s has no result; mercer job show %s says why", of, of)
	}
	return c.report(w, j.Result)
}

// Record implements page.Home.
func (c coordinatorPage) Record() string { return c.home.AuditPath() }

// Rejection implements page.Home.
func (c coordinatorPage) Rejection(of string) (*page.Rejection, error) {
	j, err := c.job(of)
	if err != nil || j.Rejection == nil {
		return nil, err
	}
	return &page.Rejection{Party: j.Rejection.Party, Reason: j.Rejection.Reason}, nil
}

// Documents implements page.Home.
func (c coordinatorPage) Documents() ([]page.Document, error) { return c.home.documents(c.jobs) }

// documents lists the dictionaries and studies that the operator has approved.
func (h Home) documents(jobs *job.Reader) ([]page.Document, error) {
	dictionaries, err := documentsOf("dictionary", h.Dictionaries())
	if err != nil {
		return nil, err
	}
	studies, err := documentsOf("study", h.Studies(jobs).Store)
	return append(dictionaries, studies...), err
}

func documentsOf[D approved.Document](kind string, store approved.Store[D]) (out []page.Document, err error) {
	list, err := store.List()
	for _, one := range slices.Backward(list) {
		d, wrong := store.Find(one.Name, one.Hash)
		if err = errors.Join(err, wrong); wrong == nil {
			out = append(out, page.Document{Kind: kind, Name: one.Name, Hash: one.Hash, Table: one.Table, Day: one.Day, Text: string(d.Encode())})
		}
	}
	return out, err
}

// partyPage gives the web page of a party access to the party and its home.
type partyPage struct {
	*partyWatch
	home   Home
	jobs   *job.Reader
	report ReportWriter
}

// Reports implements page.Home. A party has results of those jobs whose held-out labels it has.
func (p partyPage) Reports() (list []page.Report, err error) {
	o, err := p.Overview()
	if err != nil {
		return nil, err
	}
	kept, err := p.home.artifacts()
	if err != nil {
		return nil, err
	}
	for _, j := range slices.Backward(o.Jobs) {
		id, err := job.ParseID(j.ID)
		if err != nil || j.State != overview.Retained {
			continue
		}
		items, err := kept.List(id)
		if err != nil {
			return nil, err
		}
		if slices.Contains(items, vault.Figures) {
			list = append(list, page.Report{Job: j.ID, Name: j.Name, Ended: j.Ended})
		}
	}
	return list, nil
}

// WriteReport implements page.Home.
func (p partyPage) WriteReport(w io.Writer, of string) error {
	own, err := p.home.Judged(of)
	if err != nil {
		return err
	}
	return p.report(w, own.Result)
}

// Record implements page.Home.
func (p partyPage) Record() string { return p.home.AuditPath() }

// Rejection implements page.Home. A party knows no job that has failed.
func (p partyPage) Rejection(string) (*page.Rejection, error) { return nil, nil }

// Documents implements page.Home.
func (p partyPage) Documents() ([]page.Document, error) { return p.home.documents(p.jobs) }
