import { describe, expect, test } from 'vitest';
import { acquisition } from '../lease/acquisition.js';
import { keeping } from '../lease/keeping.js';
import { many } from '../lease/many.js';
import { operation } from '../lease/operation.js';
import { release } from '../lease/release.js';
import { spelling } from '../lease/spelling.js';
import { countingDialect } from '../rig/proofs.js';
import { counts } from '../sql/counts.js';
import { plans } from '../sql/plans.js';
import { fenced } from '../stage/fenced.js';
import { unfenced } from '../stage/unfenced.js';
import { held } from '../transition/handling.js';
import { inside } from '../transition/inside.js';
import { regime } from '../transition/regime.js';
import { by, type Control, isKept } from './control.js';
import { allMutants } from './mutants.js';

/** For each way to break a statement of our own, the promise that is not kept then. */
const controls: Readonly<Record<string, Control>> = {
  'insert: the greater for min(': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'insert: minus for +': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'insert: minus for + (2)': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'insert: without not exists …': by(acquisition, 'acquireLease that asks in vain writes nothing: it uses up no token'),
  'insert: without "task_id" = ?': by(
    acquisition,
    'acquireLease that asks in vain writes nothing: it uses up no token',
  ),
  'insertMany: the greater for min(': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'insertMany: minus for +': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'insertMany: minus for + (2)': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'insertMany: without not exists …': by(many, 'acquireLeases that asks in vain writes nothing: it uses up no token'),
  'insertMany: upside down order by given.position': by(
    many,
    'acquireLeases takes what is free, tells what is not, each in the order of its request',
  ),
  'readHolder: without "task_id" = ?': by(
    operation,
    'inspectLease tells a free task from a held one, and changes nothing',
  ),
  'readHolders: without "task_id" in (select value from json_each(?))': by(
    operation,
    'reclaimStaleLeases looks only at the tasks it is given, at all of them',
  ),
  'readPage: one further on fencing_token > ?': by(
    operation,
    'reclaimStaleLeases reaches a dead lease behind any number of living ones, and snapshot says where it stops',
  ),
  'readPage: upside down order by fencing_token': by(
    operation,
    'reclaimStaleLeases looks at no more than its limit, the oldest first',
  ),
  'readPage: without limit ?': by(
    operation,
    'reclaimStaleLeases reaches a dead lease behind any number of living ones, and snapshot says where it stops',
  ),
  'renew: the greater for min(': by(
    keeping,
    'a hold ends at its bound: the signal fires, renewals stop, and no expiry ever reaches past it',
  ),
  'renew: minus for +': by(keeping, 'a renewal moves nothing but the expiry'),
  'renew: without "fencing_token" in (select value from json_each(?))': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'renew: without "claim" in (select value from json_each(?))': by(
    keeping,
    'a row with the same token and another claim is not renewed: a restored backup supersedes',
  ),
  'renew: without returning …': by(counts, 'one statement verifies a lease before an irreversible step'),
  'lowerExpiry: the greater for min(': by(
    operation,
    'an expiry that is lowered is exactly the one that was seen, and never one within two TTLs',
  ),
  'lowerExpiry: minus for +': by(
    operation,
    'who would take a lease lowers an expiry that a clock set back has left ahead: to a TTL from now, and no other may',
  ),
  'lowerExpiry: without expires_ms = ?': by(
    operation,
    'an expiry that is lowered is exactly the one that was seen, and never one within two TTLs',
  ),
  'lowerExpiry: without "fencing_token" in (select value from json_each(?))': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'lowerExpiry: without "claim" in (select value from json_each(?))': by(
    operation,
    'an expiry that is lowered is exactly the one that was seen, and never one within two TTLs',
  ),
  "lowerExpiry: without expires_ms > cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) + 2 * ttl_ms":
    by(operation, 'an expiry that is lowered is exactly the one that was seen, and never one within two TTLs'),
  'extend: the greater for min(': by(held, 'extend lets a hold last longer than was planned, by one fenced UPDATE'),
  'extend: minus for +': by(held, 'extend lets a hold last longer than was planned, by one fenced UPDATE'),
  'extend: minus for + (2)': by(held, 'extend lets a hold last longer than was planned, by one fenced UPDATE'),
  'extend: minus for + (3)': by(held, 'extend lets a hold last longer than was planned, by one fenced UPDATE'),
  'extend: without "task_id" = ?': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'extend: without "claim" = ?': by(held, 'extend leaves the row of another acquisition alone'),
  'extend: without returning …': by(held, 'extend lets a hold last longer than was planned, by one fenced UPDATE'),
  'readTokens: without "fencing_token" in (select value from json_each(?))': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'confirm: without "task_id" = ?': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'confirm: without "claim" = ?': by(
    inside,
    'held.using: a lease that another owner has is lost inside too, and nothing is held against it before the end',
  ),
  'release: without "task_id" = ?': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'release: without "claim" = ?': by(release, "releaseLease never deletes another's row, and losing is no error"),
  'release: without returning …': by(counts, 'one statement takes a free lease, and one gives it back'),
  'releaseMany: without "fencing_token" in (select value from json_each(?))': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'releaseMany: without "claim" in (select value from json_each(?))': by(
    release,
    'releaseLeases leaves a row with the same token and another claim alone',
  ),
  'releaseMany: without returning …': by(release, 'releaseLeases gives many back and tells each in its order'),
  'reclaim: without "task_id" = ?': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'reclaim: without "claim" = ?': by(
    acquisition,
    'an acquisition that expires at the very instant that was judged is left alone',
  ),
  'reclaim: without expires_ms = ?': by(acquisition, 'a renewal that lands between the judgement and the reclaim wins'),
  'reclaim: without returning …': by(
    operation,
    'reclaimStaleLeases deletes the leases of the dead, keeps all others, and tells both',
  ),
  'takeAway: without "task_id" = ?': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
  'takeAway: without "claim" = ?': by(
    operation,
    'forceReleaseLease that races a new acquisition leaves the new owner alone',
  ),
  'takeAway: without returning …': by(
    operation,
    'forceReleaseLease takes exactly the acquisition that the operator named, alive or not',
  ),
  'take: the greater for min(': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'take: minus for +': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'take: minus for + (2)': by(
    acquisition,
    'acquireLease takes a free task, and its row says who holds it since when and for how long',
  ),
  'take: without not exists …': by(acquisition, 'acquireLease that asks in vain writes nothing: it uses up no token'),
  'take: without task."id" = ?': by(
    acquisition,
    'acquireLease of a task that is not there says so, and leaves nothing',
  ),
  'take: without task."stage" is ? collate binary': by(
    acquisition,
    'acquireLease of a task in another stage is a lost race, whoever holds it, and leaves a dead holder alone',
  ),
  'take: without collate binary': by(
    acquisition,
    'acquireLease compares stages byte by byte, also in a column that folds case',
  ),
  'take: without returning …': by(counts, 'one statement takes a free lease, and one gives it back'),
  'take in any stage: the greater for min(': by(
    acquisition,
    'acquireLease without a stage takes the task in any, and the lease says in which',
  ),
  'take in any stage: minus for +': by(
    acquisition,
    'acquireLease without a stage takes the task in any, and the lease says in which',
  ),
  'take in any stage: minus for + (2)': by(
    acquisition,
    'acquireLease without a stage takes the task in any, and the lease says in which',
  ),
  'take in any stage: without not exists …': by(
    acquisition,
    'acquireLease that asks in vain writes nothing: it uses up no token',
  ),
  'take in any stage: without task."id" = ?': by(
    acquisition,
    'acquireLease of a task that is not there says so, and leaves nothing',
  ),
  'take in any stage: without returning …': by(counts, 'one statement takes a free lease, and one gives it back'),
  'takeMany: the greater for min(': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'takeMany: minus for +': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'takeMany: minus for + (2)': by(many, 'acquireLeases writes the same rows as acquireLease'),
  'takeMany: without not exists …': by(many, 'acquireLeases that asks in vain writes nothing: it uses up no token'),
  'takeMany: without given.position = found.position': by(
    many,
    'acquireLeases refuses what is not there or elsewhere, each on its own, and leaves nothing of it',
  ),
  'takeMany: without (given.any_stage = 1 or found.own_stage is given.stage collate binary)': by(
    many,
    'acquireLeases refuses what is not there or elsewhere, each on its own, and leaves nothing of it',
  ),
  'takeMany: without task."id" = listed.value': by(
    many,
    'acquireLeases refuses what is not there or elsewhere, each on its own, and leaves nothing of it',
  ),
  'takeMany: without collate binary': by(
    acquisition,
    'acquireLease compares stages byte by byte, also in a column that folds case',
  ),
  'takeMany: upside down order by given.position': by(
    many,
    'acquireLeases takes what is free, tells what is not, each in the order of its request',
  ),
  'takeMany: without returning …': by(
    counts,
    'one statement takes two hundred leases, one renews them, and one gives them back',
  ),
  'find: without task."id" = ?': by(
    acquisition,
    'acquireLease of a task that is not there says so, and leaves nothing',
  ),
  'findMany: without task."id" = listed.value': by(
    many,
    'acquireLeases refuses what is not there or elsewhere, each on its own, and leaves nothing of it',
  ),
  'sought holder: without task."id" = ?': by(
    spelling,
    'two spellings of one task are one lease, whose key is that of the row',
  ),
  'sought holder: upside down order by sought.place': by(
    spelling,
    'a lease that 0.1.0 wrote in another spelling is found by that one, after the lease of the row',
  ),
  'sought holders: without task."id" = listed.value': by(
    spelling,
    'two spellings of one task are one lease, whose key is that of the row',
  ),
  'sought holders: upside down order by sought.place': by(
    spelling,
    'a lease that 0.1.0 wrote in another spelling is found by that one, after the lease of the row',
  ),
  'fenced: without "updated_at" = …': by(
    fenced,
    'updateStageCas with a lease moves the task, stamps it, and says by which token',
  ),
  'fenced: without exists …': by(
    fenced,
    'updateStageCas of an owner who was superseded writes nothing and tells by whom',
  ),
  'fenced: without "id" = ?': by(
    fenced,
    'updateStageCas with a lease moves the task, stamps it, and says by which token',
  ),
  'fenced: without "stage" is ? collate binary': by(
    fenced,
    'updateStageCas with a lease loses against a stage that moved, tells where it is, and writes nothing',
  ),
  'fenced: without "task_id" = ?': by(
    fenced,
    'updateStageCas is fenced by a row of this task: the claim on another task fences nothing',
  ),
  'fenced: without "claim" = ?': by(
    fenced,
    'updateStageCas of an owner who was superseded writes nothing and tells by whom',
  ),
  'fenced: without collate binary': by(unfenced, 'stages compare byte by byte, also in a column that folds case'),
  'fenced: without returning …': by(counts, 'one statement moves a stage, with a lease and without'),
  'free: without "updated_at" = …': by(unfenced, 'updateStageCas without a lease moves a task that nobody holds'),
  'free: without not exists …': by(
    unfenced,
    'updateStageCas without a lease does not move a stage under an owner, and tells whose it is',
  ),
  'free: without "id" = ?': by(unfenced, 'updateStageCas without a lease moves a task that nobody holds'),
  'free: without "stage" is ? collate binary': by(
    unfenced,
    'updateStageCas lets one of many that expect the same stage win',
  ),
  'free: without "task_id" = ?': by(
    unfenced,
    'updateStageCas without a lease does not move a stage under an owner, and tells whose it is',
  ),
  'free: without collate binary': by(unfenced, 'stages compare byte by byte, also in a column that folds case'),
  'free: without returning …': by(unfenced, 'updateStageCas without a lease moves a task that nobody holds'),
  'expected: without "updated_at" = …': by(
    unfenced,
    'updateStageCas evenIfHeld writes under an owner, and still only from the expected stage',
  ),
  'expected: without "id" = ?': by(unfenced, 'updateStageCas of a task that is not there says so'),
  'expected: without "stage" is ? collate binary': by(
    unfenced,
    'updateStageCas evenIfHeld writes under an owner, and still only from the expected stage',
  ),
  'expected: without collate binary': by(unfenced, 'stages compare byte by byte, also in a column that folds case'),
  'expected: without returning …': by(
    unfenced,
    'updateStageCas evenIfHeld writes under an owner, and still only from the expected stage',
  ),
  'none: without "updated_at" = …': by(
    regime,
    'under off a transition is what it was before: one plain UPDATE, and no statement names the lease table',
  ),
  'none: without "id" = ?': by(
    regime,
    'under off a transition is what it was before: one plain UPDATE, and no statement names the lease table',
  ),
  'readStage: without "id" = ?': by(unfenced, 'updateStageCas of a task that is not there says so'),
  'free of text ids: without not exists … (2)': by(
    unfenced,
    'text ids meet the row that their column takes for theirs, and its lease',
  ),
  'free of text ids: without "id" = ?': by(
    unfenced,
    'text ids meet the row that their column takes for theirs, and its lease',
  ),
  'create: without autoincrement': by(
    acquisition,
    'a fencing token grows with every acquisition, also after the table was empty',
  ),
  'create: without , unique ("task_id")': by(
    plans,
    'every statement finds the rows that it names by an index, however many there are',
  ),
};

describe('a statement that is broken is found out', () => {
  const mutants = allMutants();

  test('each part of each statement has its control, and no control is left over', () => {
    expect(Object.keys(controls)).toEqual(mutants.map(({ mutant }) => mutant));
  });

  test.each(mutants)('$mutant', async ({ mutant, mutate }) => {
    const control = controls[mutant];
    if (control === undefined) throw new Error('a part without a control');
    let met = 0;
    const mutated = (text: string): string => {
      const broken = mutate(text);
      if (broken !== text) met += 1;
      return broken;
    };
    // How a renewal is read back, and an INSERT that looks at nothing, are met only where writes return counts.
    const dialect = /^(readTokens|insert)/.test(mutant) ? { dialect: countingDialect } : {};
    expect(await isKept(control, dialect)).toBe(true);
    expect(await isKept(control, { ...dialect, mutate: mutated })).toBe(false);
    expect(met).toBeGreaterThan(0);
  });
});
