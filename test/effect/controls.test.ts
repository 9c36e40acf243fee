import { expect, test } from 'vitest';
import type { Proofs } from '../rig/proofs.js';
import { openRig } from '../rig/rig.js';
import { assessing } from './assessing.js';
import { crashes } from './crashes.js';
import { FINISH, READ, START, STRIKE, TAKE_OVER } from './outside.js';
import { probing } from './probing.js';
import { resolving } from './resolving.js';
import { running } from './running.js';
import { together } from './together.js';
import { trouble } from './trouble.js';

const proofs: Proofs = { ...running, ...together, ...probing, ...trouble, ...assessing, ...resolving, ...crashes };

/** A statement of the library with one guard removed, and the proof that must fail then. */
interface Mutant {
  readonly removes: string;
  readonly about: RegExp;
  readonly from: RegExp;
  readonly to: string;
  readonly killedBy: string;
}

const MARK = /^update "transition_effect" set "state" = 'applied'.* and "state" = 'started'/s;
const INSERT_APPLIED = /^insert into "transition_effect" .*'applied'/s;
const OF_TASK = /^select .* from "transition_effect" where "task_id" = \? order by/s;
const COUNT = /^select count/;
/** Where an INSERT looks whether its key is free, and the whole of it up to there. */
const LOOK = /where (not exists \(.*?\))/s;
const OVER = /^insert into (.*) where (not exists \(.*?\))/s;
/** True whatever the parameter: the place of a parameter must stay. */
const ANY = 'coalesce(?, 1) is not null';

const MUTANTS: readonly Mutant[] = [
  {
    removes: 'the claim from the fence of a start',
    about: START,
    from: /(exists \(.*)"claim" = \?/s,
    to: `$1${ANY}`,
    killedBy: 'the start is fenced: a lease that was taken between the renewal and the start begins nothing',
  },
  {
    removes: 'the fence from a start',
    about: START,
    from: /and exists \(/s,
    to: 'and 1 = 1 or exists (',
    killedBy: 'the start is fenced: a lease whose row is gone begins nothing',
  },
  {
    removes: 'the time from the fence of a start',
    about: START,
    from: /expires_ms >=.*?\+ \?/s,
    to: ANY,
    killedBy:
      'the start is written only while the database says that the lease has the time: a stall after the renewal counts',
  },
  {
    removes: 'what the effect needs from the fence of a start',
    about: START,
    from: /\+ \? \)/s,
    to: '+ 0 * ? )',
    killedBy:
      'the start is written only while the database says that the lease has the time: a stall after the renewal counts',
  },
  {
    removes: 'the silence about a second start',
    about: START,
    from: LOOK,
    to: 'where (1 = 1 or $1)',
    killedBy: 'calls that begin together apply the effect once',
  },
  {
    removes: 'the first start when a second comes',
    about: START,
    from: OVER,
    to: 'insert or replace into $1 where (1 = 1 or $2)',
    killedBy: 'calls that begin together apply the effect once',
  },
  {
    removes: 'the fence from a take-over',
    about: TAKE_OVER,
    from: /and exists \(/s,
    to: 'and 1 = 1 or exists (',
    killedBy: 'taking over is fenced: a lease that another took while the start was written takes nothing over',
  },
  {
    removes: 'the claim from the fence of a take-over',
    about: TAKE_OVER,
    from: /(exists \(.*)"claim" = \?/s,
    to: `$1${ANY}`,
    killedBy: 'taking over is fenced: a lease that another took while the start was written takes nothing over',
  },
  {
    removes: 'the time from the fence of a take-over',
    about: TAKE_OVER,
    from: /expires_ms >=.*?\+ \?/s,
    to: ANY,
    killedBy: 'taking over is written only while the database says that the lease has the time',
  },
  {
    removes: 'the start that was seen from a take-over',
    about: TAKE_OVER,
    from: /"key" = \? and "claim" = \?/,
    to: `"key" = ? and ${ANY}`,
    killedBy: 'taking over compares: a start that another made while the probe was asked is asked about again',
  },
  {
    removes: 'the state from a take-over',
    about: TAKE_OVER,
    from: /and "state" = 'started'/,
    to: '',
    killedBy: 'an answer of the probe is not written over what the owner wrote meanwhile',
  },
  {
    removes: 'the token of the new start from a take-over',
    about: TAKE_OVER,
    from: /fencing_token = \?/,
    to: 'fencing_token = fencing_token + 0 * ?',
    killedBy: 'started, and the probe says not-applied: the start is taken over, and the effect applied once',
  },
  {
    removes: 'the time of the new start from a take-over',
    about: TAKE_OVER,
    from: /started_ms = cast\(.*? as integer\)/s,
    to: 'started_ms = started_ms',
    killedBy: 'started, and the probe says not-applied: the start is taken over, and the effect applied once',
  },
  {
    removes: 'the new claim from a take-over',
    about: TAKE_OVER,
    from: /set "claim" = \?/,
    to: 'set "claim" = coalesce("claim", ?)',
    killedBy: 'started, and the probe says not-applied: the start is taken over, and the effect applied once',
  },
  {
    removes: 'its own claim from a result',
    about: FINISH,
    from: /and "claim" = \?/,
    to: `and ${ANY}`,
    killedBy: 'a superseded owner whose effect was started anew by another is told so, with the value, as an alert',
  },
  {
    removes: 'the state from a result',
    about: FINISH,
    from: /set "state" = 'applied'/,
    to: `set "state" = 'started'`,
    killedBy: 'runEffect answers the recorded result of an effect that was applied before, and does not call apply',
  },
  {
    removes: 'the state that was seen from a mark',
    about: MARK,
    from: /and "state" = 'started'/,
    to: '',
    killedBy: 'an answer of the probe is not written over what the owner wrote meanwhile',
  },
  {
    removes: 'the start that was seen from a mark',
    about: MARK,
    from: /and "claim" = \?/,
    to: `and ${ANY}`,
    killedBy: 'a mark compares: a start that another made while the probe was asked is asked about again',
  },
  {
    removes: 'the start that was seen from a strike',
    about: STRIKE,
    from: /and "claim" = \?/,
    to: `and ${ANY}`,
    killedBy: 'resolveEffect gives up on a start that changes at every try: somebody is at it',
  },
  {
    removes: 'the state that was seen from a strike',
    about: STRIKE,
    from: /and "state" = 'started'/,
    to: '',
    killedBy: 'an apply that did nothing does not strike what somebody knows to be applied',
  },
  {
    removes: 'the silence about an effect that is written already',
    about: INSERT_APPLIED,
    from: LOOK,
    to: 'where (1 = 1 or $1)',
    killedBy: 'a mark of what was never started gives way to a start that came meanwhile',
  },
  {
    removes: 'the start that came meanwhile',
    about: INSERT_APPLIED,
    from: OVER,
    to: 'insert or replace into $1 where (1 = 1 or $2)',
    killedBy: 'a mark of what was never started gives way to a start that came meanwhile',
  },
  ...(['task_id', 'effect', 'key'] as const).map((column) => ({
    removes: `the column ${column} from a read`,
    about: READ,
    from: new RegExp(`"${column}" = \\?`),
    to: ANY,
    killedBy:
      column === 'task_id'
        ? 'effects of different tasks are told apart'
        : 'runEffect tells effects of different names, letter case and trailing spaces apart',
  })),
  {
    removes: 'the task from an assessment',
    about: OF_TASK,
    from: /where "task_id" = \?/,
    to: `where ${ANY}`,
    killedBy: 'assessTransition tells a task without effects to be driven again: it was never started',
  },
  {
    removes: 'the state from the count',
    about: COUNT,
    from: /where "state" = 'started'/,
    to: '',
    killedBy: 'snapshot counts the effects whose end is not known, and counts no journal as null',
  },
];

test.for(MUTANTS)('SQL mutant: without $removes, a proof fails', async ({ about, from, to, killedBy }) => {
  const proof = proofs[killedBy];
  if (proof === undefined) throw new Error(`there is no proof ${killedBy}`);
  let mutated = 0;
  await using rig = await openRig({
    mutate: (text) => {
      if (!about.test(text)) return text;
      const mutant = text.replace(from, to);
      if (mutant !== text) mutated += 1;
      return mutant;
    },
  });
  await expect(proof(rig), killedBy).rejects.toThrow();
  expect(mutated).toBeGreaterThan(0);
});
