import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { Finding } from '../core/finding.js';
import type { IdValue } from '../core/id.js';
import { boolean, optional, type RulesOf, requestOf } from '../core/request.js';
import type { Shape } from '../shape.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { probeStatements } from '../sql/probe-statements.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import {
  insertScratch,
  type Probe,
  probeComparisons,
  probeCounts,
  probeRollback,
  probeValues,
  scratchClaim,
} from './probes.js';
import { strayRows } from './stray-rows.js';

/** What a check of driver, database and settings found. */
export interface DialectReport {
  /** True if nothing was found but advice. */
  readonly ok: boolean;
  /** What was found, errors first. */
  readonly findings: readonly Finding[];
}

/** What to check. */
export interface CheckOptions {
  /** True to read the settings alone: nothing is written, and what the driver does is not probed. Default false. */
  readonly settingsOnly?: boolean | undefined;
  /**
   * True to look also for leases and effects of tasks that are not there, under `stray-rows`. Reads the ids of all tasks
   * where they are text. Default false.
   */
  readonly rows?: boolean | undefined;
}

const checkOptions = requestOf(
  { settingsOnly: optional(boolean, false), rows: optional(boolean, false) } satisfies RulesOf<CheckOptions>,
  'options',
);

/**
 * Checks that driver, database and settings keep what the library builds on: run it once at start-up, or in CI.
 *
 * On a scratch row of the lease table, which it removes, it probes what the driver says of statements that met
 * a row, changed nothing or met none, RETURNING, NULL, case and trailing spaces, big integers, the clock and a
 * rollback. It shows what the survey finds of the session and of your tables, such as commits that a power cut can take back.
 *
 * Findings are values: a wrong driver is not a failure of the check. Works under every mode. Throws `TypeError`
 * on an ownership made by `using(trx)`. Fails with `store-failure`, also before `ensureSchema`.
 *
 * @example
 * ```ts
 * import { checkDialect, toError } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const checked = await checkDialect(ownership);
 * if (checked.isErr()) throw toError(checked.error);
 * const { ok, findings } = checked.value;
 * if (!ok) throw new Error(findings.map(({ message }) => message).join('\n'));
 * ```
 */
export function checkDialect<S extends Shape>(
  ownership: TransitionOwnership<S>,
  options: CheckOptions = {},
): ResultAsync<DialectReport, StoreFailure> {
  const context = contextOf(ownership);
  if (context.session.inTransaction) {
    throw new TypeError('checkDialect needs the ownership itself, not one made by using(trx)');
  }
  return neverReject(context.session, check(context, checkOptions(options)));
}

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'advice'];

async function check(
  context: Context,
  { settingsOnly, rows }: ReturnType<typeof checkOptions>,
): Promise<Result<DialectReport, StoreFailure>> {
  const looked = await context.survey.take(context.session);
  if (looked.isErr()) return err(looked.error);
  const stray = rows ? await strayRows(context) : ok([]);
  if (stray.isErr()) return err(stray.error);
  const seen = [...looked.value, ...stray.value];
  if (settingsOnly || seen.some(({ code }) => code === 'read-only')) return ok(report(seen));
  const { session, dialect, settings, leases } = context;
  const probe: Probe = {
    context,
    statements: probeStatements(session.database, dialect, settings.leaseTable),
    scratch: newScratch(context),
  };
  const probed = await runProbes(probe);
  const removed = await execute(session, leases.release(probe.scratch));
  if (probed.isErr()) return err(probed.error);
  if (removed.isErr()) return err(removed.error);
  return ok(report([...probed.value, ...seen]));
}

/** Each finding once, errors first. */
function report(all: readonly Finding[]): DialectReport {
  const byMessage = new Map(all.map((found) => [found.message, found]));
  const findings = [...byMessage.values()].sort(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
  return Object.freeze({
    ok: findings.every(({ severity }) => severity === 'advice'),
    findings: Object.freeze(findings),
  });
}

/** A task that no one has: far below all real ids, or named for what it is. */
function newScratch({ settings, ports: { randomness } }: Context): Probe['scratch'] {
  const claim = scratchClaim(randomness.claim());
  const below = Math.floor(randomness.fraction() * 1e9);
  const ids: Readonly<Record<typeof settings.taskIdType, IdValue>> = {
    integer: Number.MIN_SAFE_INTEGER + below,
    bigint: -(2n ** 63n) + BigInt(below),
    text: `scratch row of checkDialect ${claim}`,
  };
  return { claim, taskId: ids[settings.taskIdType] };
}

async function runProbes(probe: Probe): Promise<Result<readonly Finding[], StoreFailure>> {
  const findings: Finding[] = [];
  for (const run of [insertScratch, probeCounts, probeComparisons, probeValues, probeRollback]) {
    const found = await run(probe);
    if (found.isErr()) return err(found.error);
    findings.push(...found.value);
  }
  return ok(findings);
}
