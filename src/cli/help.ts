/** What `--help` prints. */
export const HELP = `Who owns which transition, on what evidence, and what is wrong.

  npx transition-ownership <command> --sqlite FILE | --postgres URL | --mysql URL

  status     who holds what: age, expiry, verdict and reason
  watch      the same again every two seconds, until interrupted; --every SECONDS
  doctor     explains each stale lease, impossible job, dead run, unfinished effect and risky setting
  release    takes a lease from its owner: --task ID --token N, as status shows them, --reason TEXT;
             --by NAME, by default the user of the system
  sanitize   clears the run of jobs that are queued and carry one; --dry-run
  recover    returns the jobs of dead processes to the queue, sanitizes, deletes the leases of dead owners
             and lists unfinished effects; --dry-run
  ui         serves one page on this host, until interrupted: leases, broken-off transitions, unfinished effects;
             whoever has its address can release a lease and resolve an effect there, in the name of --by; --port N
  verify     proves the library on this very engine: its rules, its fence and real processes that are killed, in a
             schema, database or file of its own that it drops again; --seconds 60, about

  --config FILE   JSON with the objects tasks, jobs, lease and effects that your application gives to
                  createTransitionOwnership, its timeFormat and timeZone; "liveness": "heartbeat-only" where it goes by times
                  alone. Without it: transition_lease with integer ids and, where they are there, transition_effect
                  and jobs with id, task_id, status ('queued', 'running', 'failed'), run_id, pid and started_at; what
                  else a run leaves in a job, finished_at say, is cleared only where --config names it.
  --this-host     your word that the bare pids of job rows are those of this very host (and container), for doctor
                  and recover. Without it such pids prove nothing, whatever singleHost says: it was said of the host
                  of your application.
  --json          one JSON document on standard output; of watch one a line for each look

status, watch, doctor and --dry-run change nothing, verify nothing of yours, and ui nothing unless it is ordered there. The tool
takes no lease, asks no probe, and takes no one for dead
who may live.

It ends with
  0   clean: what was asked is done, and nothing wants attention
  1   findings: status, watch   a holder is not live, or live only because a clock was set back
                doctor          an error or a warning
                release         the token is not that of the holder, or no one holds the task: nothing was released
                sanitize        an impossible job is left (with --dry-run: is there)
                recover         a row is left, or an effect waits for a word (with --dry-run: or there is work to do)
                verify          a rule does not hold there, or could not be tried
  2   failed: bad usage, no database, a table or a driver that is missing, output that no one
      takes. What could be shown was shown
`;
