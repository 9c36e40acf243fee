const { dialectSuite, handlerSuite, memoryStore, sqliteFileStore } = require('transition-ownership/testing');
const { cloud, ...deploy } = require('./deploy.js');

const level = { maxSchedules: 15 };

handlerSuite(
  { describe, test, afterAll },
  { store: () => sqliteFileStore(), level, outside: () => ({ cloud: cloud(true) }), ...deploy },
);

dialectSuite({ describe, test, afterAll }, { store: () => memoryStore(), level });
