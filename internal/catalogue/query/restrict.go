package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"modernc.org/libc"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Limits of SQLite, by the numbers of its sqlite3_limit.
const (
	limitLength   = lib.SQLITE_LIMIT_LENGTH   // of a cell and of a stored row
	limitAttached = lib.SQLITE_LIMIT_ATTACHED // files that a query opens, and creates if they do not exist
)

// errTwo refuses a second statement. SQLite would run both and return the rows of the last one.
var errTwo = errors.New("it contains a second statement; write one SELECT")

// restrict limits a connection to one SELECT with bounded cells that ends at the timeout. It
// describes the query without running it.
func (r *sqliteRows) restrict(q Query) error {
	if !single(q.Text) {
		return errTwo
	}
	columns, err := r.describe(q.Text)
	if err != nil {
		return err
	}
	if columns == 0 {
		return errNoColumns
	}
	cell := max(leastRow, q.rowLimit()/int64(columns))
	for limit, value := range map[int]int64{limitLength: cell, limitAttached: 0} {
		if _, err := sqlite.Limit(r.conn, limit, int(value)); err != nil {
			return err
		}
	}
	return nil
}

// connection holds the driver's methods besides rows.
type connection interface {
	sqlite.AuthorizerRegisterer
	ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
}

// describe counts the columns of a read-only statement, and arranges that the connection is
// interrupted at the end of the context.
func (r *sqliteRows) describe(text string) (columns int, err error) {
	err = r.conn.Raw(func(raw any) error {
		c, ok := raw.(connection)
		if !ok {
			return fmt.Errorf("the driver of SQLite offers no authorizer: it is a %T", raw)
		}
		if r.quiet, err = interruptAtEnd(r.ctx, raw); err != nil {
			return err
		}
		if err := c.RegisterAuthorizer(onlyReads); err != nil {
			return err
		}
		list, err := c.ColumnInfo(text)
		columns = len(list)
		if refused := (*sqlite.Error)(nil); errors.As(err, &refused) && refused.Code() == lib.SQLITE_AUTH {
			return fmt.Errorf("it does more than read; write one SELECT (%w)", err)
		}
		return err
	})
	return columns, err
}

// onlyReads allows a statement to read tables and to call functions. It refuses settings, other
// files and changes.
func onlyReads(action sqlite.AuthorizerActionCode, _, _, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthFunction, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// interruptAtEnd interrupts any computation of a connection when the context ends. The driver
// does so for the first row only, and would continue for any time on a later row. The returned
// function must be called before the connection is closed.
func interruptAtEnd(ctx context.Context, raw any) (quiet func(), err error) {
	field := reflect.Indirect(reflect.ValueOf(raw)).FieldByName("db") // no exported name leads to it
	if field.Kind() != reflect.Uintptr || field.Uint() == 0 {
		return nil, fmt.Errorf("the driver of SQLite cannot be interrupted: it is a %T", raw)
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		tls := libc.NewTLS() // the connection's own TLS is for one goroutine
		defer tls.Close()
		lib.Xsqlite3_interrupt(tls, uintptr(field.Uint()))
	})
	return func() {
		if !stop() {
			<-done
		}
	}, nil
}

// token matches a part of a statement as SQLite reads it: a comment, a text, a name in quotes,
// blanks or one other character. Unclosed ones extend to the end.
var token = regexp.MustCompile("(?s)^(?:--[^\n]*|/\\*.*?(?:\\*/|$)|'[^']*'?|\"[^\"]*\"?|`[^`]*`?|\\[[^]]*\\]?|[ \t\r\n\f]+|.)")

// single reports whether only comments follow the first statement.
func single(text string) bool {
	ended := false
	for text != "" {
		part := token.FindString(text)
		text = text[len(part):]
		blank := strings.HasPrefix(part, "--") || strings.HasPrefix(part, "/*") || strings.Trim(part, " \t\r\n\f;") == ""
		if ended && !blank {
			return false
		}
		ended = ended || part == ";"
	}
	return true
}
