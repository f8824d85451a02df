package daemon

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/node/overview"
)

// metrics makes the metrics of a coordinator or a party from its overview, at each request. Labels are names
// of members, the role and the version of the daemon, states of jobs and kinds of events. They are never ids or
// names of jobs, whose number has no limit.
type metrics struct{ source overview.Source }

// Describe implements prometheus.Collector. It names no metric in advance, because a party has other metrics
// than a coordinator.
func (metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m metrics) Collect(to chan<- prometheus.Metric) {
	o, err := m.source.Overview()
	if err != nil {
		to <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	gauge := func(name, help string, value float64, labels ...label) {
		to <- constant(prometheus.GaugeValue, name, help, value, labels)
	}
	gauge("build_info", "The daemon's member, role and version. The value is always 1.", 1,
		label{"member", o.Name}, label{"role", string(o.Role)}, label{"version", o.Version})
	gauge("start_time_seconds", "Time of the daemon's start, in seconds since 1970.", float64(o.Since.Unix()))
	for _, other := range o.Members {
		gauge("member_connected", "Whether another member is connected (1) or not (0).", number(other.Connected), label{"member", other.Name})
		gauge("member_awaited", "Stages of jobs that wait for the consent of a member.", float64(o.Awaited(other.Name)), label{"member", other.Name})
	}
	if f := o.Forwarding; f != nil {
		gauge("audit_forwarding_failing", "Whether the audit record does not reach the syslog server (1) or does (0).", number(f.Failing))
		to <- constant(prometheus.CounterValue, "audit_forwarded_total", "Lines of the audit record sent to the syslog server since the daemon's start.", float64(f.Sent), nil)
	}
	inState := make(map[overview.State]int)
	for _, j := range o.Jobs {
		inState[j.State]++
	}
	for _, s := range overview.States(o.Role) {
		gauge("jobs", "Jobs by state.", float64(inState[s]), label{"state", string(s)})
	}
	for _, k := range overview.Kinds() {
		to <- constant(prometheus.CounterValue, "events_total", "Events of jobs and members since the daemon's start.",
			float64(m.source.Events().Count(k)), []label{{"event", string(k)}})
	}
	b := o.Broker
	if b == nil {
		gauge("releases_awaiting_approval", "Releases of this party's data that wait for the approval of its operator.", float64(releases(o)))
		return
	}
	gauge("broker_accepting", "Whether the broker accepts connections (1) or not (0).", number(b.Accepts))
	gauge("broker_queue_messages", "Messages in the broker's queues.", float64(b.Messages))
	gauge("broker_queue_bytes", "Size of the broker's queues.", float64(b.Bytes))
	gauge("broker_queue_limit_bytes", "Size that the broker's queues may reach.", float64(b.Limit))
	gauge("broker_disk_free_bytes", "Free space of the disk of the broker's queues.", float64(b.Free))
}

// releases returns the number of releases that wait for approval. It does not count jobs that wait for approval.
func releases(o overview.Overview) (n int) {
	for _, a := range o.Awaiting {
		if a.Release != "" {
			n++
		}
	}
	return n
}

// label is a label of a metric.
type label struct{ name, value string }

// constant returns a metric with the given value and labels.
func constant(kind prometheus.ValueType, name, help string, value float64, labels []label) prometheus.Metric {
	var names, values []string
	for _, l := range labels {
		names, values = append(names, l.name), append(values, l.value)
	}
	d := prometheus.NewDesc("mercer_"+name, help, names, nil)
	metric, err := prometheus.NewConstMetric(d, kind, value, values...)
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	return metric
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
