package nats_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/nats"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "queues")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	keyA, memberA := newMember("server")
	keyB, memberB := newMember("hospital")

	srv, err := nats.Start(ctx, nats.Config{Dir: dir, Members: []nats.Member{memberA, memberB}})
	check(err)
	defer func() { check(srv.Shutdown(ctx)) }()
	server, err := srv.Dial(ctx, "server", keyA, nats.Options{}) // within this process
	check(err)
	defer func() { check(server.Close()) }()
	hospital, err := nats.Dial(ctx, srv.URL(), "hospital", keyB, nats.Options{}) // from anywhere
	check(err)
	defer func() { check(hospital.Close()) }()

	check(hospital.Send(ctx, "server", transport.Bulk, []byte("sealed")))
	d, err := server.Receive(ctx, transport.Bulk)
	check(err)
	fmt.Printf("%s, perhaps from %s\n", d.Data, d.From)
	check(d.Ack())
	// Output: sealed, perhaps from hospital
}

func newMember(name string) (nkeys.KeyPair, nats.Member) {
	key, err := nkeys.CreateUser()
	check(err)
	pub, err := key.PublicKey()
	check(err)
	return key, nats.Member{Name: name, Key: pub}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
