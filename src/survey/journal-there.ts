import { ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { EffectStatements } from '../sql/effect-statements.js';
import { execute } from '../sql/execute.js';

/** The ownerships whose journal was seen: it is asked for once. */
const seen = new WeakSet<Context>();

/**
 * The journal of effects to read, if there is one. Under `off` a table that is not there counts as empty: that is asked of
 * the catalogue, for a read that fails would end a caller's transaction.
 */
export async function journalThere(context: Context): Promise<Result<EffectStatements | undefined, StoreFailure>> {
  const { effects, settings, dialect, session, root } = context;
  const { effectTable } = settings;
  if (effects === undefined || effectTable === undefined || context.mode() !== 'off' || seen.has(root))
    return ok(effects);
  const read = await execute(session, dialect.catalogue.read([effectTable]).compile(session.database));
  return read.map(({ rows }) => {
    if (rows.length === 0) return undefined;
    seen.add(root);
    return effects;
  });
}
