import mysql from 'mysql2/promise';
import { Daemon, installed } from './daemon.js';
import type { Server } from './server.js';

/**
 * Starts a MariaDB of one's own, reached by a socket in its folder. Every commit is given to the system, not to the
 * disk: it outlives the server's process, which is what ends here.
 */
export async function privateMariadb(): Promise<Server> {
  const [install, mariadbd] = [installed('mariadb-install-db'), installed('mariadbd')];
  const daemon = new Daemon('mariadb');
  const { folder } = daemon;
  const socket = `${folder}/socket`;
  const ask = async (text: string): Promise<unknown> => {
    const connection = await mysql.createConnection({ socketPath: socket, user: 'root', rowsAsArray: true });
    const [rows] = await connection.query<mysql.RowDataPacket[][]>(text).finally(() => connection.end());
    return Array.isArray(rows) ? rows[0]?.[0] : undefined;
  };
  try {
    const data = [`--datadir=${folder}/data`, '--innodb-log-file-size=16M'];
    daemon.run([install, '--no-defaults', ...data, '--auth-root-authentication-method=normal', '--skip-test-db']);
    const light = ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=32M', '--skip-log-bin'];
    const own = [`--socket=${socket}`, `--pid-file=${folder}/pid`, '--skip-networking'];
    await daemon.start([mariadbd, '--no-defaults', ...data, ...light, ...own], () => ask('select 1'));
    await ask('create database torture');
    return {
      name: `MariaDB ${String(await ask('select version()'))}`,
      address: { dialect: 'mysql', socket },
      restart: (ending) => daemon.restart(ending === 'crash' ? 'SIGKILL' : 'SIGTERM', () => ask('select 1')),
      remove: () => daemon.remove(),
    };
  } catch (error) {
    await daemon.remove();
    throw error;
  }
}
