import { sqliteDialect } from 'transition-ownership';
import { countingDialect } from '../rig/proofs.js';
import { acquisitions, databases, leases, type Statements, schema, stages } from '../sql/compiled.js';

/** One statement with one of its parts broken. */
export interface Mutant {
  readonly mutant: string;
  /** Breaks the statement on its way to the database, and leaves all others alone. */
  readonly mutate: (text: string) => string;
}

/** A way to break a statement: each match, by what stands in its place. */
type Operator = readonly [name: string, part: RegExp, broken: (part: string) => string];

const alwaysTrue = (condition: string): string => `(${condition} or 1 = 1)`;

/** What a WHERE can lose, and what can be turned around in it and after it. */
const inTail: readonly Operator[] = [
  ['without', /not exists \((?:[^()]|\([^()]*\))*\)/g, alwaysTrue],
  ['without', /(?<!not )exists \([^)]*\)/g, alwaysTrue],
  ['without', /(?:task\.)?(?:"[a-z_]+"|expires_ms) (?:=|is) \?(?: collate binary)?/g, alwaysTrue],
  ['without', /"[a-z_]+" in \(select value from json_each\(\?\)\)/g, alwaysTrue],
  ['without', /expires_ms > cast\(.*?\) \+ 2 \* ttl_ms/gs, alwaysTrue],
  ['one further on', /fencing_token > \?/g, (after) => `${after} + 1`],
  ['without', /given\.position = found\.position/g, alwaysTrue],
  ['without', /\(given\.any_stage = 1 or [^()]*\)/g, alwaysTrue],
  ['without', /task\."id" = listed\.value/g, alwaysTrue],
  ['without', / collate binary/g, () => ''],
  ['upside down', /order by [a-z_.]+/g, (order) => `${order} desc`],
  ['without', /limit \?/g, (limit) => `${limit} + 1000`],
  ['without', / returning .*$/g, () => ''],
];

/** What can be broken in the values that a statement writes, or in the table that it makes. */
const inHead: readonly Operator[] = [
  ['the greater for', /min\(/g, () => 'max('],
  ['minus for', / \+ (?!1)/g, () => ' - '],
  [
    'without',
    /"updated_at" = strftime\('[^']*', cast\(.*? as integer\) \/ 1000\.0, 'unixepoch'\)/g,
    () => '"updated_at" = "updated_at"',
  ],
  ['without', / autoincrement/g, () => ''],
  ['without', /, unique \("task_id"\)/g, () => ''],
];

/** Of statements on text ids only what is said of the id differs from those on integers. */
const TOLD_BY_OTHER_IDS = /of text ids: (?!without "id" = \?|without not exists … \(2\)$)/;

/** Every way to break every statement of our own on leases and stages, on SQLite. */
export function allMutants(): readonly Mutant[] {
  const database = databases.find(([dialect]) => dialect === sqliteDialect)?.[1];
  if (database === undefined) throw new Error('SQLite is one of the databases');
  const all: Statements = {
    ...ofOneConnection(leases(sqliteDialect, database)),
    // Where INSERT gives no rows, it does not look at the task.
    ...pick(leases(countingDialect, database), 'insert', 'insertMany'),
    ...pick(acquisitions(sqliteDialect, database), 'take', 'take in any stage', 'takeMany', 'find', 'findMany'),
    ...pick(acquisitions(sqliteDialect, database, 'text'), 'sought holder', 'sought holders'),
    ...stages(sqliteDialect, database),
    ...ofTextIds(stages(sqliteDialect, database, 'text')),
    create: schema(sqliteDialect, database)['create'] ?? [],
  };
  const seen = new Set<string>();
  return Object.entries(all).flatMap(([name, compiled]) =>
    compiled.flatMap(({ sql: text }) => {
      if (seen.has(text)) return []; // the same statement under another name
      seen.add(text);
      return mutantsOf(name, text).filter(({ mutant }) => !TOLD_BY_OTHER_IDS.test(mutant));
    }),
  );
}

/** Without those that are sent to servers alone, where test/servers has what they promise. */
function ofOneConnection({ discard: _, findUnlocked: __, ...statements }: Statements): Statements {
  return statements;
}

function pick(statements: Statements, ...names: readonly string[]): Statements {
  return Object.fromEntries(names.map((name) => [name, statements[name] ?? []]));
}

function ofTextIds(statements: Statements): Statements {
  return Object.fromEntries(Object.entries(statements).map(([name, compiled]) => [`${name} of text ids`, compiled]));
}

function mutantsOf(name: string, text: string): Mutant[] {
  const at = text.search(/ where | order by /);
  const [head, tail] = at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at)];
  const kind = text.slice(0, text.indexOf('"', text.indexOf('"') + 1));
  // The columns that a stage write sets vary; what follows them does not.
  const tails = broken(tail, inTail).map(({ what, whole }) => ({
    what,
    mutate: (sent: string) =>
      sent.startsWith(kind) && sent.endsWith(tail) ? sent.slice(0, -tail.length) + whole : sent,
  }));
  const heads = broken(head, inHead).map(({ what, part, stead, nth }) => ({
    what,
    mutate: (sent: string) =>
      sent.startsWith(kind) && sent.endsWith(tail) ? replaceNth(sent, { part, stead, nth }) : sent,
  }));
  return [...heads, ...tails].map(({ what, mutate }, index, others) => {
    const same = others.slice(0, index).filter((other) => other.what === what).length;
    return { mutant: `${name}: ${what}${same === 0 ? '' : ` (${same + 1})`}`, mutate };
  });
}

interface Broken {
  readonly what: string;
  readonly whole: string;
  readonly part: string;
  readonly stead: string;
  readonly nth: number;
}

function broken(text: string, operators: readonly Operator[]): Broken[] {
  return operators.flatMap(([name, pattern, stead]) =>
    [...text.matchAll(pattern)].map(({ 0: part, index }) => ({
      what: `${name} ${part.trim().replace(/(?<=^returning|^exists|^not exists|^"updated_at" =) .*/s, ' …')}`,
      whole: text.slice(0, index) + stead(part) + text.slice(index + part.length),
      part,
      stead: stead(part),
      nth: text.slice(0, index).split(part).length - 1,
    })),
  );
}

function replaceNth(text: string, { part, stead, nth }: Pick<Broken, 'part' | 'stead' | 'nth'>): string {
  const pieces = text.split(part);
  return pieces.length <= nth + 1
    ? text
    : pieces.slice(0, nth + 1).join(part) + stead + pieces.slice(nth + 1).join(part);
}
