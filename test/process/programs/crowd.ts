import { Kysely } from 'kysely';
import { acquireLease, createTransitionOwnership, updateStageCas } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { beforeEachStatement } from '../../rig/driver.js';
import { say } from '../child/line.js';
import { argument } from '../child/obey.js';

interface Tables {
  tasks: { id: number; stage: 'deploy' | 'done' };
}

/** What the crowd is to do, and the statement of the driver at which the process dies. */
export interface CrowdSetup {
  readonly file: string;
  readonly tasks: number;
  readonly dieAt: number;
}

const setup = argument() as CrowdSetup;
const db = new Kysely<Tables>({ dialect: openSqlite(setup.file) });
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  survey: 'off',
});

let sent = 0;
beforeEachStatement((sql) => {
  sent += 1;
  if (sent !== setup.dieAt) return;
  say({ said: 'dying', sql });
  process.kill(process.pid, 'SIGKILL');
  for (;;);
});

async function transition(taskId: number): Promise<void> {
  const lease = (await acquireLease(ownership, { taskId, actor: 'monitor', stage: 'deploy' }))._unsafeUnwrap();
  say({ said: 'acquired', taskId });
  const move = { taskId, expected: 'deploy', next: 'done', lease, release: true } as const;
  (await updateStageCas(ownership, move))._unsafeUnwrap();
  say({ said: 'moved', taskId });
}

await Promise.all(Array.from({ length: setup.tasks }, (_, at) => transition(at + 1)));
say({ said: 'survived', statements: sent });
