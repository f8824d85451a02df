package demo

// Divert has the others reach issuer, relay or gateway at another address, where somebody
// passes on all that comes to the returned address. It must be called before the start.
func (f *Devices) Divert(name, through string) (address string) {
	f.reached[name] = through
	return f.address[name]
}

// MetricsURL returns the address of the metrics of issuer, relay or gateway.
func (f *Devices) MetricsURL(name string) string {
	return "http://" + f.address[metricsOf(name)] + "/metrics"
}

// Ended returns how a process ended that has been stopped or killed.
func (f *Federation) Ended(name string) error {
	<-f.running[name].ended
	return f.running[name].err
}
