import { dialectSuite, handlerSuite, memoryStore, sqliteFileStore } from 'transition-ownership/testing';
import { afterAll, describe, test } from 'vitest';
import { cloud, eventually, invariant, machine } from './deploy.js';

const level = { maxSchedules: 15 };

handlerSuite(
  { describe, test, afterAll },
  { store: () => sqliteFileStore(), level, outside: () => ({ cloud: cloud(true) }), machine, invariant, eventually },
);

dialectSuite({ describe, test, afterAll }, { store: () => memoryStore(), level });
