import { connect, createServer, type Server, type Socket } from 'node:net';

/** When a connection is cut: before the server had the statement, or after it had answered. */
export type Cut = 'before' | 'after';

/** A proxy in front of a server, which can drop connections. */
export interface Proxy {
  readonly port: number;
  /** Drops the connection on which the next matching statement is sent; resolves when that has happened. */
  cut(about: RegExp, when: Cut): Promise<void>;
  /**
   * Stops forwarding on the connection on which the next matching statement is sent: it never reaches the server, or its
   * reply never comes back. Resolves when that has happened.
   */
  hang(about: RegExp, when: Cut): Promise<void>;
  /** Forwards what was kept back, and all that comes. */
  resume(): void;
  /** Accepts no connection any more, and drops those that there are. */
  fail(): void;
  /** Accepts connections again. */
  recover(): void;
  close(): Promise<void>;
}

interface Rule {
  readonly about: RegExp;
  readonly when: Cut;
  /** What forwards what is kept back from then on; a connection that is not kept back is dropped. */
  readonly kept?: (() => void)[];
  readonly done: () => void;
}

/** Stands in front of a port of this machine. `answered` tells from what the server sent whether it has done its work. */
export async function openProxy(port: number, answered: (reply: Buffer) => boolean): Promise<Proxy> {
  const rules: Rule[] = [];
  const kept: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let failing = false;

  const server: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const drop = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', drop);
      socket.on('close', () => {
        sockets.delete(socket);
        drop();
      });
    }
    if (failing) {
      drop();
      return;
    }
    let cutting: Rule | undefined;
    const forwardLater = (forward: () => void): void => {
      cutting?.done();
      if (kept.includes(forwardAll)) later.push(forward);
      else {
        later = [forward];
        kept.push(forwardAll);
      }
    };
    let later: (() => void)[] = [];
    const forwardAll = (): void => {
      cutting = undefined;
      for (const forward of later) forward();
    };
    client.on('data', (sent) => {
      const text = sent.toString('latin1');
      const at = rules.findIndex(({ about }) => about.test(text));
      if (at >= 0) [cutting] = rules.splice(at, 1);
      if (cutting?.kept !== undefined && cutting.when === 'before') forwardLater(() => upstream.write(sent));
      else if (cutting?.when === 'before') {
        drop();
        cutting.done();
      } else upstream.write(sent);
    });
    upstream.on('data', (reply) => {
      if (cutting === undefined) client.write(reply);
      else if (cutting.kept !== undefined) forwardLater(() => client.write(reply));
      else if (answered(reply)) {
        drop();
        cutting.done();
      }
    });
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy listens on a port');
  const dropAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    cut: (about, when) =>
      new Promise((done) => {
        rules.push({ about, when, done });
      }),
    hang: (about, when) =>
      new Promise((done) => {
        rules.push({ about, when, done, kept });
      }),
    resume: () => {
      for (const forwardAll of kept.splice(0)) forwardAll();
    },
    fail: () => {
      failing = true;
      dropAll();
    },
    recover: () => {
      failing = false;
    },
    close: () => {
      dropAll();
      return new Promise((closed) => {
        server.close(() => closed());
      });
    },
  };
}
