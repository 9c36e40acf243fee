const { handlerSuite, sqliteFileStore } = require('transition-ownership/testing');
const { cloud, ...deploy } = require('./deploy.js');

handlerSuite(
  { describe, test, afterAll },
  {
    store: () => sqliteFileStore(),
    level: { maxSchedules: 400 },
    outside: () => ({ cloud: cloud(false) }),
    ...deploy,
  },
);
