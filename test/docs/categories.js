import { relative, sep } from 'node:path';
import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc';

/** Where a declaration of `src/` stands in the reference: the first that fits. */
const CATEGORIES = [
  ['Testing kit', /^src\/testing\//],
  ['Failures', /^src\/core\/(failure|describe|not-applied)\.ts$/],
  ['Events', /^src\/(core\/(event|observer)\.ts|opentelemetry\/)/],
  ['Set up', /^src\/(ownership|transition-ownership|options|tasks-option|settings|shape|context)\.ts$/],
  [
    'Set up',
    /^src\/(core\/(stages|verdict|id)\.ts|job\/jobs-option\.ts|sqlite\/|postgres\/|node-sqlite\/|migrations\/|http\/)/,
  ],
  ['Dialects and ports', /^src\/(dialect|port|sql|system)\/|^src\/core\/(catalogue|finding|process)\.ts$/],
  [
    'Verbs',
    /^src\/(lease|lease-row|stage|job|effect|recovery|transition|schema|audit|survey|holding)\//,
    ReflectionKind.Function,
  ],
  ['What verbs take and return', /^src\//],
];

/** A plugin of typedoc: groups the reference by what a reader looks for, and not by the kind of the declaration. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const reflection of context.project.getReflectionsByKind(ReflectionKind.SomeModule | ReflectionKind.Project)) {
      for (const child of reflection.children ?? []) categorize(context, child);
    }
  });
}

function categorize(context, reflection) {
  const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
  if (declaration === undefined || reflection.kindOf(ReflectionKind.SomeModule)) return;
  const file = relative(process.cwd(), declaration.getSourceFile().fileName).split(sep).join('/');
  const [category] =
    CATEGORIES.find(([, path, kind]) => path.test(file) && reflection.kindOf(kind ?? reflection.kind)) ?? [];
  if (category === undefined) return;
  // A function's comment is that of its signatures.
  const commented = reflection.signatures ?? [reflection];
  for (const each of commented) {
    each.comment ??= new Comment();
    each.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: category }]));
  }
}
