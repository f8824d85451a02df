package party

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// tellHead tells the coordinator the head of the audit record. The message comes before an acceptance, so
// that the coordinator knows of each consent before the party has released anything under it. It also comes
// after a job, so that a backup that is made after the job proves to be up to date.
func (p *Party) tellHead(ctx context.Context) error {
	if p.Head == nil {
		return nil
	}
	return p.tell(ctx, control.RecordTopic(), control.KindRecord, p.Head().Encode())
}

// confirmAgain is the time after which a restored party asks again for the head of its record, and for which it puts
// other messages back.
const confirmAgain = 5 * time.Second

// confirm returns nil if the head that the coordinator has kept of this party's audit record shows that the
// backup from which the party was restored is not an old one. Until the coordinator answers, the party
// handles no other message: messages are delivered again later.
func (p *Party) confirm(ctx context.Context) error {
	p.Logger.Warn("this home was restored from a backup; it asks the coordinator whether the backup is an old one", "coordinator", p.boss)
	question := control.Record{Asks: true}
	if _, err := rand.Read(question.Nonce[:]); err != nil {
		return err
	}
	ask := question.Encode()
	p.showJobs()
	if err := p.tell(ctx, control.RecordTopic(), control.KindRecord, ask); err != nil {
		return err
	}
	often := time.NewTicker(confirmAgain)
	defer often.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-often.C:
			if err := p.tell(ctx, control.RecordTopic(), control.KindRecord, ask); err != nil {
				p.Logger.Warn("could not ask the coordinator", "error", err)
			}
		case o := <-p.tasks:
			o.done <- p.errUnconfirmed()
		case q := <-p.questions:
			q.reply <- reply{err: p.errUnconfirmed()}
		case <-p.withdrawn: // its question is answered already
		case in := <-p.router.Control():
			m := in.Message
			if m.Sender != p.boss || m.Kind != control.KindRecord {
				if err := in.Later(confirmAgain); err != nil {
					p.Logger.Warn("could not put a message back", "error", err)
				}
				continue
			}
			p.acknowledge(in)
			r, err := control.DecodeRecord(m.Body)
			if err != nil {
				p.Logger.Warn("the coordinator's answer about the audit record cannot be read", "error", err)
				continue
			}
			if r.Nonce != question.Nonce {
				continue // the answer to an earlier question
			}
			return p.Restored(r.Head)
		}
	}
}

func (p *Party) errUnconfirmed() error {
	return fault.Public(fault.Forbiddenf("%s was restored from a backup, and waits for %s to say whether the backup is an old one", p.Name, p.boss))
}
