import { acquireLease, checkDialect, ensureSchema, withTransitionLease } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { kinds, makeTables, ownershipOver } from './place.js';

describe.each(kinds)('rows of tasks that are not there, on $name', (kind) => {
  test.skipIf(kind.missing !== undefined)('are found by number, leases and effects apart', async () => {
    await using place = await kind.open();
    await makeTables(place);
    await place.run("insert into tasks (id, stage) values (1, 'a'), (2, 'a')");
    const { ownership } = ownershipOver(place.db, { jobs: undefined });
    const stray = async () =>
      (await checkDialect(ownership, { rows: true }))
        ._unsafeUnwrap()
        .findings.filter(({ code }) => code === 'stray-rows')
        .map(({ severity, table, message }) => [severity, table, /there: (.*?)\./.exec(message)?.[1]]);
    (await acquireLease(ownership, { taskId: 1, actor: 'a' }))._unsafeUnwrap();
    const ended = await withTransitionLease(ownership, { taskId: 2, actor: 'a' }, (held) =>
      held.runEffect({ effect: 'merge', key: 'k', apply: () => Promise.resolve('merged') }),
    );
    expect(ended._unsafeUnwrap()).toMatchObject({ status: 'applied' });
    expect(await stray()).toEqual([]);
    await place.run('delete from tasks');
    expect(await stray()).toEqual([
      ['warning', 'transition_lease', '1'],
      ['advice', 'transition_effect', '2'],
    ]);
    const without = (await checkDialect(ownership, { settingsOnly: true }))._unsafeUnwrap().findings;
    expect(without.map(({ code }) => code)).not.toContain('stray-rows');
  });

  test.skipIf(kind.missing !== undefined)('are found by text, byte by byte, at most ten named', async () => {
    await using place = await kind.open();
    const ids = kind.name === 'SQLite' ? 'text collate nocase' : 'varchar(64)';
    await place.run(`create table named (id ${ids} not null primary key, stage varchar(20), updated_at varchar(30))`);
    await place.run("insert into named (id, stage) values ('Repo-1', 'a'), ('Repo-2', 'a')");
    const { ownership } = ownershipOver(place.db, {
      tasks: { table: 'named', id: 'id', stage: 'stage', idType: 'text' },
      jobs: undefined,
      effects: undefined,
    });
    (await ensureSchema(ownership))._unsafeUnwrap();
    (await acquireLease(ownership, { taskId: 'Repo-2' as never, actor: 'a' }))._unsafeUnwrap();
    const copies = Array.from({ length: 12 }, (_, at) => `select 'repo-${at + 1}' as id`).join(' union all ');
    await place.run(
      `insert into transition_lease (claim, task_id, owner, acquired_ms, expires_ms, ttl_ms)
        select ${kind.name === 'SQLite' ? "'c' || given.id" : "concat('c', given.id)"}, given.id, 'old', 1, 1, 30000 from (${copies}) as given`,
    );
    const { findings } = (await checkDialect(ownership, { settingsOnly: true, rows: true }))._unsafeUnwrap();
    const [found] = findings.filter(({ code }) => code === 'stray-rows');
    expect(found?.message).toContain('"repo-1", "repo-10"');
    expect(found?.message).toMatch(/"repo-7", and more\./);
    expect(found?.message).not.toContain('Repo-2');
  });
});
