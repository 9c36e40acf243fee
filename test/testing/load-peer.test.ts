import { describe, expect, test } from 'vitest';
import { loadPeer } from '../../src/testing/store/load-peer.js';

const refused = (code: string) => () => Promise.reject(Object.assign(new TypeError('refused'), { code }));

describe('loadPeer', () => {
  test('imports the peer', async () => {
    const peer = { here: true };
    expect(await loadPeer('anything', () => Promise.resolve({ default: peer }))).toBe(peer);
  });

  test('requires it where a sandbox refuses to import, whether or not it has a default export', async () => {
    const codes = ['ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING', 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG'];
    for (const code of codes) {
      expect(await loadPeer('better-sqlite3', refused(code))).toBeTypeOf('function');
      expect(await loadPeer('fast-check', refused(code))).toHaveProperty('asyncProperty');
    }
  });

  test('says so if the peer is not there', async () => {
    await expect(loadPeer('nowhere', refused('ERR_MODULE_NOT_FOUND'))).rejects.toThrow('refused');
  });
});
