import { type LeaseSnapshot, snapshot } from 'transition-ownership';
import { neverReject } from './failed.js';
import type { Ownership } from './mapping.js';
import { type Report, report } from './report.js';
import { counted, duration, owner, styled, table } from './text.js';

/** Who holds what. */
export async function status(leases: Ownership): Promise<Report> {
  const { at, leases: held } = await readLeases(leases);
  const attention = held.filter(wantsAttention).length;
  const text = held.length === 0 ? 'No one holds a transition.' : leaseTable(held);
  return report(attention > 0, text, { command: 'status', at, attention, leases: held });
}

/** Reads the leases as an outside observer judges them. */
export async function readLeases(leases: Ownership): Promise<{ at: string; leases: readonly LeaseSnapshot[] }> {
  return neverReject(await snapshot(leases), 'The leases cannot be read');
}

/** True of a lease whose owner is not plainly alive. */
export function wantsAttention({ verdict, reason }: LeaseSnapshot): boolean {
  return verdict !== 'live' || reason === 'clock-set-back';
}

const HEADS = ['task', 'token', 'actor', 'stage', 'run', 'owner', 'age', 'expires in', 'verdict', 'reason'];

function leaseTable(leases: readonly LeaseSnapshot[]): string {
  const rows = leases.map((lease) => {
    const style = lease.verdict === 'dead' ? 'red' : wantsAttention(lease) ? 'yellow' : 'green';
    return [
      lease.taskId,
      lease.fencingToken,
      lease.actor,
      lease.stage,
      lease.runId,
      owner(lease),
      duration(lease.ageMs),
      duration(lease.expiresInMs),
      styled(lease.verdict, style),
      styled(lease.reason, style),
    ];
  });
  const noted = leases.filter(wantsAttention).length;
  const tail = noted === 0 ? '' : ` ${noted} of them ${noted === 1 ? 'wants' : 'want'} attention: doctor explains.`;
  return `${table(HEADS, rows)}\n\n${counted(leases.length, 'lease')}.${tail}`;
}
