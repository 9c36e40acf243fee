import { after, describe, test } from 'node:test';
import { dialectSuite, handlerSuite, memoryStore, sqliteFileStore } from 'transition-ownership/testing';
import { cloud, eventually, invariant, machine } from './deploy.js';

const level = { maxSchedules: 15 };

handlerSuite(
  { describe, test, after },
  { store: () => sqliteFileStore(), level, outside: () => ({ cloud: cloud(true) }), machine, invariant, eventually },
);

dialectSuite({ describe, test, after }, { store: () => memoryStore(), level });
