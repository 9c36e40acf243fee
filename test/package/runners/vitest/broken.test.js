import { handlerSuite, sqliteFileStore } from 'transition-ownership/testing';
import { afterAll, describe, test } from 'vitest';
import { cloud, eventually, invariant, machine } from './deploy.js';

handlerSuite(
  { describe, test, afterAll },
  {
    store: () => sqliteFileStore(),
    level: { maxSchedules: 400 },
    outside: () => ({ cloud: cloud(false) }),
    machine,
    invariant,
    eventually,
  },
);
