/** One connection to a server, and what must be known of it. */
export interface Session {
  /** How the server calls it. */
  readonly id: number;
  /** A transaction is open. */
  inTransaction: boolean;
  /** A statement is running. */
  busy: boolean;
  /** It was left in a state that the next user would notice: a setting, a lock of the session, a temporary table. */
  spoilt: boolean;
}

/** What a kind of server must know how to do. */
export interface Server<S extends Session> {
  /** Opens one more connection. */
  open(): Promise<S>;
  /** Ends a connection at the server, and returns when it is gone: an open transaction is then rolled back. */
  terminate(session: S): Promise<void>;
  /** Cancels the running statement. */
  cancel?(session: S): Promise<void>;
  /** Which of these wait for another's lock. */
  waiting(sessions: readonly S[]): Promise<ReadonlySet<number>>;
}

/**
 * The sessions of one simulated process: as many as it uses at once, as a pool would open.
 *
 * Opening one costs more than a schedule, so those of dead processes are used again, unless they were left in a state.
 */
export class ProcessSessions<S extends Session> {
  private readonly server: Server<S>;
  private readonly shelf: S[];
  private readonly mine: S[] = [];
  private readonly free: S[] = [];
  private opening: Promise<unknown> = Promise.resolve();
  private over = false;

  constructor(server: Server<S>, shelf: S[]) {
    this.server = server;
    this.shelf = shelf;
  }

  /** Takes one into use; opens it if need be. */
  async take(): Promise<S> {
    const kept = this.free.pop() ?? this.shelf.pop();
    if (kept !== undefined) return this.own(kept);
    const opened = this.server.open();
    this.opening = opened;
    return this.own(await opened);
  }

  /** Gives one back that its process has no more use for at the moment. */
  give(session: S): void {
    if (!this.over) this.free.push(session);
  }

  inTransaction(): boolean {
    return this.mine.some((session) => session.inTransaction);
  }

  async settled(): Promise<void> {
    await this.opening;
  }

  /** True if all that runs waits for a lock: then nothing of this process can end by itself. */
  async blocked(): Promise<boolean> {
    const running = this.mine.filter((session) => session.busy);
    if (running.length === 0) return false;
    const waiting = await this.server.waiting(running);
    return running.every((session) => waiting.has(session.id));
  }

  /** Cancels a statement that waits. */
  async cancel(): Promise<void> {
    const running = this.mine.find((session) => session.busy);
    if (running !== undefined) await this.server.cancel?.(running);
  }

  async kill(): Promise<void> {
    if (this.over) return;
    this.over = true;
    for (const session of this.mine) {
      if (session.inTransaction || session.busy || session.spoilt) await this.server.terminate(session);
      else this.shelf.push(session);
    }
  }

  private own(session: S): S {
    if (!this.mine.includes(session)) this.mine.push(session);
    return session;
  }
}

/** Follows a session through the statements that are sent on it. */
export async function following<T>(session: Session, text: string, run: () => Promise<T>): Promise<T> {
  if (/^\s*(begin|start\s+transaction)\b/i.test(text)) session.inTransaction = true;
  if (/^\s*(set|listen|prepare|lock)\b|\btemp(orary)?\b|advisory_lock\b|\bget_lock\b/i.test(text))
    session.spoilt = true;
  session.busy = true;
  try {
    return await run();
  } finally {
    session.busy = false;
    if (/^\s*(commit|rollback|end)\b(?!\s+to\b)/i.test(text)) session.inTransaction = false;
  }
}

/** The first answer of a client. One that was never connected keeps statements for ever. */
export async function answering<T>(first: Promise<T>): Promise<T> {
  let limit: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const dead = () =>
      reject(
        new Error(
          `the client that \`connect\` returned does not reply: nothing came in ${firstReplyMs} ms. Is it connected?`,
        ),
      );
    limit = setTimeout(dead, firstReplyMs);
  });
  return Promise.race([first, silence]).finally(() => clearTimeout(limit));
}

const firstReplyMs = 5_000;

/** A name that no other store has: tables of parallel suites never meet. */
export const ownName = () => `simulated_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
