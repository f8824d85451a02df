package job

func reader() *Reader { return &Reader{Protocols: ProtocolNames()} }
