import { type Order, readArguments } from './arguments.js';
import { openDatabase, withoutSecrets } from './database.js';
import { doctor } from './doctor.js';
import { Failed, Misused } from './failed.js';
import { HELP } from './help.js';
import { ownershipOver, type Part, readMapping } from './mapping.js';
import { partsOf } from './parts.js';
import { recover } from './recover.js';
import { release } from './release.js';
import type { Code, Report } from './report.js';
import { sanitize } from './sanitize.js';
import { status } from './status.js';
import { printable } from './text.js';
import { ui } from './ui.js';
import { watch } from './watch.js';

/** Runs one command line, and returns how it ended. */
export async function run(line: readonly string[]): Promise<Code> {
  if (line.includes('--help') || line.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  let order: Order | undefined;
  try {
    order = readArguments(line);
    return await obey(order);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    complain(message, order);
    if (error instanceof Misused) process.stderr.write('See: npx transition-ownership --help\n');
    return 2;
  }
}

async function obey(order: Order): Promise<Code> {
  const { command, dryRun, thisHost, config } = order;
  if (command === 'verify') {
    // The rules and the kit are much, and no other command needs them.
    const { verify } = await import('./verify/verify.js');
    return tell(order, await verify(order, (line) => process.stderr.write(`${printable(line)}\n`)));
  }
  const mapping = readMapping(order);
  if (command === 'sanitize' && mapping.jobs === undefined) throw new Failed(`${String(config)} has no jobs.`);
  const writing =
    command === 'release' || command === 'ui' || ((command === 'sanitize' || command === 'recover') && !dryRun);
  const db = await openDatabase(order, writing);
  const over = (parts: readonly Part[]) => ownershipOver(db, order, mapping, parts);
  try {
    over(['jobs', 'effects']); // A mapping that cannot be is reported whatever was ordered.
    const leases = over([]);
    switch (command) {
      case 'status':
        return tell(order, await status(leases));
      case 'watch':
        return await watch(() => status(leases), order.everyMs, {
          report: (report) => {
            if (!order.json) process.stdout.write(process.stdout.isTTY ? CLEAR : `${new Date().toISOString()}\n`);
            tell(order, report);
          },
          failure: (message) => complain(message, order),
        });
      case 'doctor':
        return tell(
          order,
          await doctor({ kind: order.kind, mapping, mapped: config !== undefined, pidsCount: thisHost, over }),
        );
      case 'release':
        if (order.release === undefined) throw new Misused('release needs to know what to release.');
        return tell(order, await release(leases, mapping, order.release));
      case 'sanitize':
        return tell(order, await sanitize(over(['jobs']), dryRun));
      case 'recover':
        return tell(order, await recover(over(await partsOf(config !== undefined, over)), dryRun, thisHost));
      case 'ui':
        return await ui(over(await partsOf(config !== undefined, over)), order);
    }
  } finally {
    await db.destroy();
  }
}

/** To the top of the screen, and nothing below. */
const CLEAR = '\u001b[H\u001b[2J';

function tell(order: Order, { code, text, document, failures }: Report): Code {
  const told = failures && { failures: failures.map((failure) => withoutSecrets(failure, order)) };
  const written = order.json ? JSON.stringify({ ...document, ...told }, plainValue) : text;
  if (written !== '') process.stdout.write(`${written}\n`);
  for (const failure of failures ?? []) complain(failure, order);
  return code;
}

/** Ids that JSON has no numbers for are text. */
function plainValue(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function complain(message: string, order: Order | undefined): void {
  const told = order === undefined ? message : withoutSecrets(message, order);
  process.stderr.write(`transition-ownership: ${printable(told.replace(/\s*\n\s*/g, ' '))}\n`);
}
