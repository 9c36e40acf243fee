import { Kysely, MysqlDialect, sql } from 'kysely';
import { type ConnectionOptions, createPool, type Pool, type PoolOptions } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { type ContractStore, type ContractTables, ownName, serverUrl } from '../store.js';

const { url, missing } = serverUrl('TEST_MYSQL_URL');

/** The types of the caller's columns on MySQL and MariaDB: text in the usual collation, which sees no case. */
export const mysqlColumns = {
  integer: 'bigint',
  text: 'varchar(255)',
  exact:
    'varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */',
  instant: 'datetime(3)',
} as const;

/** How a database of the server is reached. */
export function mysqlAddress(database?: string): ConnectionOptions {
  const { hostname, port, username, password } = new URL(url);
  return {
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...(database !== undefined && { database }),
  };
}

/** Opens a pool, each of whose sessions begins with some statements. */
export function mysqlPool(database: string, options: PoolOptions = {}, begin: readonly string[] = []): Pool {
  const pool = createPool({ ...mysqlAddress(database), connectionLimit: 4, ...options });
  pool.on('connection', (connection) => {
    for (const text of begin) connection.query(text);
  });
  return pool;
}

/** Makes the databases of a test, empty. */
export async function makeDatabases(...databases: readonly string[]): Promise<() => Promise<void>> {
  const run = async (texts: readonly string[]): Promise<void> => {
    const connection = await createConnection(mysqlAddress());
    for (const text of texts) await connection.query(text);
    await connection.end();
  };
  const drop = databases.map((database) => `drop database if exists ${database}`);
  await run([...drop, ...databases.map((database) => `create database ${database}`)]);
  return () => run(drop);
}

function mysqlBy(name: string, place: string, options: PoolOptions, begin: readonly string[] = []): ContractStore {
  const database = ownName(place);
  return {
    name,
    missing,
    columns: mysqlColumns,
    utc: (column) => sql<string>`cast(${column} as char)`,
    schema: `${database}_other`,
    open: async () => {
      const drop = await makeDatabases(database, `${database}_other`);
      return {
        connect: (log) =>
          new Kysely<ContractTables>({
            dialect: new MysqlDialect({ pool: mysqlPool(database, options, begin) }),
            log: ({ query }) => log(query.sql),
          }),
        close: drop,
      };
    },
  };
}

/** MySQL or MariaDB by mysql2, as it comes: it counts the rows that matched. */
export const mysql = mysqlBy('MySQL by mysql2', 'contract', {});

/** The same, counting the rows that changed: a write that changes nothing looks like one that met nothing. */
export const mysqlChangedRows = mysqlBy('MySQL by mysql2 without FOUND_ROWS', 'contract_changed', {
  flags: ['-FOUND_ROWS'],
});

/** The same in sessions that leave nothing as it comes. */
export const mysqlElsewhere = mysqlBy(
  'MySQL by mysql2, serializable, lenient and in another zone',
  'contract_elsewhere',
  {},
  ["set time_zone = '-09:30', sql_mode = 'ANSI_QUOTES'", 'set session transaction isolation level serializable'],
);
