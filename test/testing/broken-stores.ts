import { memoryStore, type TestStore } from '../../src/testing/index.js';
import { rewritingStore } from '../../src/testing/suite/rewriting-store.js';

/** A database that tears the row which a connection has just written, if the connection dies right then. */
export function tearing(): TestStore {
  const store = memoryStore();
  const dying = new Set<string[]>();
  return {
    ...store,
    errors: {
      ...store.errors,
      // A write that finds no room comes after the one that would be torn.
      diskFull() {
        for (const sent of dying) sent.push('a write without room');
        return store.errors.diskFull();
      },
    },
    async connect() {
      const sent: string[] = [];
      dying.add(sent);
      const connection = await rewritingStore(store, (sql) => {
        sent.push(sql);
        return sql;
      }).connect();
      return {
        ...connection,
        async kill() {
          await connection.kill();
          dying.delete(sent);
          if (sent.at(-1)?.startsWith('update "simulated_task"') !== true) return;
          await store.admin.updateTable('simulated_task').set({ stage: 'torn' }).where('id', '=', 1).execute();
        },
      };
    },
  };
}

/** A database that spells a claim in another way to who asks, right after an insert, whose the lease is. */
export function respelling(): TestStore {
  let inserted = false;
  return rewritingStore(memoryStore(), (sql) => {
    if (!sql.startsWith('select')) inserted = sql.startsWith('insert into "transition_lease"');
    if (!inserted) return sql.replace('and "claim" = ? and expires_ms', 'and upper("claim") = upper(?) and expires_ms');
    return sql.replace(/^(select .*?fencing_token, )"claim",/s, '$1upper("claim") as "claim",');
  });
}

/** A database that stays read-only once its disk was full. */
export function readOnlyOnceFull(): TestStore {
  const store = memoryStore();
  let wasFull = false;
  const broken = rewritingStore(store, (sql) => {
    if (wasFull && !sql.startsWith('select')) throw new Error('attempt to write a readonly database');
    return sql;
  });
  return {
    ...broken,
    errors: {
      ...store.errors,
      diskFull() {
        wasFull = true;
        return store.errors.diskFull();
      },
    },
    async reset() {
      wasFull = false;
      await store.reset();
    },
  };
}
