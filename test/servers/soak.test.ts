import { ok } from 'neverthrow';
import { withTransitionLease } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type TestServer } from './server.js';

const PROCESSES = 6;
const ROUNDS = 15;

/** A counter in the stage: many processes count, each under the lease, and the sum must be right. */
function soak(server: TestServer, levels: readonly (readonly [name: string, begin: readonly string[]])[]): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('soak');
    });
    beforeEach(async () => {
      await place.reset();
      await place.db.updateTable('tasks').set({ stage: '0' }).execute();
    });
    afterAll(() => place.drop());

    test.each(levels)(
      'at %s: no step is lost, none is counted twice, and nobody fails',
      { timeout: 60_000 },
      async (_name, begin) => {
        let wins = 0;
        const work = async (): Promise<void> => {
          const { ownership, db } = place.process({ begin, max: 2 });
          for (let round = 0; round < ROUNDS; ) {
            const done = await withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, async (held) => {
              const task = await db.selectFrom('tasks').select('stage').where('id', '=', 1).executeTakeFirstOrThrow();
              const next = String(Number(task.stage) + 1);
              const moved = await held.updateStage(next, { expected: task.stage, release: round % 2 === 0 });
              return moved.isOk() ? ok(next) : moved;
            });
            if (done.isOk()) {
              wins += 1;
              round += 1;
            } else expect(done.error).toMatchObject({ type: 'lease-busy' });
          }
        };
        await Promise.all(Array.from({ length: PROCESSES }, work));
        const task = await place.db.selectFrom('tasks').select('stage').where('id', '=', 1).executeTakeFirst();
        expect(wins).toBe(PROCESSES * ROUNDS);
        expect(task).toEqual({ stage: String(wins) });
      },
    );
  });
}

soak(
  postgresServer,
  ['read committed', 'repeatable read', 'serializable'].map((name) => [
    name,
    [`set default_transaction_isolation = '${name}'`],
  ]),
);
soak(
  mysqlServer,
  ['read committed', 'repeatable read', 'serializable'].map((name) => [
    name,
    [`set session transaction isolation level ${name}`, 'set session innodb_snapshot_isolation = on'],
  ]),
);
