import { appendFileSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import { say } from './line.js';
import type { Orchestrator } from './orchestrator.js';
import type { Setup } from './setup.js';

/** Every listener on the process, by event. */
export function listeners(): string[] {
  return process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`);
}

/** What a test does to a process, its connection and its disk, past the library. */
export function processOf(setup: Setup, { db, gate }: Orchestrator, listenersBefore: readonly string[]) {
  let longestGapMs = 0;
  return {
    query: async ({ text }: { text: string }) => (await sql.raw(text).execute(db)).rows,
    destroy: () => db.destroy(),
    /** How many statements there were. */
    statements: async () => gate.count,
    /** How many of them were to change rows, a second try counted as a second. */
    writes: async () => gate.writes,
    /** Lets the parked statement go on. */
    proceed: async () => gate.proceed(),

    /** Every listener on the process, before the library was there and now. */
    listeners: async () => ({ before: listenersBefore, now: listeners() }),
    async listenTo({ signal }: { signal: NodeJS.Signals }) {
      process.on(signal, () => say({ said: signal }));
    },

    /** Watches how long the event loop stands at most. */
    async watchLoop() {
      let last = performance.now();
      longestGapMs = 0;
      setInterval(() => {
        const now = performance.now();
        longestGapMs = Math.max(longestGapMs, now - last);
        last = now;
      }, 5).unref();
    },
    longestGapMs: async () => longestGapMs,

    /** Fills the file system to the last byte, or makes room again. */
    async fillDisk({ full }: { full: boolean }) {
      const filler = `${setup.file}.filler`;
      if (!full) {
        rmSync(filler);
        return null;
      }
      for (;;) {
        try {
          appendFileSync(filler, Buffer.alloc(4_096));
        } catch (error) {
          return (error as NodeJS.ErrnoException).code;
        }
      }
    },

    /** Goes on as a user who may signal nobody else's process. */
    async becomeNobody() {
      process.setgid?.(65_534);
      process.setuid?.(65_534);
    },
    /** What signal 0 to a process answers. */
    async signalZero({ pid }: { pid: number }) {
      try {
        process.kill(pid, 0);
        return 'sent';
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    },
  };
}
