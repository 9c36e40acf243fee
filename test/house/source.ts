import ts from 'typescript';

/** One parsed file, as the rules of the house see it. */
export interface Source {
  /** From the top of the repository, with `/`: `src/lease/acquire.ts`. */
  readonly path: string;
  /** The folder of `src/`, or the file right under it: `lease`, `context.ts`; `null` outside `src/`. */
  readonly unit: string | null;
  readonly text: string;
  readonly nodes: readonly ts.Node[];
  readonly imports: readonly Import[];
}

interface Import {
  readonly from: string;
  /** The unit of `src/` that it reaches; `null` for a package. */
  readonly unit: string | null;
  readonly typeOnly: boolean;
}

export function parseSource(path: string, text: string): Source {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  const imports = nodes.flatMap((node) => {
    const found = importOf(node);
    return found === null ? [] : [{ ...found, unit: reachedUnit(path, found.from) }];
  });
  return { path, unit: unitOf(path), text, nodes, imports };
}

function unitOf(path: string): string | null {
  const [top, unit] = path.split('/');
  return top === 'src' && unit !== undefined ? unit : null;
}

function reachedUnit(path: string, from: string): string | null {
  if (from === 'transition-ownership') return 'index.ts';
  if (from.startsWith('transition-ownership/')) return from.split('/')[1] ?? null;
  return from.startsWith('.')
    ? unitOf(new URL(from.replace(/\.js$/, '.ts'), `file:///${path}`).pathname.slice(1))
    : null;
}

function importOf(node: ts.Node): Omit<Import, 'unit'> | null {
  if (ts.isImportDeclaration(node)) return named(node.moduleSpecifier, isTypeOnly(node.importClause));
  if (ts.isExportDeclaration(node)) return named(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return named(node.argument.literal, true);
  if (ts.isCallExpression(node)) {
    const { expression } = node;
    const loads =
      expression.kind === ts.SyntaxKind.ImportKeyword ||
      (ts.isIdentifier(expression) && expression.text === 'require') ||
      (ts.isPropertyAccessExpression(expression) && expression.name.text === 'getBuiltinModule');
    return loads ? named(node.arguments[0], false) : null;
  }
  return null;
}

function named(specifier: ts.Node | undefined, typeOnly: boolean): Omit<Import, 'unit'> | null {
  return specifier !== undefined && ts.isStringLiteralLike(specifier) ? { from: specifier.text, typeOnly } : null;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  return (
    clause.name === undefined &&
    bindings !== undefined &&
    ts.isNamedImports(bindings) &&
    bindings.elements.every((element) => element.isTypeOnly)
  );
}
