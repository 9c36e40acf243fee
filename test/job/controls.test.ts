import { claiming } from './claiming.js';
import { type Control, proveControls } from './control.js';
import { reaping } from './reaping.js';
import { returning } from './returning.js';
import { sanitizing } from './sanitizing.js';
import { countingStore, mysqlStore, postgresStore } from './stores.js';

const CLAIM = /^update "jobs".* "status" = 'running'/s;
const PICK = /^select "id" as "job:id" from "jobs"/;
const STAMP = /^update "jobs" set "run_id" = \?/;
const MOVE = /^update "jobs" set .* where "id" = \(select "id" from "jobs" where "id" = \?/s;
const RESET = /^update "jobs" set .*"id" in \(select/s;
const LOCK = /^select .* from "jobs" where \("id" = \?/;
const TOGETHER = /^select .* from "jobs" where "id" in \(/;
const QUEUED = /^with "job:page"/;
const RUNNING = /^select \*.* where "status" = 'running'/s;
const COUNT = / as impossible from/;

const inStatus = (status: string) => `"status" = '${status}' collate binary`;
const moved = 'claimNextJob moves a job from queued to running, clears what a former run left, and starts it now';
const superseded = 'stampRunOwnership is superseded by a cancelled, a finished and a stamped job';
const anotherRun = 'a tick leaves a job alone that another run has by now';
const changed = 'sanitizeImpossibleQueued leaves a job alone that changed since it was found';
const changedAlone = 'sanitizeImpossibleQueued one by one leaves a job alone that changed since it was found';
const seen = 'resetRunOwnership skips a job that has another status, run or pid than was seen';
const standing = 'sanitizeImpossibleQueued skips a job that stands in the way of all, and repairs the rest';
const cleared = 'resetRunOwnership clears the whole run ownership in the same statement as the status';
const many = 'resetRunOwnership takes many jobs in one UPDATE, and tells which of them it returned';
const mixed = 'sanitizeImpossibleQueued repairs every impossible job, and tells what each carried';
const alone = 'a run alone, a pid alone and a start alone each make a queued job impossible';
const pages = 'sanitizeImpossibleQueued finds all across pages, however small, without a look at the same page twice';
const runColumns = ['run_id', 'pid', 'started_at', 'finished_at', 'host', 'pid_start', 'worker_id'] as const;

const controls: Record<string, Control> = {
  'a claim takes queued jobs': {
    of: CLAIM,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: claiming,
    title: 'claimNextJob answers null when no job is queued, and changes no other',
  },
  'a pick takes queued jobs': {
    store: countingStore,
    of: PICK,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: claiming,
    title: 'claimNextJob answers null when no job is queued, and changes no other',
  },
  'a claim takes due jobs': {
    of: CLAIM,
    without: /<= \(select now_ms from wall\)/,
    becomes: 'is not null',
    proofs: claiming,
    title: 'claimNextJob passes over a job that is not due, by the clock of the database',
  },
  'a claim takes jobs without a date': {
    of: CLAIM,
    without: '"available_at" is null or',
    proofs: claiming,
    title: 'claimNextJob takes the least id by default, and one job at a time',
  },
  'a claim takes due jobs at the instant itself': {
    of: CLAIM,
    without: '<= (select now_ms from wall)',
    becomes: '< (select now_ms from wall)',
    proofs: claiming,
    title: 'claimNextJob passes over a job that is not due, by the clock of the database',
  },
  'a claim orders': {
    of: CLAIM,
    without: /order by .* limit/,
    becomes: 'limit',
    proofs: claiming,
    title: 'claimNextJob orders as asked, and by the least id where that leaves it open',
  },
  'a claim orders by the least id': {
    of: CLAIM,
    without: 'order by "id" asc',
    becomes: 'order by "id" desc',
    proofs: claiming,
    title: 'claimNextJob takes the least id by default, and one job at a time',
  },
  'a claim takes one job': {
    of: CLAIM,
    without: /"id" = \(select "id"(.*) limit 1/s,
    becomes: '"id" in (select "id"$1',
    proofs: claiming,
    title: 'claimNextJob takes the least id by default, and one job at a time',
  },
  'a claim asks the conditions of the caller': {
    of: CLAIM,
    without: 'and "kind" is null',
    proofs: claiming,
    title: 'claimNextJob takes only what its conditions match, and null is a value',
  },
  'a claim by a locked row takes that row': {
    store: countingStore,
    of: /^update.*where "id" = \?$/s,
    without: 'where "id" = ?',
    becomes: 'where ? > 0',
    proofs: claiming,
    title: 'claimNextJob takes the least id by default, and one job at a time',
  },
  'a claim starts now': {
    of: CLAIM,
    without: /strftime\([^)]*\)[^)]*\)/,
    becomes: 'null',
    proofs: claiming,
    title: moved,
  },
  'a claim lets the expressions of the caller see the row as it was': {
    store: mysqlStore,
    of: /^update `jobs` set/,
    without: /set (.*), (`status` = 'running')/s,
    becomes: 'set $2, $1',
    proofs: claiming,
    title: 'claimNextJob charges the attempt in the claim itself, from the row as it was',
  },
  ...Object.fromEntries(
    runColumns
      .filter((column) => column !== 'started_at')
      .map((column) => [
        `a claim clears ${column}`,
        { of: CLAIM, without: `, "${column}" = null`, proofs: claiming, title: moved },
      ]),
  ),

  'a stamp is of one job': {
    of: STAMP,
    without: '"id" = ?',
    becomes: '? > 0',
    proofs: claiming,
    title: 'stampRunOwnership writes the run of a claimed job, with the host and the start mark of its pid',
  },
  'a stamp is of a running job': {
    of: STAMP,
    without: inStatus('running'),
    becomes: '1 = 1',
    proofs: claiming,
    title: superseded,
  },
  'a stamp is of a job without a run': {
    of: STAMP,
    without: '"run_id" is null',
    becomes: '1 = 1',
    proofs: claiming,
    title: superseded,
  },
  'a stamp is of a job without a pid': {
    of: STAMP,
    without: '"pid" is null',
    becomes: '1 = 1',
    proofs: claiming,
    title: superseded,
  },
  'a stamp is of the same claim': {
    of: STAMP,
    without: 'cast("started_at" as text) is ?',
    becomes: "coalesce(?, '') is not null",
    proofs: claiming,
    title: 'stampRunOwnership is superseded once the job was claimed again, and writes nothing',
  },

  'a reap is of one job': {
    of: MOVE,
    without: '"id" = ?',
    becomes: '? > 0',
    proofs: reaping,
    title: 'a tick asks onDead for each job: to requeue, to fail, to park with more columns, or to leave it',
  },
  'a reap is of a running job': {
    of: MOVE,
    without: inStatus('running'),
    becomes: '1 = 1',
    proofs: reaping,
    title: 'a tick leaves a job alone that finished while it looked',
  },
  'a reap is of the same run': {
    of: MOVE,
    without: '"run_id" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: reaping,
    title: anotherRun,
  },
  'a reap is of the same pid': {
    of: MOVE,
    without: '"pid" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: reaping,
    title: anotherRun,
  },
  'a reap is of the same claim': {
    of: MOVE,
    without: 'cast("started_at" as text) is ?',
    becomes: "coalesce(?, '') is not null",
    proofs: reaping,
    title: anotherRun,
  },
  'a repair is of a queued job': {
    of: MOVE,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: sanitizing,
    title: changedAlone,
  },
  'a repair is of the same run': {
    of: MOVE,
    without: '"run_id" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: sanitizing,
    title: changedAlone,
  },
  'a repair is of the same pid': {
    of: MOVE,
    without: '"pid" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: sanitizing,
    title: changedAlone,
  },
  'a repair is of the same start': {
    of: MOVE,
    without: 'cast("started_at" as text) is ?',
    becomes: "coalesce(?, '') is not null",
    proofs: sanitizing,
    title: changedAlone,
  },
  'null is a value of a run': {
    of: MOVE,
    without: '"run_id" is ?',
    becomes: '"run_id" = ?',
    proofs: sanitizing,
    title: standing,
  },
  'null is a value of a pid': {
    of: MOVE,
    without: '"pid" is ?',
    becomes: '"pid" = ?',
    proofs: sanitizing,
    title: standing,
  },
  'null is a value of a start': {
    of: MOVE,
    without: 'as text) is ?',
    becomes: 'as text) = ?',
    proofs: sanitizing,
    title: standing,
  },
  'a repair of many is of queued jobs': {
    of: TOGETHER,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: sanitizing,
    title: changed,
  },
  'a repair of many compares the run': {
    of: TOGETHER,
    without: '"run_id" as "job:run"',
    becomes: '7 as "job:run"',
    proofs: sanitizing,
    title: changed,
  },
  'a repair of many compares the pid': {
    of: TOGETHER,
    without: '"pid" as "job:pid"',
    becomes: '77 as "job:pid"',
    proofs: sanitizing,
    title: changed,
  },
  'a repair of many compares the start': {
    of: TOGETHER,
    without: 'cast("started_at" as text) as "job:started"',
    becomes: `'2026-01-02 03:04:05.678' as "job:started"`,
    proofs: sanitizing,
    title: changed,
  },
  'a repair of many is of those jobs': {
    of: /^update "jobs" set .* where "id" in \(\?/s,
    without: /where "id" in \(.*\)$/,
    becomes: 'where coalesce(?, 0) > 0',
    proofs: sanitizing,
    title: changed,
  },
  ...Object.fromEntries(
    runColumns.map((column) => [
      `a reap clears ${column}`,
      {
        of: MOVE,
        without: `, "${column}" = null`,
        proofs: column === 'finished_at' ? returning : reaping,
        title:
          column === 'finished_at'
            ? 'requeueRunningJobs of all returns every running job and no other'
            : 'a tick reaps a job whose process was dead at deadTicks ticks in a row and for finalizeGraceMs',
      },
    ]),
  ),
  'a failure tells its end': {
    of: MOVE,
    without: /, "finished_at" = strftime\([^)]*\)[^)]*\)/,
    proofs: reaping,
    title: 'a tick fails a job when told to, and keeps the record of its run',
  },

  'a reset is of the jobs that were named': {
    of: RESET,
    without: /\("id" = \?[^)]*\)/,
    becomes: '(coalesce(?, ?, ?, ?) > 0)',
    proofs: returning,
    title: many,
  },
  'a reset is of jobs in that status': {
    of: RESET,
    without: inStatus('running'),
    becomes: '1 = 1',
    proofs: returning,
    title: seen,
  },
  'a reset is of jobs with that run': {
    of: RESET,
    without: '"run_id" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: returning,
    title: seen,
  },
  'a reset is of jobs with that pid': {
    of: RESET,
    without: '"pid" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: returning,
    title: seen,
  },
  'null is a value of what a reset expects': {
    of: RESET,
    without: '"run_id" is ?',
    becomes: '"run_id" = ?',
    proofs: returning,
    title: seen,
  },
  'a reset by locked rows is of jobs in that status': {
    store: countingStore,
    of: LOCK,
    without: inStatus('running'),
    becomes: '1 = 1',
    proofs: returning,
    title: seen,
  },
  'a reset by locked rows is of jobs with that run': {
    store: countingStore,
    of: LOCK,
    without: '"run_id" is ?',
    becomes: 'coalesce(?, 0) is not null',
    proofs: returning,
    title: seen,
  },
  'a reset by locked rows takes those rows': {
    store: countingStore,
    of: /^update.*where "id" in \(\?/s,
    without: /where "id" in \(.*\)$/,
    becomes: 'where coalesce(?, ?) > 0',
    proofs: returning,
    title: many,
  },
  ...Object.fromEntries(
    runColumns.map((column) => [
      `a reset clears ${column}`,
      { of: RESET, without: `, "${column}" = null`, proofs: returning, title: cleared },
    ]),
  ),
  'a reset changes the status': {
    of: RESET,
    without: `set "status" = 'queued', `,
    becomes: 'set ',
    proofs: returning,
    title: cleared,
  },

  'a page is of queued jobs': {
    of: QUEUED,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: sanitizing,
    title: mixed,
  },
  'a page begins behind the last one': {
    of: QUEUED,
    without: '"id" > ?',
    becomes: '"id" >= ?',
    proofs: sanitizing,
    title: pages,
  },
  'a page is in the order of ids': {
    of: QUEUED,
    without: 'order by "id" limit',
    becomes: 'order by "id" desc limit',
    proofs: sanitizing,
    title: pages,
  },
  'a page tells where it ends even if that job is sound': {
    of: QUEUED,
    without: /or page_key = \(.*?\)/,
    proofs: sanitizing,
    title: pages,
  },
  'a page tells how long it is': {
    of: QUEUED,
    without: '(select count(*) from "job:page")',
    becomes: '1',
    proofs: sanitizing,
    title: pages,
  },
  'a run makes a queued job impossible': {
    of: QUEUED,
    without: '"run_id" is not null or',
    proofs: sanitizing,
    title: alone,
  },
  'a pid makes a queued job impossible': {
    of: QUEUED,
    without: '"pid" is not null or',
    proofs: sanitizing,
    title: mixed,
  },
  'a start makes a queued job impossible': {
    of: QUEUED,
    without: 'or "started_at" is not null',
    proofs: sanitizing,
    title: mixed,
  },
  'a reaper looks at running jobs': {
    of: RUNNING,
    without: inStatus('running'),
    becomes: '1 = 1',
    proofs: reaping,
    title: 'a tick never looks at a queued job, however long it waits',
  },
  'a count is of queued jobs': {
    of: COUNT,
    without: inStatus('queued'),
    becomes: '1 = 1',
    proofs: sanitizing,
    title: 'snapshot counts the impossible jobs as they are now, under every mode',
  },
  'a count is of impossible jobs': {
    of: COUNT,
    without: 'case when found then 1 else 0 end',
    becomes: '1',
    proofs: sanitizing,
    title: 'snapshot counts the impossible jobs as they are now, under every mode',
  },

  'claimers pass over what another has locked': {
    store: postgresStore,
    of: /^update "jobs".*limit 1/s,
    without: 'for update skip locked',
    proofs: claiming,
    title: 'claimNextJob lets each of many claimers at once take a job of its own',
  },
  'claimers lock what they pick': {
    store: mysqlStore,
    of: /limit 1 for update skip locked$/,
    without: 'for update skip locked',
    proofs: claiming,
    title: 'claimNextJob lets each of many claimers at once take a job of its own',
  },
};

proveControls(controls);
