// Package journal records the events that a session's machine has accepted, in an append-only log.
// After a crash the machine is rebuilt from the log, byte for byte.
//
//	store, err := journal.OpenStore("/var/lib/mercer/journal")
//	j, err := store.Create(id, seed, build) // once for each session
//	err = j.Append(journal.Record{Event: event, Sent: digests})
//	err = j.Sync() // then acknowledge, then send
//
// and after a crash
//
//	ids, err := store.Unfinished()
//	j, note, err := store.Open(id, build)
//	for r, err := range j.Records() { ... }
//
// # Layout
//
//	ROOT/lock               held by the one process that uses ROOT
//	ROOT/used/ID            one mark for each session ever begun; never removed
//	ROOT/session/ID/seed    32 bytes, mode 0600; removed at the end
//	ROOT/session/ID/log     a header in clear, then sealed records
//	ROOT/session/ID/anew    32 fresh bytes, mode 0600, of a session that was begun anew after its log was lost
//	ROOT/session/ID/anew-log    the log of such a session, sealed under seed and fresh bytes, in place of the first log
//	ROOT/session/ID/body/N  message bodies over 64 KiB, sealed, of record N
//	ROOT/session/ID/tombstone   public facts about a session that has ended
//	ROOT/session/ID.new     a session that is being created
//
// Records and bodies are sealed with AES-256-GCM under HKDF-SHA256(seed), or
// under a key from seed and fresh bytes, with a random nonce for each. The
// additional data are the hash of the header, the kind and the record's
// number. So destroying the 32 bytes of the seed destroys all of them, and
// nothing can be moved to another record or session. (Nonces are not record
// numbers, because a record torn by a crash is rewritten with other content
// under the same number.)
//
// # What survives
//
//   - kill -9 at any instruction loses nothing for which Append had returned.
//   - A power cut loses nothing for which Sync had returned; of what was
//     appended later, a prefix survives. A torn end is cut off and counted in
//     [Note].
//   - The seed, the mark and the header are on disk before Create returns. A
//     crash in the middle of Create leaves no session, or one without records.
//   - Destroy writes the tombstone first and overwrites the seed next; OpenStore
//     finishes what a crash interrupted.
//   - A session whose seed or log is missing, damaged or older than its mark
//     (restored from a backup, say) is refused with [ErrLost]: running it could
//     answer twice under the same masks. Its owner can begin it anew, once, if
//     that cannot happen ([Store.Renew]). The mark then says so.
//
// # What is not promised
//
//   - Overwriting a seed reaches the blocks it was first written to only on
//     drives and file systems that write in place. SSDs remap blocks; btrfs,
//     ZFS, APFS and snapshots copy on write. Put the root on an encrypted
//     volume if that matters.
//   - A root that is rolled back as a whole, or a restored virtual machine, is not detected, because its files agree.
//   - Sync writes the mark but does not flush it: after a power cut the mark may lack the records of one writeback
//     interval, and then a log that has lost just these records is taken for a torn one.
//   - After a drive has failed to write, Linux reports the error once and forgets it: a process that opens the journal
//     again may read from memory what never reached the disk.
//   - The header (session, build, time of creation) is in clear, and so are
//     the number and the sizes of records.
package journal
