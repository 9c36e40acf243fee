import mysql from 'mysql2';
import pg from 'pg';
import { dialectSuite, memoryStore, mysqlStore, postgresStore, sqliteFileStore } from 'transition-ownership/testing';
import { afterAll, describe, test } from 'vitest';
import { mysqlServer, postgresServer } from '../servers/server.js';

const { TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;
const runner = { describe, test, afterAll };

describe('SQLite in memory', () => {
  dialectSuite(runner, { store: () => memoryStore(), level: { maxSchedules: 100 } });
});

describe('an SQLite file', () => {
  dialectSuite(runner, { store: () => sqliteFileStore(), level: { maxSchedules: 60 } });
});

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL', () => {
  const connect = async () => {
    const client = new pg.Client(TEST_POSTGRES_URL);
    await client.connect();
    return client;
  };
  dialectSuite(runner, { store: () => postgresStore({ connect }), level: { maxSchedules: 8 } });
});

describe.skipIf(mysqlServer.missing !== undefined)('MySQL or MariaDB', () => {
  const connect = () => mysql.createConnection(TEST_MYSQL_URL ?? '');
  dialectSuite(runner, { store: () => mysqlStore({ connect }), level: { maxSchedules: 8 } });
});
