import type { Choice } from './choice.js';

/**
 * What was chosen, in four characters: who (`-` for the clock and the disk), then three of a hash of what it was.
 *
 * A token is made of these, so that it still says which steps are meant when other steps have come between them.
 */
export function moveOf(choice: Choice, nowMs: number): string {
  switch (choice.kind) {
    case 'step':
    case 'lost-reply':
      return mark(choice.by.index, `${choice.kind} ${choice.parked.kind}`, choice.parked.label);
    case 'failure':
      return mark(choice.by.index, `failure ${choice.id.split('.')[2] ?? ''}`, choice.parked.label);
    case 'kill': {
      const { victim } = choice;
      const points = [...victim.pending, ...victim.inFlight.map(({ parked }) => parked)];
      return mark(victim.index, 'kill', points.map(({ label }) => label).join(' | '));
    }
    case 'restart':
      return mark(choice.victim.index, 'restart', choice.samePid ? 'same' : 'another');
    case 'jump':
    case 'database-jump':
    case 'advance':
    case 'time-passes':
      return mark(-1, choice.kind, String(choice.toMs - nowMs));
    case 'disk-full':
    case 'disk-healed':
      return mark(-1, choice.kind, '');
  }
}

/** The character of a process in a move. */
export const moverOf = (index: number): string => (index < 0 ? '-' : (index % 36).toString(36));

const size = 36 ** 3;

function mark(index: number, kind: string, label: string): string {
  const mixed = Math.imul(hashOf(kind) ^ Math.imul(hashOf(label), 0x9e_37_79_b1), 0x85_eb_ca_6b) >>> 0;
  return moverOf(index) + (mixed % size).toString(36).padStart(3, '0');
}

/** Statements come again and again: each is read once. */
const hashes = new Map<string, number>();

function hashOf(text: string): number {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  let hash = 7;
  for (const character of text.replace(/\s+/g, ' '))
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  hashes.set(text, hash);
  return hash;
}
