package demo

// Divert makes the others reach issuer, relay or gateway at another address, whose owner
// passes everything on to the returned address. It must be called before the start.
func (f *Devices) Divert(name, through string) (address string) {
	f.reached[name] = through
	return f.address[name]
}

// MetricsURL returns the address of the metrics of issuer, relay or gateway.
func (f *Devices) MetricsURL(name string) string {
	return "http://" + f.address[metricsOf(name)] + "/metrics"
}

// Ended returns the outcome of a process that has been stopped or killed.
func (f *Federation) Ended(name string) error {
	<-f.running[name].ended
	return f.running[name].err
}
