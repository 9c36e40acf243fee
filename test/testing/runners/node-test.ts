import { after, describe, test } from 'node:test';
import { define } from './suite.js';

define({ describe, test, after });
