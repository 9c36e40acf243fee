import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { JobRecord, SeenJob } from '../core/job.js';
import { type Answer, execute } from '../sql/execute.js';
import { isImpossible, pageSize } from '../sql/job-rows.js';
import { readEach } from '../sql/rows.js';
import type { Jobs } from './jobs-of.js';

/** Running jobs, page by page in the order of their ids; ends after a page that could not be read. */
export async function* runningPages(
  { session }: Context,
  { statements, read, readId, shown }: Jobs,
  limit: number,
): AsyncGenerator<Result<readonly JobRecord[], StoreFailure>> {
  let answer: Result<Answer, StoreFailure> = await execute(session, statements.firstRunning({ limit }));
  for (;;) {
    if (answer.isErr()) {
      yield err(answer.error);
      return;
    }
    const { rows } = answer.value;
    yield ok(await Promise.all(readEach(session, rows, read).map(shown)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    answer = await execute(session, statements.nextRunning({ limit, after: readId(last) }));
  }
}

/** Impossible jobs among the queued ones, page by page; no statement looks at more than its page. */
export async function* impossiblePages(
  { session }: Context,
  { statements, readSeen, readId }: Jobs,
  limit: number,
): AsyncGenerator<Result<readonly SeenJob[], StoreFailure>> {
  let answer: Result<Answer, StoreFailure> = await execute(session, statements.firstQueued({ limit }));
  for (;;) {
    if (answer.isErr()) {
      yield err(answer.error);
      return;
    }
    const { rows } = answer.value;
    yield ok(readEach(session, rows.filter(isImpossible), readSeen));
    const last = rows.at(-1);
    if (last === undefined || pageSize(last) < limit) return;
    const after: IdValue = readId(last);
    answer = await execute(session, statements.nextQueued({ limit, after }));
  }
}
