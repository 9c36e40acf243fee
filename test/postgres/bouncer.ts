import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The version of PgBouncer here, as one number; 0 if there is none. */
export const bouncerVersion: number = (() => {
  const { stdout } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return major === undefined ? 0 : Number(major) * 1_000 + Number(minor);
})();

/** The first version that keeps prepared statements in transaction mode. */
export const KEEPS_PREPARED = 1_021;

/** PgBouncer in transaction mode before a database of two sessions, which see a schema. */
export class Bouncer implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(url: string, folder: string, running: ChildProcess) {
    this.url = url;
    this.#folder = folder;
    this.#process = running;
  }

  static async before(server: string, schema: string): Promise<Bouncer> {
    const { hostname, port, pathname, username, password } = new URL(server);
    const folder = mkdtempSync(join(tmpdir(), 'ownership-bouncer-'));
    chmodSync(folder, 0o755);
    const listening = await freePort();
    const keeps = bouncerVersion >= KEEPS_PREPARED ? 'max_prepared_statements = 200' : '';
    const target = `host=${hostname} port=${port || 5432} dbname=${pathname.slice(1)} user=${username}`;
    const secret = password === '' ? '' : ` password=${password}`;
    const settings = join(folder, 'pgbouncer.ini');
    writeFileSync(
      settings,
      `[databases]
bounced = ${target}${secret} pool_size=2 connect_query='set search_path = ${schema}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listening}
unix_socket_dir =
auth_type = any
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
${keeps}
`,
    );
    // It refuses to run as root.
    const as = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const running = spawn('pgbouncer', ['-q', ...as, settings], { stdio: 'ignore' });
    await answers(listening);
    return new Bouncer(`postgres://${username}@127.0.0.1:${listening}/bounced`, folder, running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(
        () => true,
        () => false,
      ),
    ]);
    socket.destroy();
    if (open) return;
    await setTimeout(25);
  }
  throw new Error('PgBouncer does not answer');
}
