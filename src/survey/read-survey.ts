import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { TableFacts } from '../core/catalogue.js';
import type { StoreFailure } from '../core/failure.js';
import { type Finding, finding } from '../core/finding.js';
import type { Cells, SettingsNeeds } from '../dialect/looking.js';
import type { CallersTable } from '../sql/callers-table.js';
import { type ColumnsFound, columnsAsSaid } from '../sql/columns-found.js';
import { execute, type Row } from '../sql/execute.js';
import { readText } from '../sql/rows.js';
import type { Session } from '../sql/session.js';
import { LEASE_ALWAYS, tableName } from '../sql/tables.js';
import { fileSystemOf } from '../system/file-system.js';
import { elsewhereFinding, leasesBefore } from './elsewhere-finding.js';
import { type Circumstances, columnOf, judgeTable, storedTime } from './judge-table.js';
import { type WantedTable, wantedTables } from './wanted.js';

/** What one look found. */
export interface Survey {
  /** Errors first. */
  readonly findings: readonly Finding[];
  readonly columns: ColumnsFound;
  /** The path of the database file, where it is one. */
  readonly file: string | undefined;
}

/** Instants that a driver in any zone writes as others, in summer or in winter. */
const BOUND = [new Date('2026-01-15T12:00:00.000Z'), new Date('2026-07-15T12:00:00.000Z')] as const;

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'advice'];

/** Looks at the tables, the session and the driver: two statements, neither of which can break a transaction. */
export async function readSurvey(
  { dialect, settings, ports }: Pick<Context, 'dialect' | 'settings' | 'ports'>,
  session: Session,
): Promise<Result<Survey, StoreFailure>> {
  const wanted = wantedTables(settings, ports.identity);
  const before = leasesBefore(settings);
  const read = [...wanted, ...(before === undefined ? [] : [before])];
  const listed = await execute(session, dialect.catalogue.read(read).compile(session.database));
  if (listed.isErr() && (session.inTransaction || listed.error.kind !== 'schema')) return err(listed.error);
  const rows = listed.isOk() ? listed.value.rows.map(cellsOf) : [];
  const tableAt = (at: number) => dialect.catalogue.table(rows.filter((cells) => cells['at'] === String(at)));
  const tables = new Map(wanted.map(({ part }, at) => [part, tableAt(at)]));
  const facts = (part: WantedTable['part']): TableFacts | undefined => tables.get(part);
  const { tasks, jobs } = settings;
  const seen = (part: WantedTable['part'], callers: CallersTable | undefined, name: string | undefined) => {
    const table = facts(part);
    return table && callers && name !== undefined
      ? columnOf(table, callers.spelled(name), dialect.catalogue)
      : undefined;
  };
  const ofTasks = (name: string | undefined) => seen('tasks', tasks, name);
  const ofJobs = (name: string | undefined) => seen('jobs', jobs?.table, name);

  const availableAt = ofJobs(jobs?.availableAt);
  const needs: SettingsNeeds = {
    lease: settings.leaseTable,
    ttlMs: settings.timing.ttlMs,
    tokens: facts('lease')?.readable ? tableName(settings.leaseTable.schema, settings.leaseTable.table) : undefined,
    bound:
      availableAt?.holds === 'instant' || availableAt?.holds === 'local-time'
        ? { dates: BOUND, as: availableAt.holds === 'instant' ? 'instant' : 'utc' }
        : undefined,
  };
  const settled = await execute(session, dialect.settings.read(needs).compile(session.database));
  if (settled.isErr() && (session.inTransaction || !['schema', 'other'].includes(settled.error.kind)))
    return err(settled.error);
  const said = settled.isOk() ? settingsOf(settled.value.rows[0]) : {};
  const ofSession = settled.isOk() ? dialect.settings.judge(said, needs) : [UNREADABLE];

  const around: Circumstances = {
    catalogue: dialect.catalogue,
    timeFormat: settings.timeFormat,
    timeZone: settings.timeZone,
    isUtc: dialect.settings.isUtc(said),
    cutsText: ofSession.some(({ code }) => code === 'not-strict'),
  };
  const ofTables = listed.isOk()
    ? wanted.flatMap((table) => {
        const isElsewhere = table.part === 'lease' && facts('lease') === undefined && isLease(tableAt(wanted.length));
        return isElsewhere ? [elsewhereFinding(settings.leaseTable)] : judgeTable(table, facts(table.part), around);
      })
    : [CANNOT_LOOK];
  const findings = [...ofTables, ...ofSession, ...judgeDriver(said, needs)];
  const stage = ofTasks(settings.stageColumn);
  const key = ofTasks(settings.idColumn);
  return ok({
    findings: Object.freeze(findings.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))),
    columns: listed.isErr()
      ? columnsAsSaid(settings.timeFormat)
      : {
          times: {
            updatedAt: storedTime(ofTasks(settings.updatedAtColumn), around),
            startedAt: storedTime(ofJobs(jobs?.startedAt), around),
            finishedAt: storedTime(ofJobs(jobs?.finishedAt), around),
            availableAt: storedTime(availableAt, around),
          },
          uniqueTasks: key?.unique ?? true,
          uniqueJobs: ofJobs(jobs?.id)?.unique ?? true,
          tokensBehind: findings.some(({ code }) => code === 'identity-behind'),
          idHolds: key?.holds ?? null,
          idLabels: key?.holds === 'enum' ? key.labels : null,
          stageRoom: stage?.room ?? null,
          stageLabels: stage?.holds === 'enum' ? stage.labels : null,
        },
    file: said['file'] || undefined,
  });
}

const isLease = (facts: TableFacts | undefined): boolean =>
  facts !== undefined && LEASE_ALWAYS.every((wanted) => facts.columns.some(({ name }) => name === wanted));

function settingsOf(row: Row | undefined): Cells {
  const said = cellsOf(row ?? {});
  const { file } = said;
  return file ? { ...said, ['file_system']: fileSystemOf(file) ?? undefined } : said;
}

function cellsOf(row: Row): Cells {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readText(value) ?? undefined]));
}

/** Whether the driver writes a `Date` as the instant that it is. */
function judgeDriver(said: Cells, { bound }: SettingsNeeds): readonly Finding[] {
  if (bound === undefined) return [];
  const read = [said['bound_one'], said['bound_other']];
  const isSame = bound.dates.every((date, at) => read[at] === undefined || Number(read[at]) === date.getTime());
  return isSame ? [] : [DRIVER_ZONE];
}

const CANNOT_LOOK = finding(
  'cannot-look',
  'warning',
  'This user of the database may not look at the catalogue: see for yourself that the tables are as the options say.',
);
const UNREADABLE = finding(
  'settings-unreadable',
  'advice',
  'The settings of the session cannot be read here: see for yourself that its commits are durable.',
);
const DRIVER_ZONE = finding(
  'driver-zone',
  'warning',
  "The driver writes a Date as another instant, and jobs would be due too early or too late: set its time zone to UTC (mysql2: timezone 'Z').",
);
