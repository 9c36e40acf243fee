import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import type { Order } from '../arguments.js';
import { Failed } from '../failed.js';
import { type Report, report } from '../report.js';
import { styled, table, textOf } from '../text.js';
import { proveContract } from './contract.js';
import { proveFence } from './fence.js';
import { type Proof, said } from './proof.js';
import { type Handle, openSite, scratchFor } from './scratch.js';
import { proveByTorture } from './torture.js';
import { makeTables } from './torture-tables.js';

/** Proves the library on the engine of the user, in a place of the tool's own that is gone afterwards. */
export async function verify(order: Order, tell: (line: string) => void): Promise<Report> {
  const scratch = scratchFor(order);
  const remove = () =>
    scratch.remove().catch((error: unknown) => tell(`${scratch.site.name} could not be dropped: ${said(error)}`));
  const interrupted = () => void remove().then(() => process.exit(2));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  let db: Handle | undefined;
  try {
    await scratch.make();
    db = await openSite(scratch.site, 2);
    const { engine, level } = await scratch.describe(db);
    tell(`${engine}, ${level}: about ${order.seconds} seconds, in ${scratch.site.name}, which is dropped afterwards.`);
    await makeTables(db);
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    const made = await ensureSchema(ownership);
    if (made.isErr()) throw new Failed(`The tables of the library cannot be made there: ${made.error.message}`);
    const forMs = order.seconds * 1_000;
    const proofs: Proof[] = [];
    for (const part of [
      () => proveFence(scratch),
      () => proveContract(scratch, { level, forMs: forMs * 0.55 }),
      () => proveByTorture(scratch, { db: db as Handle, forMs: forMs * 0.35 }),
    ]) {
      const found = await part();
      for (const { name, result } of found) tell(`${WORDS[result].padEnd(9)}  ${name}`);
      proofs.push(...found);
    }
    return shown({ engine, level, proofs });
  } catch (error) {
    throw error instanceof Failed ? error : new Failed(`The engine cannot be tried: ${said(error)}`);
  } finally {
    await db?.destroy();
    await remove();
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  }
}

const WORDS = { proved: 'proved', held: 'held', broken: 'BROKEN', 'not-tried': 'not tried' } as const;
const STYLES = { proved: 'green', held: 'green', broken: 'red', 'not-tried': 'yellow' } as const;

/** What a minute on one machine cannot show, whatever it found. */
const BEYOND = 'It says nothing of a failover, a restore, a partition, or a clock that is set back.';

interface Found {
  readonly engine: string;
  readonly level: string;
  readonly proofs: readonly Proof[];
}

function shown({ engine, level, proofs }: Found): Report {
  const rows = proofs.map(({ name, result, detail }) => [styled(WORDS[result], STYLES[result]), name, detail]);
  const count = (result: Proof['result']) => proofs.filter((proof) => proof.result === result).length;
  const [broken, untried] = [count('broken'), count('not-tried')];
  const end = `${count('proved')} proved in every order, ${count('held')} held as far as tried, ${broken} broken, ${untried} not tried.`;
  const text = textOf([`${engine}, ${level}`, '', table(['result', 'what', 'seen'], rows), '', end, BEYOND]);
  return report(broken + untried > 0, text, { command: 'verify', engine, level, proofs });
}
