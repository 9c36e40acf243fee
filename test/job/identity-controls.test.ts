import { type Control, proveControls } from './control.js';
import { identity } from './identity.js';
import { inexact } from './inexact.js';
import { countingStore } from './stores.js';

const CLAIM = /^update "jobs".* "status" = 'running'/s;
const PICK = /^select "id" as "job:id" from "jobs"\s+where "status" = 'queued'/;
const STAMP = /^update "jobs" set "run_id" = \?/;
const READ_STAMP = /^select "id" as "job:id" from "jobs" where "id" = \?.*"pid" is \?/s;
const MOVE = /^update "jobs" set .* where "id" = \(select "id" from "jobs" where "id" = \?/s;
const RESET = /^update "jobs" set .*"id" in \(select/s;
const FINISH = /^update "jobs" set .*"status" = '(done|failed)'/s;
const READ_FINISHED = /^select "id" as "job:id" from "jobs"\s+where "id" = \? and "status" = 'done'/s;
const QUEUED = /^with "job:page"/;
const RUNNING = /^select \*.* where "status" = 'running'/s;

const withoutClaim = { without: '"claim" is ?', becomes: "coalesce(?, '') is not null" };
const later = 'of two claims within one instant only the later one is stamped';
const others = 'finishJob ends no job of another claim, run, start or status';
const never = 'claimNextJob never takes such a job, whatever it is ordered by, and takes the others';
const counted = 'every report counts such jobs and is not complete, and the reaper reports those past its bound';

const controls: Record<string, Control> = {
  'a claim writes its nonce': {
    of: CLAIM,
    without: '"claim" = ?',
    becomes: '"claim" = substr(?, 1, 0)',
    proofs: identity,
    title: 'claimNextJob writes a nonce where claims are mapped, and none elsewhere',
  },
  'a stamp is of the nonce of its claim': { of: STAMP, ...withoutClaim, proofs: identity, title: later },
  'a stamp is found again by its nonce': {
    of: READ_STAMP,
    ...withoutClaim,
    proofs: identity,
    title: 'a stamp whose reply was lost is found by the nonce of its own claim alone',
  },
  'a reset is of the nonce that is expected': {
    of: RESET,
    ...withoutClaim,
    proofs: identity,
    title: 'resetRunOwnership of a claim leaves a later claim within the same instant alone',
  },
  'a reap is of the nonce that was seen': {
    of: MOVE,
    ...withoutClaim,
    proofs: identity,
    title: 'a tick leaves a job alone that was claimed again within the same instant',
  },
  'a way back to the queue clears the nonce': {
    of: MOVE,
    without: ', "claim" = null',
    proofs: identity,
    title: 'every way back to the queue clears the claim',
  },
  'a nonce alone is impossible in the queue': {
    of: QUEUED,
    without: ' or "claim" is not null',
    proofs: identity,
    title: 'a queued job that carries a claim alone is impossible, and is repaired if it is just as it was found',
  },

  'an end is of one job': { of: FINISH, without: '"id" = ?', becomes: '? > 0', proofs: identity, title: others },
  'an end is of a running job': {
    of: FINISH,
    without: `"status" = 'running' collate binary`,
    becomes: '1 = 1',
    proofs: identity,
    title: 'finishJob ends the job of a claim, and keeps who ran it',
  },
  'an end is of the same run': {
    of: FINISH,
    without: '"run_id" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: identity,
    title: others,
  },
  'an end is of the same start': {
    of: FINISH,
    without: 'cast("started_at" as text) is ?',
    becomes: "coalesce(?, '') is not null",
    proofs: identity,
    title: others,
  },
  'an end is of the nonce of its claim': { of: FINISH, ...withoutClaim, proofs: identity, title: others },
  'an end tells when': {
    of: FINISH,
    without: /, "finished_at" = \S+ .*?(?= where)/s,
    proofs: identity,
    title: 'finishJob ends the job of a claim, and keeps who ran it',
  },
  'an end is found again by its status': {
    of: READ_FINISHED,
    without: `"status" = 'done' collate binary`,
    becomes: '1 = 1',
    proofs: identity,
    title: 'finishJob finds its own end after a lost reply, and writes it once',
  },

  'a claim takes no id that it cannot name': {
    of: CLAIM,
    without: /typeof\("id"\) = 'integer' and \+"id" between \S+ and \S+\)/,
    becomes: '1 = 1)',
    proofs: inexact,
    title: never,
  },
  'a pick takes no id that it cannot name': {
    store: countingStore,
    of: PICK,
    without: /typeof\("id"\) = 'integer' and \+"id" between \S+ and \S+\)/,
    becomes: '1 = 1)',
    proofs: inexact,
    title: never,
  },
  'a claim takes no task that it cannot name': {
    of: CLAIM,
    without: /\+"task_id" between \S+ and \d+/,
    becomes: '1 = 1',
    proofs: inexact,
    title: 'a job of a task that cannot be named is not claimed, and not taken for one without a task',
  },
  'a walk counts the running jobs that it cannot name': {
    of: RUNNING,
    without: /case when .* end as "job:readable"/s,
    becomes: '1 as "job:readable"',
    proofs: inexact,
    title: 'a job of a task that cannot be named is not claimed, and not taken for one without a task',
  },
  'a walk counts the queued jobs that it cannot name': {
    of: QUEUED,
    without: ' or page_readable = 0',
    proofs: inexact,
    title: counted,
  },
  'a walk knows how long they have run': {
    of: RUNNING,
    without: /cast\(round\(\(julianday\("started_at"\) - 2440587.5\) \* 86400000.0\) as integer\)/,
    becomes: 'null',
    proofs: inexact,
    title: counted,
  },
  'a walk goes on behind an exact id': {
    of: QUEUED,
    without: 'cast("id" as text) as "job:exact"',
    becomes: `'seven' as "job:exact"`,
    proofs: inexact,
    title: 'a walk goes on behind a page of nothing else',
  },
};

proveControls(controls);
