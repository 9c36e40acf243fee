import pg from 'pg';
import { Daemon, installed, versions } from './daemon.js';
import type { Server } from './server.js';

/** Where a private PostgreSQL runs. */
export interface PostgresPlace {
  /** What stands before its programs on their command line: a network namespace, for instance. */
  readonly under?: readonly string[];
  /** Addresses that it listens on besides its socket. Default: none. */
  readonly listen?: string;
}

/** The programs of PostgreSQL; throws where they are not installed. */
export function postgresPrograms(): readonly [initdb: string, postgres: string] {
  const folders = versions('/usr/lib/postgresql', 'bin');
  return [installed('initdb', ...folders), installed('postgres', ...folders)];
}

/**
 * Starts a PostgreSQL of one's own, reached by a socket in its folder. It does not wait for the disk: what it has
 * committed outlives its processes, which is what ends here.
 */
export async function privatePostgres({ under = [], listen = '' }: PostgresPlace = {}): Promise<Server> {
  const [initdb, postgres] = postgresPrograms();
  const daemon = new Daemon('postgres', under);
  const { folder } = daemon;
  const ask = async (text: string): Promise<Readonly<Record<string, unknown>>> => {
    const client = new pg.Client({ host: folder, user: 'torture', database: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<Readonly<Record<string, unknown>>>(text).finally(() => client.end());
    return rows[0] ?? {};
  };
  try {
    daemon.run([
      initdb,
      '-D',
      `${folder}/data`,
      '-U',
      'torture',
      '--auth=trust',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ]);
    if (listen !== '') {
      daemon.run(['sh', '-c', `echo 'host all all all trust' >> '${folder}/data/pg_hba.conf'`]);
    }
    const options = ['fsync=off', 'full_page_writes=off', `listen_addresses=${listen}`];
    const line = [postgres, '-D', `${folder}/data`, '-k', folder, ...options.flatMap((option) => ['-c', option])];
    await daemon.start(line, () => ask('select 1'));
    const { server_version: version } = await ask('show server_version');
    return {
      name: `PostgreSQL ${String(version)}`,
      address: { dialect: 'postgres', folder },
      // Immediate: no session is asked, and the log is replayed at the next start. Fast: sessions are ended in order.
      restart: (ending) => daemon.restart(ending === 'crash' ? 'SIGQUIT' : 'SIGINT', () => ask('select 1')),
      remove: () => daemon.remove(),
    };
  } catch (error) {
    await daemon.remove();
    throw error;
  }
}
