import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { type Finding, finding } from '../core/finding.js';
import type { IdValue } from '../core/id.js';
import { Observer } from '../core/observer.js';
import { readJudged } from '../lease-row/read-holder.js';
import { execute, type Reply, transact } from '../sql/execute.js';
import { BIG, type ProbeStatements } from '../sql/probe-statements.js';
import { readInteger, readText } from '../sql/rows.js';

/** What the probes of one check have in hand: a row that is no one's lease. */
export interface Probe {
  readonly context: Context;
  readonly statements: ProbeStatements;
  readonly scratch: { readonly taskId: IdValue; readonly claim: string };
}

type Found = Promise<Result<readonly Finding[], StoreFailure>>;

const CLAIM_ENDS = 'z';

/** A claim with a letter in it, whose other spelling is another claim. */
export const scratchClaim = (claim: string): string => `${claim}${CLAIM_ENDS}`;

/** Inserts the scratch row, and sees how the driver reports it. */
export async function insertScratch({ context, scratch }: Probe): Found {
  const { session, leases, ports, dialect } = context;
  const { pid, bootId, host, start } = ports.identity;
  const times = { ttlMs: 60_000, maxHoldMs: 60_000 };
  const row = {
    ...scratch,
    actor: 'check',
    pid,
    bootId,
    host,
    start,
    runId: null,
    stage: null,
    anyStage: true,
    ...times,
  };
  const inserted = await execute(session, leases.insert(row));
  if (inserted.isErr()) return err(inserted.error);
  const held = await readJudged(context, scratch.taskId);
  if (held.isErr()) return err(held.error);
  if (held.value?.holder.claim !== scratch.claim) return err(storeFailure(TAKEN));
  const findings: Finding[] = [];
  if (dialect.returning && inserted.value.rows.length === 0) findings.push(NO_RETURNING);
  const again = await execute(session, leases.insert({ ...row, claim: `${scratch.claim}again` }));
  if (again.isErr()) return err(again.error);
  if (again.value.rows.length > 0) findings.push(WRONG_COUNTS);
  return ok(findings);
}

const TAKEN = Object.freeze({
  kind: 'busy',
  retryable: true,
  outcome: 'not-applied',
  cause: 'another check uses the scratch row',
} as const);

/** What the driver says of statements that met a row, met it without changing it, and met none. */
export async function probeCounts({ context, statements, scratch }: Probe): Found {
  const { session, dialect } = context;
  const met = await execute(session, statements.rename({ ...scratch, actor: 'probe' }));
  if (met.isErr()) return err(met.error);
  const same = await execute(session, statements.touch(scratch));
  if (same.isErr()) return err(same.error);
  const none = await execute(session, statements.touch({ ...scratch, claim: `${scratch.claim}none` }));
  if (none.isErr()) return err(none.error);
  const findings: Finding[] = [];
  const count = ({ rows, count: counted }: Reply): bigint | undefined =>
    dialect.returning ? BigInt(rows.length) : counted;
  if (dialect.returning && [met, same].some(({ value }) => value.rows.length === 0)) findings.push(NO_RETURNING);
  if (count(met.value) === undefined || (!dialect.returning && count(met.value) === 0n)) findings.push(NO_COUNTS);
  if ((count(none.value) ?? 0n) > 0n) findings.push(WRONG_COUNTS);
  return ok(findings);
}

/** Whether text compares byte by byte, and NULL as a value. */
export async function probeComparisons({ context: { session }, statements, scratch }: Probe): Found {
  const found = async (claim: string): Promise<Result<boolean, StoreFailure>> =>
    (await execute(session, statements.find({ ...scratch, claim }))).map(({ rows }) => rows.length > 0);
  const stage = async (value: string | null): Promise<Result<boolean, StoreFailure>> =>
    (await execute(session, statements.findStage({ ...scratch, stage: value }))).map(({ rows }) => rows.length > 0);
  const findings: Finding[] = [];
  for (const other of [`${scratch.claim.slice(0, -1)}${CLAIM_ENDS.toUpperCase()}`, `${scratch.claim} `]) {
    const met = await found(other);
    if (met.isErr()) return err(met.error);
    if (met.value && findings.length === 0) findings.push(TEXT_NOT_BINARY);
  }
  const none = await stage(null);
  if (none.isErr()) return err(none.error);
  const empty = await stage('');
  if (empty.isErr()) return err(empty.error);
  if (!none.value || empty.value) findings.push(NULL_NOT_A_VALUE);
  return ok(findings);
}

/** Whether big integers and the clock are read exactly. */
export async function probeValues({ context: { session }, statements }: Probe): Found {
  const big = await execute(session, statements.big({}));
  if (big.isErr()) return err(big.error);
  const clock = await execute(session, statements.clock({}));
  if (clock.isErr()) return err(clock.error);
  const later = await execute(session, statements.clock({}));
  if (later.isErr()) return err(later.error);
  const findings: Finding[] = [];
  if (readText(big.value.rows[0]?.['big']) !== BIG) findings.push(BIG_IDS_ROUNDED);
  const [first, second] = [clock, later].map(({ value }) => readInteger(value.rows[0]?.['now_ms']));
  if (typeof first !== 'number' || typeof second !== 'number' || second < first) findings.push(CLOCK);
  return ok(findings);
}

/** Whether a transaction that is rolled back leaves nothing behind. */
export async function probeRollback({ context: { session }, statements, scratch }: Probe): Found {
  const abandoned = storeFailure({ kind: 'other', retryable: false, outcome: 'not-applied', cause: 'on purpose' });
  // A failure on purpose is not reported.
  const quiet = { ...session, observer: new Observer(undefined) };
  const rolledBack = await transact(quiet, async (inside): Promise<Result<void, StoreFailure>> => {
    const renamed = await execute(inside, statements.rename({ ...scratch, actor: 'rolled back' }), 'once');
    return renamed.isErr() ? err(renamed.error) : err(abandoned);
  });
  const message = rolledBack.isErr() ? rolledBack.error.message : '';
  const read = await execute(session, statements.find(scratch));
  if (read.isErr()) return err(read.error);
  const stands = readText(read.value.rows[0]?.['owner']) !== 'rolled back';
  return ok(stands && message === abandoned.message ? [] : [NO_ROLLBACK]);
}

const NO_RETURNING = finding(
  'no-returning',
  'error',
  'The driver gives no rows for RETURNING: the library cannot know what its statements did. Use another dialect package.',
);
const NO_COUNTS = finding(
  'no-counts',
  'error',
  'The driver does not say how many rows a statement changed: a stage write that won would be reported as lost. Use another dialect package.',
);
const WRONG_COUNTS = finding(
  'wrong-counts',
  'error',
  'The driver counts rows that a statement did not meet: a lost race would be reported as won. Use another dialect package.',
);
const TEXT_NOT_BINARY = finding(
  'text-not-binary',
  'error',
  'Text in the lease table does not compare byte by byte: two tasks could share a lease. Create the table by ensureSchema, on a server whose collations it knows.',
);
const NULL_NOT_A_VALUE = finding(
  'null-not-a-value',
  'error',
  'NULL is not distinguished from other values: a task without a stage would be mistaken for another. Check the sql_mode and the dialect.',
);
const BIG_IDS_ROUNDED = finding(
  'big-ids-rounded',
  'error',
  'An integer beyond 2^53 is not read exactly: ids of type bigint would be mistaken for others. Use another dialect package, or text ids.',
);
const CLOCK = finding(
  'clock-unreadable',
  'error',
  'The clock of the database cannot be read as growing milliseconds: no expiry could be trusted.',
);
const NO_ROLLBACK = finding(
  'no-rollback',
  'error',
  'A transaction that was rolled back left its write behind, or there are none: a stage could move without its lease. Use another dialect package.',
);
