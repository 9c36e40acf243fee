import type { ColumnFacts, TableFacts } from '../core/catalogue.js';
import { type Finding, type FindingCode, type FindingSeverity, finding } from '../core/finding.js';
import { characters, inspectValue } from '../core/inspect-value.js';
import type { StoredTime, TimeFormat } from '../dialect/dialect.js';
import type { Catalogue } from '../dialect/looking.js';
import type { WantedColumn, WantedTable } from './wanted.js';

/** What a judgement goes by besides the tables. */
export interface Circumstances {
  readonly catalogue: Catalogue;
  readonly timeFormat: TimeFormat;
  readonly timeZone: 'UTC' | 'session' | undefined;
  /** True if the session that was looked at is at UTC. */
  readonly isUtc: boolean;
  /** True if the session cuts text that does not fit. */
  readonly cutsText: boolean;
}

type Report = (code: FindingCode, severity: FindingSeverity, message: string) => void;

/** Everything that is wrong, or is worth a word, with a table. */
export function judgeTable(
  wanted: WantedTable,
  facts: TableFacts | undefined,
  around: Circumstances,
): readonly Finding[] {
  const found: Finding[] = [];
  const report: Report = (code, severity, message) => found.push(finding(code, severity, message, wanted.name));
  const name = inspectValue(wanted.name);
  const mend = wanted.isOwn ? 'call ensureSchema' : 'create it, or name the right one in the options';
  if (facts === undefined) {
    report('table-missing', 'error', `There is no table ${name} that this session can see: ${mend}.`);
    return found;
  }
  const { engine, trigger } = facts;
  if (engine !== null && !/^innodb$/i.test(engine)) {
    report(
      'no-row-locks',
      'error',
      `The table ${name} has the engine ${engine}, without transactions: convert it to InnoDB.`,
    );
  }
  if (!facts.writable)
    report('id-not-unique', 'error', `${name} is a view that cannot be written: name the table behind it.`);
  if (trigger !== null && !wanted.isOwn) {
    report(
      'trigger-unseen',
      'advice',
      `The trigger ${trigger} runs with each update of ${name}: what it rewrites is not seen.`,
    );
  }
  for (const column of wanted.columns) {
    const seen = columnOf(facts, column.name, around.catalogue);
    if (seen === undefined) {
      report('column-missing', 'error', `The table ${name} has no column ${inspectValue(column.name)}: ${mend}.`);
    } else {
      judgeColumn(wanted, column, seen, { ...around, report });
      if (column.isKey && !seen.unique && facts.writable) judgeKey(wanted, column, report);
    }
  }
  return found;
}

/** A column by its name, in capitals or not where names are folded. */
export function columnOf(
  { columns }: TableFacts,
  name: string,
  { foldsNames }: Pick<Catalogue, 'foldsNames'>,
): ColumnFacts | undefined {
  const folded = (text: string): string => (foldsNames ? text.toLowerCase() : text);
  return columns.find((column) => folded(column.name) === folded(name));
}

function judgeKey({ name, isOwn }: WantedTable, column: WantedColumn, report: Report): void {
  const what = `No unique index of ${inspectValue(name)} is on ${inspectValue(column.name)} alone`;
  if (isOwn)
    report('id-not-unique', 'error', `${what}, so that two could hold one task: create the table by ensureSchema.`);
  else {
    report(
      'id-not-unique',
      'warning',
      `${what}: each write takes a transaction that demands exactly one row. Create one if the ids are unique.`,
    );
  }
}

function judgeColumn(
  { name, part }: WantedTable,
  wanted: WantedColumn,
  seen: ColumnFacts,
  { report, ...around }: Circumstances & { readonly report: Report },
): void {
  const { written = false, cleared = false, values = [], time, idType } = wanted;
  const column = `The column ${inspectValue(`${name}.${wanted.name}`)}`;
  if (idType !== undefined) {
    const isText = seen.holds !== 'number' && seen.holds !== 'other';
    if (idType === 'text' ? seen.holds === 'number' : isText) {
      const code = idType === 'text' ? around.catalogue.idTypeCode : 'id-type';
      // Elsewhere text that looks like no number stays what it is.
      if (code !== 'id-affinity' || part === 'tasks')
        report(
          code,
          'error',
          `${column} is ${inspectValue(seen.type)}, and ids are said to be ${idType}: say its own type in the options, or change the column.`,
        );
    }
  }
  if (written && seen.generated)
    report('generated-column', 'error', `${column} is computed by the database and cannot be written: name another.`);
  if (cleared && seen.notNull)
    report('not-null-cleared', 'error', `${column} is cleared with a run and is NOT NULL: let it be null.`);
  if (written && seen.holds === 'enum' && around.cutsText) {
    report(
      'not-strict',
      'error',
      `${column} is an enumeration, and the sql_mode empties what it does not know: add STRICT_TRANS_TABLES.`,
    );
  }
  if (seen.holds === 'enum') {
    const lacking = values.find((value) => !seen.labels.includes(value));
    if (lacking !== undefined)
      report('enum-lacks', 'error', `${column} is an enumeration without ${inspectValue(lacking)}: add it.`);
  }
  const { room } = seen;
  if (room !== null) {
    const longest = Math.max(0, ...values.map((value) => characters(value)));
    if (longest > room)
      report(
        'text-too-short',
        'error',
        `${column} takes ${room} characters, and ${longest} are written: make it longer.`,
      );
    else if ((wanted.most ?? 0) > room)
      report(
        'text-too-short',
        'warning',
        `${column} takes ${room} characters, and other hosts may write ${String(wanted.most)}: make it longer.`,
      );
  }
  if (time !== undefined) judgeTime(column, seen, { report, isCoarse: wanted.coarse === true, ...around });
}

function judgeTime(
  column: string,
  seen: ColumnFacts,
  { report, isCoarse, ...around }: Circumstances & { readonly report: Report; readonly isCoarse: boolean },
): void {
  if (seen.holds === 'date')
    report(
      'date-for-instant',
      'error',
      `${column} is ${inspectValue(seen.type)} and cannot hold an instant: make it a timestamp.`,
    );
  if (isZoneLess(seen, around) && !around.isUtc && around.timeZone === undefined) {
    report(
      'zone-less-column',
      'error',
      `${column} has no time zone, and the session is not at UTC: say timeZone 'UTC' (or 'session' for the zone of each session), or make it a timestamptz.`,
    );
  }
  const isTyped = seen.holds === 'instant' || seen.holds === 'local-time';
  if (!isCoarse && (isTyped ? (seen.digits ?? 3) < 3 : around.timeFormat === 'sqlite-seconds')) {
    report(
      'coarse-time',
      'warning',
      `${column} keeps less than milliseconds: two claims of a job within one of its ticks cannot be distinguished by it: map jobs.claim.`,
    );
  }
}

const isZoneLess = ({ holds }: ColumnFacts, { catalogue }: Pick<Circumstances, 'catalogue'>): boolean =>
  holds === 'local-time' && catalogue.localTimes === 'session';

/** How a time column is written and read: by its type, where that stands for instants. */
export function storedTime(seen: ColumnFacts | undefined, around: Circumstances): StoredTime {
  if (seen?.holds === 'instant') return 'instant';
  if (seen?.holds !== 'local-time') return around.timeFormat;
  if (!isZoneLess(seen, around)) return 'utc';
  const isUtc = around.timeZone === undefined ? around.isUtc : around.timeZone === 'UTC';
  return isUtc ? 'utc' : 'native';
}
