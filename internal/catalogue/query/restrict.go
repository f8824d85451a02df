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

// Limits of SQLite, as identified by its function sqlite3_limit.
const (
	limitLength   = lib.SQLITE_LIMIT_LENGTH   // largest size of a cell and of a stored row
	limitAttached = lib.SQLITE_LIMIT_ATTACHED // number of database files that a query is allowed to attach
)

// errTwo refuses a second statement. SQLite would run both statements and return the rows of the
// second.
var errTwo = errors.New("the query contains a second statement; write one SELECT")

// restrict limits a connection to one SELECT, with a timeout and a largest cell size. It parses the
// query without running it.
func (r *sqliteRows) restrict(q Query) error {
	if !isOneStatement(q.Text) {
		return errTwo
	}
	columns, err := r.columnCount(q.Text)
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

// connection lists the driver's methods that check a query before it runs.
type connection interface {
	sqlite.AuthorizerRegisterer
	ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
}

// columnCount returns the number of columns of a read-only statement. It also arranges that the
// connection is interrupted when the context ends.
func (r *sqliteRows) columnCount(text string) (columns int, err error) {
	err = r.conn.Raw(func(raw any) error {
		c, ok := raw.(connection)
		if !ok {
			return fmt.Errorf("the SQLite driver has no authorizer: its type is %T", raw)
		}
		if r.stopInterrupt, err = interruptAtEnd(r.ctx, raw); err != nil {
			return err
		}
		if err := c.RegisterAuthorizer(onlyReads); err != nil {
			return err
		}
		list, err := c.ColumnInfo(text)
		columns = len(list)
		if refused := (*sqlite.Error)(nil); errors.As(err, &refused) && refused.Code() == lib.SQLITE_AUTH {
			return fmt.Errorf("the query does more than read; write one SELECT (%w)", err)
		}
		return err
	})
	return columns, err
}

// onlyReads allows a statement to read tables and to call functions. It refuses changes, settings
// and other files.
func onlyReads(action sqlite.AuthorizerActionCode, _, _, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthFunction, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// interruptAtEnd makes SQLite interrupt any computation of a connection when the context ends. The
// driver does this for the first row only; a later row could run without limit. The returned
// function must be called before the connection is closed.
func interruptAtEnd(ctx context.Context, raw any) (stopInterrupt func(), err error) {
	field := reflect.Indirect(reflect.ValueOf(raw)).FieldByName("db") // no exported function of the driver returns this field
	if field.Kind() != reflect.Uintptr || field.Uint() == 0 {
		return nil, fmt.Errorf("the SQLite driver cannot be interrupted: its type is %T", raw)
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		tls := libc.NewTLS() // this goroutine needs its own libc thread state
		defer tls.Close()
		lib.Xsqlite3_interrupt(tls, uintptr(field.Uint()))
	})
	return func() {
		if !stop() {
			<-done
		}
	}, nil
}

// token matches one token of a statement, as SQLite reads it. A token is a comment, a string, a
// quoted name, blanks or one other character. An unclosed token extends to the end.
var token = regexp.MustCompile("(?s)^(?:--[^\n]*|/\\*.*?(?:\\*/|$)|'[^']*'?|\"[^\"]*\"?|`[^`]*`?|\\[[^]]*\\]?|[ \t\r\n\f]+|.)")

// isOneStatement reports whether only comments, blanks and semicolons follow the first statement.
func isOneStatement(text string) bool {
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
