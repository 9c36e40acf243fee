/** A statement with one thing changed. */
export interface SqlMutant {
  /** The statement as it was. */
  readonly sql: string;
  /** What was changed, in words. */
  readonly change: string;
  /** The statement as it is now. */
  readonly mutated: string;
}

/**
 * Changes one thing of a statement at a time: drops a condition, shifts or turns a comparison, drops an `exists`, an
 * `on conflict`, an increment, an assignment. Parameters keep their places, so a dropped condition becomes
 * `(condition or 1 = 1)`.
 */
export function mutantsOf(sql: string): SqlMutant[] {
  const mutants = new Map<string, SqlMutant>();
  for (const { change, mutated } of changes(sql)) {
    if (mutated !== sql && !mutants.has(mutated)) mutants.set(mutated, { sql, change, mutated });
  }
  return [...mutants.values()];
}

interface Changed {
  readonly change: string;
  readonly mutated: string;
}

const name = String.raw`(?:["\`]?\w+["\`]?\.)?["\`]?\w+["\`]?`;
const comparison = new RegExp(
  String.raw`(${name})\s*(<=|>=|<>|!=|=|<|>|(?<=\s)is(?=\s))\s*(\?|\$\d+|-?\d+|'[^']*'|@\w+|${name}(?:\(\))?)`,
  'g',
);
const turned: Readonly<Record<string, readonly string[]>> = {
  '<=': ['<', '>='],
  '<': ['<=', '>'],
  '>=': ['>', '<='],
  '>': ['>=', '<'],
  '=': ['<>'],
  '<>': ['='],
  '!=': ['='],
  is: ['is not'],
};

function* changes(sql: string): Iterable<Changed> {
  yield* comparisons(sql);
  yield* existences(sql);
  for (const found of sql.matchAll(/\+\s*1\b/g)) yield replaced(sql, found, { by: '+ 0', change: 'does not count up' });
  const conflict = /\s*on conflict(\s*\([^)]*\))? do nothing/i.exec(sql);
  if (conflict !== null) yield replaced(sql, conflict, { by: '', change: 'drops on conflict' });
  for (const found of sql.matchAll(/(["`]?\w+["`]?)\s*=\s*excluded\.(["`]?\w+["`]?)/gi)) {
    yield replaced(sql, found, { by: `${found[1]} = ${found[1]}`, change: `keeps the old ${found[1]}` });
  }
}

function* comparisons(sql: string): Iterable<Changed> {
  for (const found of sql.matchAll(comparison)) {
    if (!isCondition(sql, found.index)) continue;
    const [all, left = '', operator = '', right = ''] = found;
    yield replaced(sql, found, { by: `(${all} or 1 = 1)`, change: `drops «${all}»` });
    for (const other of turned[operator] ?? []) {
      yield replaced(sql, found, {
        by: `${left} ${other} ${right}`,
        change: `«${operator}» becomes «${other}» in «${all}»`,
      });
    }
  }
}

function* existences(sql: string): Iterable<Changed> {
  for (const found of sql.matchAll(/\b(not\s+)?exists\s*\(/gi)) {
    const end = closingAfter(sql, found.index + found[0].length);
    const all = sql.slice(found.index, end);
    yield { change: `drops ${found[0]}…)`, mutated: `${sql.slice(0, found.index)}(${all} or 1 = 1)${sql.slice(end)}` };
  }
}

/** Where the bracket that is open at a place is closed. */
function closingAfter(sql: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < sql.length && depth > 0; at++) depth += sql[at] === '(' ? 1 : sql[at] === ')' ? -1 : 0;
  return at;
}

/** Whether a place belongs to a condition and not to the list of assignments. */
function isCondition(sql: string, at: number): boolean {
  const before = sql.slice(0, at).toLowerCase();
  return before.lastIndexOf('where') > before.lastIndexOf(' set ');
}

function replaced(
  sql: string,
  found: RegExpExecArray,
  { by, change }: { readonly by: string; readonly change: string },
): Changed {
  return { change, mutated: sql.slice(0, found.index) + by + sql.slice(found.index + found[0].length) };
}
