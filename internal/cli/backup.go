package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// backupResult describes a backup that was made.
type backupResult struct{ daemon.Backup }

// Print lists the content of the backup.
func (r backupResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s: %s of %s (%s), %s, sealed", r.Path, humanize.Count(r.Files, "file"), r.Name, r.Role, humanize.Bytes(r.Bytes))
	if r.Retained {
		p.linef("it holds the retained state of jobs; delete it when you forget a job")
	}
	return p.err
}

func (a *app) backup() *cobra.Command {
	var home string
	var to []string
	var retained bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up a home into a file that is sealed to an operator's key",
		Long: `Write the keys, the configuration, the ledgers and the audit record of a home into a new
file of age (age-encryption.org), which only the keys of its recipients open. The daemon
may run. Open sessions, tables and the broker's queues are not in it. The retained state
of finished jobs is in it with --retained only, because mercer job forget does not reach
backups. Keep the recipient's secret key on another machine.`,
		Example: `  mercer backup north.backup --home ./north --to age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  mercer backup north.backup --home ./north --to recipients.txt --retained`,
		Args: args("FILE"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			recipients, err := recipientsOf(to)
			if err != nil {
				return nil, err
			}
			done, err := a.at(home).Backup(args[0], recipients, retained)
			return backupResult{done}, err
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringArrayVar(&to, "to", nil, "recipient, age1..., or a file of recipients, one a line; may be repeated")
	cmd.Flags().BoolVar(&retained, "retained", false, "also back up the retained state of finished jobs")
	return cmd
}

// recipientsOf reads recipients, or files of recipients.
func recipientsOf(list []string) (all []age.Recipient, err error) {
	if len(list) == 0 {
		return nil, usage("--to is missing for backup; give the recipient that age-keygen printed, or a file of recipients")
	}
	for _, one := range list {
		text := one
		if !strings.HasPrefix(one, "age1") {
			b, err := regular.Read(one)
			if err != nil {
				return nil, usage("--to: %w", err)
			}
			text = string(b)
		}
		some, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, usage("--to %s: %w; give a recipient that begins with age1, or a file of recipients", one, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// restoreResult describes a restored home.
type restoreResult struct {
	daemon.Backup
	Home string `json:"home"`
}

// Print tells the operator the next step.
func (r restoreResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s: %s of %s (%s), from the backup of %s", r.Home, humanize.Count(r.Files, "file"), r.Name, r.Role, r.When())
	if r.Role == string(roster.Party) {
		p.linef("start the daemon: it goes on if the coordinator has seen nothing of this party since")
	}
	return p.err
}

func (a *app) restore() *cobra.Command {
	var home, key string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a home from a backup",
		Long: `Make a new home from a backup of mercer backup. The folder must not exist, and nothing is
written unless the backup is whole. Sessions that were open are aborted, and their ids stay
used. A restored party starts, and asks its coordinator for the last line of its audit
record that the coordinator has seen. If the backup is older, or was made in the middle of
a job, the daemon ends and says so: it does not know what it has released since. Then
restore a later backup, or accept that with mercer audit accept-loss. Restore only files
that you made: anybody can seal one to your key. Tables are not in a backup.`,
		Example: "  mercer restore north.backup --home ./north --key key.txt",
		Args:    args("FILE"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			keys, err := readAgeKeys(key)
			if err != nil {
				return nil, err
			}
			done, err := a.at(home).Restore(args[0], keys)
			return restoreResult{done, home}, err
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&key, "key", "", "file with the secret key, AGE-SECRET-KEY-1..., that age-keygen wrote")
	require(cmd, "key")
	return cmd
}

// readAgeKeys reads a file of secret keys. Its errors quote no line of the file.
func readAgeKeys(path string) ([]age.Identity, error) {
	b, err := regular.Read(path)
	if err != nil {
		return nil, usage("--key: %w", err)
	}
	keys, err := age.ParseIdentities(bytes.NewReader(b))
	if err != nil {
		return nil, usage("--key: %s is no file of secret keys; give the file that age-keygen wrote", path)
	}
	return keys, nil
}

// acceptedLoss reports that a restored party is allowed to go on.
type acceptedLoss struct {
	Home string `json:"home"`
}

// Print tells the operator what to do.
func (r acceptedLoss) Print(w io.Writer) error {
	return linef(w, "%s: the audit record has the decision. Compare mercer release list with your records of jobs, and approve nothing that you are not sure of", r.Home)
}

func (a *app) auditAcceptLoss() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "accept-loss",
		Short: "Let a party start that was restored from an old backup",
		Long: `A party that was restored from an old backup does not know what it has released since, so
its ledger of releases compares later jobs with less than they must be compared with. This
command lets it start all the same, and adds the decision, with your Unix user, to the
audit record. Jobs since the backup may have spent the privacy budgets of the home's tables,
so all of them count as spent until mercer budget settle states what was. Before, look for
a later backup. Repeat what operators did since: withdrawals of people, revoked
dictionaries and approvals.`,
		Example: "  mercer audit accept-loss --home ./north --yes",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			if !yes {
				return nil, refused(errors.New("the home does not know what it has released since the backup"), "use --yes if there is no later backup")
			}
			if err := a.at(home).AcceptLoss(a.reader); err != nil {
				return nil, fmt.Errorf("the loss was not accepted: %w", err)
			}
			return acceptedLoss{home}, nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "accept without asking; there is no later backup")
	return cmd
}
