import { dialectSuite, Failure } from 'transition-ownership/testing';
import { type Proof, said } from './proof.js';
import type { Scratch } from './scratch.js';

/** The rules of `dialectSuite`, one after another, each for its share of the time. */
export async function proveContract(
  scratch: Scratch,
  { level, forMs }: { readonly level: string; readonly forMs: number },
): Promise<Proof[]> {
  const tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  const after: (() => Promise<void>)[] = [];
  let note = '';
  const runner = {
    describe: (_: string, define: () => void) => define(),
    test: (name: string, run: () => Promise<void>) => tests.push({ name, run }),
    afterAll: (run: () => Promise<void>) => after.push(run),
    note: (line: string) => (note = line.slice(line.indexOf(': ') + 2).replaceAll('\n', ' ')),
  };
  // Ten rules share the time.
  dialectSuite(runner, { store: () => scratch.store(level), level: { maxMs: Math.max(forMs / 10, 500) } });
  const proofs: Proof[] = [];
  for (const { name, run } of tests) {
    note = '';
    try {
      await run();
      proofs.push({ name, result: note.includes('every one') ? 'proved' : 'held', detail: note });
    } catch (error) {
      const detail = said(error);
      if (!(error instanceof Failure)) proofs.push({ name, result: 'not-tried', detail });
      // Its fault was not met in the few orders that there was time for.
      else if (detail.startsWith('vacuous'))
        proofs.push({ name, result: 'not-tried', detail: 'there was too little time' });
      else proofs.push({ name, result: 'broken', detail });
    }
  }
  for (const close of after) await close().catch(() => undefined);
  return proofs;
}
