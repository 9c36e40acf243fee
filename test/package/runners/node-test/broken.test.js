import { after, describe, test } from 'node:test';
import { handlerSuite, sqliteFileStore } from 'transition-ownership/testing';
import { cloud, eventually, invariant, machine } from './deploy.js';

handlerSuite(
  { describe, test, after },
  {
    store: () => sqliteFileStore(),
    level: { maxSchedules: 400 },
    outside: () => ({ cloud: cloud(false) }),
    machine,
    invariant,
    eventually,
  },
);
