import type { Kysely } from 'kysely';
import { createTransitionOwnership, ensureSchema, withTransitionLease } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { ok } from '../rig/proofs.js';
import { mysqlServer, postgresServer } from './server.js';

interface Tables {
  tasks: { id: number; stage: string | null };
}

describe.each([postgresServer, mysqlServer])('$name', (server) => {
  test.skipIf(server.missing !== undefined).each(['listed', 'picked', 'given', 'clock', 'written', 'released'])(
    'a lease table may have the name that a statement gives to its own part: %s',
    async (table) => {
      const place = await server.make('names');
      try {
        const ownership = createTransitionOwnership({
          db: place.db as unknown as Kysely<Tables>,
          tasks: { table: 'tasks', id: 'id', stage: 'stage' },
          lease: { table },
        });
        await ok(ensureSchema(ownership));
        const request = { taskId: 1, actor: 'monitor', stage: 'deploy' };
        const done = await ok(
          withTransitionLease(ownership, request, async (held) => {
            const ensured = await held.ensure(1_000);
            return ensured.asyncAndThen(() => held.updateStage('done', { release: true }));
          }),
        );
        expect(done).toMatchObject({ to: 'done', released: true });
      } finally {
        await place.drop();
      }
    },
  );
});
