package mem_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
)

func Example() {
	ctx := context.Background()
	net := mem.NewNetwork()
	server, err := net.Join("server")
	if err != nil {
		log.Fatal(err)
	}
	hospital, err := net.Join("hospital")
	if err != nil {
		log.Fatal(err)
	}
	if err := hospital.Send(ctx, "server", transport.Bulk, []byte("sealed")); err != nil {
		log.Fatal(err)
	}
	d, err := server.Receive(ctx, transport.Bulk)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, perhaps from %s\n", d.Data, d.From)
	if err := d.Ack(); err != nil {
		log.Fatal(err)
	}
	// Output: sealed, perhaps from hospital
}
