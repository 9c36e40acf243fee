import ts from 'typescript';

/**
 * What each entry point promises, as text: its exports by name with their declarations, without comments; then the
 * types that these speak of and that no entry exports. Read from the built declarations, so it is what users get.
 */
export function surfaces(declarationFiles: readonly string[]): string[] {
  const program = ts.createProgram(declarationFiles, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    noLib: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const entries = declarationFiles.map((path) => {
    const file = program.getSourceFile(path);
    const entry = file && checker.getSymbolAtLocation(file);
    if (entry === undefined) throw new Error(`${path} declares no module`);
    return new Map(checker.getExportsOfModule(entry).map((symbol) => [symbol.name, original(checker, symbol)]));
  });
  const exported = new Set(entries.flatMap((entry) => [...entry.values()]));

  return entries.map((entry) => {
    const mentioned = new Set<ts.Symbol>();
    const visit = (node: ts.Node): void => {
      const symbol = ts.isIdentifier(node) ? original(checker, checker.getSymbolAtLocation(node)) : undefined;
      if (
        symbol !== undefined &&
        !exported.has(symbol) &&
        !mentioned.has(symbol) &&
        statements(program, symbol).length > 0
      ) {
        mentioned.add(symbol);
        for (const statement of statements(program, symbol)) visit(statement);
      }
      ts.forEachChild(node, visit);
    };
    for (const symbol of entry.values()) for (const statement of statements(program, symbol)) visit(statement);
    const hidden = [...mentioned].map((symbol) => [symbol.name, symbol] as const);
    return [
      ...[...entry].sort(byName).map(([name, symbol]) => section(`## ${name}`, print(program, symbol))),
      ...hidden.sort(byName).map(([name, symbol]) => section(`## (not exported) ${name}`, print(program, symbol))),
    ].join('\n');
  });
}

function original<S extends ts.Symbol | undefined>(checker: ts.TypeChecker, symbol: S): S | ts.Symbol {
  return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;

const section = (title: string, code: string): string => `${title}\n\n\`\`\`ts\n${code}\n\`\`\`\n`;

/** The statements of our own declaration files that declare the symbol: none for a parameter, a member, a library's type. */
function statements(program: ts.Program, symbol: ts.Symbol): ts.Statement[] {
  return (symbol.declarations ?? [])
    .filter((node) => !program.isSourceFileFromExternalLibrary(node.getSourceFile()))
    .map((node): ts.Node => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
    .filter(ts.isStatement)
    .filter(({ parent }) => ts.isSourceFile(parent));
}

const printer = ts.createPrinter({ removeComments: true });

const print = (program: ts.Program, symbol: ts.Symbol): string =>
  statements(program, symbol)
    .map((node) => printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()))
    .join('\n');
