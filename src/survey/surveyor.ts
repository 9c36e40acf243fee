import { err, ok, type Result } from 'neverthrow';
import type { Context, Part, Settings, Surveys } from '../context.js';
import { unsuitable } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { type Finding, finding } from '../core/finding.js';
import { type ColumnsFound, columnsAsSaid } from '../sql/columns-found.js';
import type { Session } from '../sql/session.js';
import { readSurvey, type Survey } from './read-survey.js';
import { wantedTables } from './wanted.js';

/** A verb that is refused looks again, but not more often than this, in ms. */
const LOOK_AGAIN_MS = 5_000;

const FILE_REPLACED = finding(
  'file-replaced',
  'error',
  'The path of the database names another file than the one that is open, and others own there what is owned here: stop, and open it again.',
);

/** Keeps what was found for an ownership, looks again where it refuses, and reports each finding once. */
export class Surveyor implements Surveys {
  readonly #context: () => Context;
  readonly #reported = new Set<string>();
  #survey: Survey | undefined;
  #columns: ColumnsFound;
  #flight: Promise<Result<Survey, StoreFailure>> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** The file as it was first seen, and whether another stands there now. */
  #file: { readonly path: string; readonly identity: string } | undefined;
  #isReplaced = false;
  #hasErrors = false;

  /** The context is asked for when it is needed, for it holds this. */
  constructor(context: () => Context, { timeFormat }: Pick<Settings, 'timeFormat'>) {
    this.#context = context;
    this.#columns = columnsAsSaid(timeFormat);
  }

  get columns(): ColumnsFound {
    return this.#columns;
  }

  suits(parts: readonly Part[]): boolean {
    if (this.#isOff()) return true;
    if (this.#survey === undefined) return false;
    return (!this.#isReplaced && !this.#hasErrors) || this.#refusing(parts).length === 0;
  }

  async look(session: Session, parts: readonly Part[]): Promise<StoreFailure | undefined> {
    const nowMs = session.clock.monotonicMs();
    if (this.#survey === undefined || nowMs - this.#askedAtMs >= LOOK_AGAIN_MS) {
      this.#askedAtMs = nowMs;
      const looked = await this.take(session);
      if (looked.isErr()) return looked.error;
      this.report(looked.value);
    }
    return this.#against(this.#refusing(parts));
  }

  against(parts: readonly Part[]): StoreFailure | undefined {
    return this.#against(this.#refusing(parts).filter(({ table }) => table !== undefined));
  }

  #against([first, ...others]: readonly Finding[]): StoreFailure | undefined {
    return first === undefined ? undefined : unsuitable([first, ...others]);
  }

  async take(session: Session): Promise<Result<readonly Finding[], StoreFailure>> {
    const shared = this.#flight;
    const others = shared && (await shared);
    // What failed in another session may work in this one.
    const taken = others?.isOk() ? others : await this.#fly(session);
    if (taken.isErr()) return err(taken.error);
    this.fileReplaced();
    return ok(this.#with(taken.value.findings));
  }

  report(findings: readonly Finding[]): void {
    for (const { code, severity, message, table = null } of findings) {
      if (this.#reported.has(message)) continue;
      this.#reported.add(message);
      this.#context().observer.emit('survey.found', { code, level: severity, table, message });
    }
  }

  fileReplaced(): StoreFailure | undefined {
    if (this.#file === undefined || this.#isOff()) return undefined;
    const now = this.#context().ports.files.identity(this.#file.path);
    this.#isReplaced = now !== null && now !== this.#file.identity;
    if (!this.#isReplaced) return undefined;
    this.report([FILE_REPLACED]);
    return this.#context().settings.survey === 'refuse' ? unsuitable([FILE_REPLACED]) : undefined;
  }

  #fly(session: Session): Promise<Result<Survey, StoreFailure>> {
    const flight = readSurvey(this.#context(), session)
      .then((read) => {
        if (read.isOk()) this.#keep(read.value);
        return read;
      })
      .finally(() => {
        if (this.#flight === flight) this.#flight = undefined;
      });
    this.#flight = flight;
    return flight;
  }

  #keep(survey: Survey): void {
    const { files } = this.#context().ports;
    if (survey.file !== undefined && this.#file === undefined) {
      const identity = files.identity(survey.file);
      if (identity !== null) this.#file = { path: survey.file, identity };
    }
    if (this.#isOff()) return;
    this.#survey = survey;
    this.#hasErrors = survey.findings.some(({ severity }) => severity === 'error');
    this.#columns = survey.columns;
  }

  #with(findings: readonly Finding[]): readonly Finding[] {
    return this.#isReplaced ? [FILE_REPLACED, ...findings] : findings;
  }

  #refusing(parts: readonly Part[]): readonly Finding[] {
    const { settings, ports } = this.#context();
    if (settings.survey !== 'refuse') return [];
    const tables = wantedTables(settings, ports.identity)
      .filter(({ part }) => parts.includes(part))
      .map(({ name }) => name);
    return this.#with(this.#survey?.findings ?? []).filter(
      ({ severity, table }) => severity === 'error' && (table === undefined || tables.includes(table)),
    );
  }

  #isOff(): boolean {
    return this.#context().settings.survey === 'off';
  }
}
