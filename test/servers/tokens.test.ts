import { sql } from 'kysely';
import { acquireLease, advanceFencingToken } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Place, postgresServer } from './server.js';

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL: an identity that was set by hand', () => {
  let place: Place;
  beforeAll(async () => {
    place = await postgresServer.make('tokens');
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  test('behind its rows, as after a logical copy, is moved beyond them', async () => {
    const { ownership } = place.process();
    await sql`insert into transition_lease (fencing_token, claim, task_id, owner, acquired_ms, expires_ms, ttl_ms)
      select 5000 + i, 'copied-' || i, i, 'copied', 0, 9000000000000, 1 from generate_series(100, 300) as i`.execute(
      place.db,
    );
    await sql`alter table transition_lease alter column fencing_token restart with 5100`.execute(place.db);
    expect((await advanceFencingToken(ownership, { beyond: 0 }))._unsafeUnwrap()).toBeGreaterThanOrEqual(5_300);
    const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    expect(lease.fencingToken).toBeGreaterThan(5_300);
  });

  test('ahead, and not yet asked for a number, is not moved back', async () => {
    const { ownership } = place.process();
    await sql`alter table transition_lease alter column fencing_token restart with 7000000`.execute(place.db);
    (await advanceFencingToken(ownership, { beyond: 5 }))._unsafeUnwrap();
    const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    expect(lease.fencingToken).toBeGreaterThan(7_000_000);
  });

  test('that is gone is a failure of the schema', async () => {
    const { ownership } = place.process();
    await sql`alter table transition_lease alter column fencing_token drop identity`.execute(place.db);
    expect((await advanceFencingToken(ownership, { beyond: 5 }))._unsafeUnwrapErr()).toMatchObject({
      type: 'store-failure',
      kind: 'schema',
      outcome: 'not-applied',
    });
  });
});
