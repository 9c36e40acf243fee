import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, Kysely } from 'kysely';
import { onTestFinished } from 'vitest';
import { ConnectionQueue } from '../../src/sql/connection-queue.js';
import type { Place } from '../../src/sql/waiting.js';
import { systemClock } from '../../src/system/clock.js';
import { beforeEachStatement } from '../rig/driver.js';
import type { Opener } from './openers.js';

/** What a statement, or a pair, gave: its rows, or the code of its failure. */
export type Told = readonly unknown[] | string;

/** How a group is made. */
export interface GroupOptions {
  readonly open: Opener['open'];
  readonly log?: () => void;
}

/** A file with a table that can fail in every way, the queue in front of it, and all that the driver is sent. */
export class Group {
  readonly db: Kysely<object>;
  readonly queue = new ConnectionQueue();
  readonly place: Place;
  readonly path: string;
  readonly #sent: string[] = [];

  constructor({ open, log }: GroupOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'ownership-'));
    this.path = join(folder, 'group.sqlite');
    const stop = beforeEachStatement((sql) => void this.#sent.push(sql));
    this.db = new Kysely<object>({ dialect: open(this.path), ...(log && { log }) });
    this.place = { database: this.db, clock: systemClock, busyWaitMs: 5_000 };
    onTestFinished(async () => {
      stop();
      await this.db.destroy();
      rmSync(folder, { recursive: true });
    });
  }

  /** Makes the tables, and forgets what was sent for that. */
  async fill(): Promise<this> {
    for (const text of TABLES) await this.db.executeQuery(CompiledQuery.raw(text));
    this.#sent.length = 0;
    return this;
  }

  /** What was sent to the driver since. */
  get sent(): readonly string[] {
    return this.#sent;
  }

  send(sql: string, ...parameters: unknown[]): Promise<Told> {
    return told(this.queue.send(this.place, () => CompiledQuery.raw(sql, parameters)));
  }

  sendPair(first: string, second: string): Promise<Told> {
    const [query, whereChanged] = [CompiledQuery.raw(first), CompiledQuery.raw(second)];
    return told(this.queue.sendPair(this.place, { query, whereChanged }));
  }

  async rows(): Promise<readonly unknown[]> {
    return (await this.db.executeQuery(CompiledQuery.raw('select id, value from item order by id'))).rows;
  }
}

const TABLES = [
  'create table item (id integer primary key, value integer not null check (value < 100))',
  'create table owner (id integer primary key)',
  'create table part (id integer primary key, owner integer references owner (id) deferrable initially deferred)',
  'pragma foreign_keys = on',
  `create trigger takes_back before insert on item when new.value = 13 begin select raise(rollback, 'thirteen'); end`,
  `create trigger fails before insert on item when new.value = 14 begin select raise(abort, 'fourteen'); end`,
];

async function told(sent: Promise<unknown>): Promise<Told> {
  try {
    const result = await sent;
    if (result === 'elsewhere' || result === undefined) return String(result);
    return (result as { readonly rows: readonly unknown[] }).rows;
  } catch (cause) {
    const { cause: own } = cause as Error;
    return (own instanceof Error ? own : (cause as Error)).message;
  }
}
