import { connect, createServer, type Server, type Socket } from 'node:net';

/** When a connection is cut: before the server had the statement, or after it had answered. */
export type Cut = 'before' | 'after';

/** A proxy in front of a server, which can drop connections. */
export interface Proxy {
  readonly port: number;
  /** Drops the connection on which the next matching statement is sent; resolves when that has happened. */
  cut(about: RegExp, when: Cut): Promise<void>;
  /** Accepts no connection any more, and drops those that there are. */
  fail(): void;
  /** Accepts connections again. */
  recover(): void;
  close(): Promise<void>;
}

interface Rule {
  readonly about: RegExp;
  readonly when: Cut;
  readonly done: () => void;
}

/** Stands in front of a port of this machine. `answered` tells from what the server sent whether it has done its work. */
export async function openProxy(port: number, answered: (reply: Buffer) => boolean): Promise<Proxy> {
  const rules: Rule[] = [];
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
    client.on('data', (sent) => {
      const text = sent.toString('latin1');
      const at = rules.findIndex(({ about }) => about.test(text));
      if (at >= 0) [cutting] = rules.splice(at, 1);
      if (cutting?.when === 'before') {
        drop();
        cutting.done();
      } else upstream.write(sent);
    });
    upstream.on('data', (reply) => {
      if (cutting === undefined) client.write(reply);
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
