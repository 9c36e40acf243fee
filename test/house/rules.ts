import ts from 'typescript';
import type { Source } from './source.js';

/** What a rule says of a file: one line for each breach. */
export type Rule = (source: Source) => string[];

/** The units of `src/`, lowest first. A file imports its own unit and lower layers; the units of one layer never meet. */
const layers = [
  ['core'],
  ['shape.ts'],
  ['port'],
  ['dialect', 'system', 'holding'],
  ['sql'],
  ['context.ts', 'sqlite', 'postgres'],
  ['node-sqlite'],
  ['transition-ownership.ts'],
  ['migrations'],
  ['survey'],
  ['lease-row'],
  ['lease', 'stage', 'job', 'effect', 'schema'],
  ['transition', 'recovery'],
  ['tasks-option.ts'],
  ['options.ts'],
  ['settings.ts'],
  ['ownership.ts'],
  ['index.ts'],
  ['testing', 'cli', 'opentelemetry', 'http'],
];

/**
 * The edges see the library as its users do: by its entry points. What else one of them may reach stands here: `core`
 * for the checker of requests, which is the same for all entries, and `context.ts` for the observer, whom `http` follows.
 */
const edges: Readonly<Record<string, readonly string[]>> = {
  testing: ['index.ts', 'migrations', 'sqlite', 'port', 'system', 'core'],
  cli: ['index.ts', 'core', 'http', 'sqlite', 'testing'],
  opentelemetry: ['index.ts', 'core'],
  http: ['index.ts', 'core', 'context.ts'],
};

const verbs = ['survey', 'lease-row', 'lease', 'stage', 'job', 'effect', 'schema', 'transition', 'recovery'];
const drivers = ['better-sqlite3', 'pg', 'postgres', 'mysql2'];
const timeAndChance = /^(?:Date\.now|performance\.now|Math\.random|(?:globalThis\.)?crypto\.\w+)$/;
const timers = ['setTimeout', 'setInterval', 'setImmediate'];
const vagueNames = ['utils', 'helpers', 'common', 'types', 'constants', 'manager', 'service', 'misc'];
/** Units whose types are made from the caller's `DB`: they may name Kysely's types, not run its code. */
const typedByKysely = ['shape.ts', 'tasks-option.ts', 'options.ts'];
const longestFile = 200;

export const layersPointDown: Rule = ({ unit, imports }) => {
  if (unit === null) return [];
  const own = layerOf(unit);
  if (own === -1) return [`${unit} has no place in the layers of test/house/rules.ts`];
  return imports.flatMap(({ unit: reached, from }) => {
    if (reached === null || reached === unit) return [];
    const allowed = edges[unit]?.includes(reached) ?? (layerOf(reached) !== -1 && layerOf(reached) < own);
    return allowed ? [] : [`${unit} must not import ${from}`];
  });
};

const layerOf = (unit: string): number => layers.findIndex((layer) => layer.includes(unit));

export const kyselyStaysInItsPlace: Rule = ({ unit, imports }) =>
  imports
    .filter(({ from }) => isPackage(from, 'kysely'))
    .filter(
      ({ typeOnly }) =>
        !isIn(
          unit,
          'sql',
          'dialect',
          'context.ts',
          'ownership.ts',
          'migrations',
          'sqlite',
          'node-sqlite',
          'postgres',
          'testing',
          'cli',
        ) && !(typeOnly && isIn(unit, ...typedByKysely)),
    )
    .map(({ from }) => `${String(unit)} must not import ${from}`);

export const nodeStaysAtTheEdges: Rule = ({ unit, imports }) =>
  isIn(unit, 'system', 'sqlite', 'postgres', 'testing', 'cli', 'http')
    ? []
    : imports
        .filter(({ from }) => from.startsWith('node:'))
        .map(({ from }) => `${String(unit)} must not import ${from}`);

export const driversStayAtTheEdges: Rule = ({ unit, imports }) =>
  isIn(unit, 'sqlite', 'testing', 'cli')
    ? []
    : imports
        .filter(({ from }) => drivers.some((driver) => isPackage(from, driver)))
        .map(({ from }) => `${String(unit)} must not import ${from}`);

/** Its interface alone: which SDK there is, if any, is for the user to say. */
export const telemetryStaysAtTheEdge: Rule = ({ unit, imports }) =>
  imports
    .filter(({ from }) => from.startsWith('@opentelemetry/'))
    .filter(({ from }) => !isIn(unit, 'opentelemetry') || from !== '@opentelemetry/api')
    .map(({ from }) => `${String(unit)} must not import ${from}`);

export const timeAndChanceComeThroughPorts: Rule = ({ unit, nodes }) =>
  isIn(unit, 'system', 'testing', 'cli', 'opentelemetry')
    ? []
    : nodes.flatMap((node) => {
        const reads =
          (ts.isPropertyAccessExpression(node) && timeAndChance.test(node.getText())) ||
          (ts.isIdentifier(node) && timers.includes(node.text)) ||
          (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0);
        return reads ? [at(node, node.getText())] : [];
      });

export const verbsLeaveExecutionToSql: Rule = ({ unit, nodes }) =>
  isIn(unit, ...verbs)
    ? nodes.flatMap((node) => {
        if (ts.isTryStatement(node)) return [at(node, 'try')];
        return ts.isCallExpression(node) && /^(?:execute\w*|fromPromise)$/.test(calledMember(node))
          ? [at(node, `${calledMember(node)}()`)]
          : [];
      })
    : [];

/** What a lease's state is called, and was called when it was spread over flags. */
const leaseState = /^(?:state|phase|provisional|lost|loss|released|releasing|maybeReleased|unsettled|uncommitted)$/;
/** Units below that know no lease, and the edges, whose state is another. */
const knowNoLease = [
  'core',
  'port',
  'dialect',
  'system',
  'sql',
  'sqlite',
  'postgres',
  'testing',
  'cli',
  'opentelemetry',
];

export const leaseStateIsAssignedInHolding: Rule = ({ unit, nodes }) =>
  unit === null || isIn(unit, 'holding', ...knowNoLease)
    ? []
    : nodes.flatMap((node) => {
        const target = assignedBy(node);
        if (target !== undefined && ts.isPropertyAccessExpression(target) && leaseState.test(target.name.text))
          return [at(node, node.getText())];
        return ts.isCallExpression(node) && calledMember(node) === 'step' ? [at(node, node.getText())] : [];
      });

function assignedBy(node: ts.Node): ts.Expression | undefined {
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const assigns = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
    return assigns ? node.left : undefined;
  }
  return ts.isDeleteExpression(node) ? node.expression : undefined;
}

/** Verbs whose type has no failure at all: they turn one into an answer of their own. */
const neverFailing = ['src/lease/close.ts', 'src/lease/inspect-lease.ts'];

export const verbsNeverReject: Rule = ({ path, unit, nodes }) =>
  isIn(unit, ...verbs) && !neverFailing.includes(path)
    ? nodes
        .filter((node) => ts.isNewExpression(node) && node.expression.getText() === 'ResultAsync')
        .map((node) => at(node, 'new ResultAsync'))
    : [];

export const dialectsAreNotAskedTheirName: Rule = ({ unit, nodes }) =>
  isIn(unit, 'dialect')
    ? []
    : nodes
        .filter((node) => ts.isPropertyAccessExpression(node) && /dialect\??\.name$/i.test(node.getText()))
        .filter(({ parent }) => ts.isSwitchStatement(parent) || isEquality(parent))
        .map((node) => at(node, node.parent.getText().split('\n')[0] ?? ''));

export const snakeCaseStaysInSql: Rule = ({ unit, nodes }) =>
  isIn(unit, 'sql', 'dialect', 'migrations', 'testing')
    ? []
    : nodes
        .filter((node) => ts.isIdentifier(node) && /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/.test(node.text))
        .map((node) => at(node, node.getText()));

export const filesAreNamedForWhatTheyHold: Rule = ({ path, unit }) => {
  const parts = path.split('/');
  return (unit === null ? parts.slice(-1) : parts)
    .map((part) => part.replace(/(?:\.\w+)+$/, ''))
    .filter((part) => vagueNames.includes(part))
    .map((part) => `${part} says nothing`);
};

export const filesAreShort =
  (exceptions: ReadonlyMap<string, string>): Rule =>
  ({ path, text }) => {
    const lines = text.split('\n').length - 1;
    if (exceptions.has(path)) return lines > longestFile ? [] : ['is short now: strike the exception'];
    return lines > longestFile ? [`${String(lines)} lines are more than ${String(longestFile)}`] : [];
  };

export const nothingIsLeftToDo: Rule = ({ text }) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      /\b(?:TO{1}DO|FIX{1}ME)\b|\.(?:skip|only|todo)\(/.test(line) ? [`line ${String(index + 1)}: ${line.trim()}`] : [],
    );

const isIn = (unit: string | null, ...units: string[]): boolean => unit !== null && units.includes(unit);

const isPackage = (from: string, name: string): boolean => from === name || from.startsWith(`${name}/`);

const calledMember = ({ expression }: ts.CallExpression): string =>
  ts.isPropertyAccessExpression(expression) ? expression.name.text : '';

const isEquality = (node: ts.Node): boolean =>
  ts.isBinaryExpression(node) && /^[!=]==?$/.test(node.operatorToken.getText());

function at(node: ts.Node, what: string): string {
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  return `line ${String(line + 1)}: ${what}`;
}
