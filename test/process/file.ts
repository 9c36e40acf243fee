import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach } from 'vitest';

const folders: string[] = [];
const looks: Look[] = [];

afterEach(() => {
  for (const look of looks.splice(0)) look.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The path of a file that does not exist yet, in shared memory where the system has that; gone after the test. */
export function newPath(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'processes-'));
  folders.push(folder);
  return join(folder, 'orchestrator.sqlite');
}

/** The lease table of the first shape: seven columns, the task its key. */
export const firstShape = `create table transition_lease (task_id integer primary key, owner text not null,
  owner_pid integer, owner_boot_id text, run_id integer, stage text, acquired_at text not null default (datetime('now')))`;

/** The tables of the orchestrator; a trigger keeps an account of every stage write that was committed. */
const tables = `
  create table tasks (id integer primary key, stage text not null, count integer not null default 0, note text);
  create table jobs (id integer primary key, task_id integer, status text not null, run_id integer, pid integer,
    started_at text);
  create table account (id integer primary key, task integer not null, was text not null, is_now text not null);
  create trigger kept after update of stage on tasks begin
    insert into account (task, was, is_now) values (new.id, old.stage, new.stage);
  end`;

/** The test's own view of a file, past the library. */
export class Look {
  readonly path: string;
  readonly #database: Database.Database;

  constructor(path: string) {
    this.path = path;
    this.#database = new Database(path, { timeout: 1_000 });
    this.#database.pragma('journal_mode = wal');
    looks.push(this);
  }

  run(sql: string): void {
    this.#database.exec(sql);
  }

  rows(sql: string): unknown[] {
    return this.#database.prepare(sql).all();
  }

  /** A file with the same contents. */
  copy(): Look {
    const path = newPath();
    if (existsSync(`${this.path}.effects`)) copyFileSync(`${this.path}.effects`, `${path}.effects`);
    this.run(`vacuum into '${path}'`);
    return new Look(path);
  }

  /** So many jobs in the queue. */
  queue(jobs: number, columns = '', values = ''): void {
    for (let id = 1; id <= jobs; id += 1) {
      this.run(`insert into jobs (id, task_id, status${columns}) values (${id}, ${id}, 'queued'${values})`);
    }
  }

  leases(): unknown[] {
    return this.rows('select task_id, owner, fencing_token from transition_lease order by task_id');
  }

  task(id = 1): unknown {
    return this.#database.prepare('select stage, count from tasks where id = ?').get(id);
  }

  /** Every stage write that was ever committed. */
  account(): unknown[] {
    return this.rows('select task, was, is_now from account order by id');
  }

  /** Every time that the outside step was taken. */
  effects(): string[] {
    const path = `${this.path}.effects`;
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }

  close(): void {
    this.#database.close();
  }
}

/** A new file with the tables of the orchestrator and its tasks, all in stage `deploy`. */
export function newFile(tasks = 1): Look {
  const look = new Look(newPath());
  look.run(tables);
  for (let id = 1; id <= tasks; id += 1) look.run(`insert into tasks (id, stage) values (${id}, 'deploy')`);
  return look;
}
