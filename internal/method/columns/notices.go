package columns

import (
	"fmt"

	"golang.org/x/text/unicode/norm"
)

// Notices describes the ids that other parties may have in another Unicode form. Equal names in
// two forms do not match. The sentences are for the party's own operator. There are none before the
// alignment.
func (p *Party) Notices() []string {
	if p.order == nil {
		return nil
	}
	composed := 0
	for _, id := range p.Table.IDs {
		if !norm.NFC.IsNormalString(id) {
			composed++
		}
	}
	if composed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d ids change under nfc, so that ids of other parties in the usual Unicode form do not match them; agree on id: {columns: [...], normalize: [nfc]} in each catalogue, and submit the job again", composed, len(p.Table.IDs))}
}
