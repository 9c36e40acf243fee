import { createColors } from 'picocolors';
import type { Applied } from '../outside.js';

/** Prints the account of the demo: in colours on a terminal, plainly into a file or a pipe. */
export class Story {
  readonly #colors;
  readonly #write: (line: string) => void;
  #chapters = 0;

  constructor({ colors, write }: { colors: boolean; write: (line: string) => void }) {
    this.#colors = createColors(colors);
    this.#write = write;
  }

  title(text: string): void {
    this.#write(this.#colors.bold(text));
  }

  chapter(text: string): void {
    this.#chapters += 1;
    this.#write(`\n${this.#colors.bold(this.#colors.cyan(`${this.#chapters}. ${text}`))}`);
  }

  /** What the demo did to the system. */
  done(text: string): void {
    this.#line(this.#colors.yellow('did '), text);
  }

  /** What the library saw, and on what evidence. */
  seen(text: string): void {
    this.#line(this.#colors.magenta('saw '), text);
  }

  /** What came of it. */
  came(text: string): void {
    this.#line(this.#colors.green('came'), text);
  }

  heading(text: string): void {
    this.#write(`\n${this.#colors.bold(text)}`);
  }

  /** What the outside world's log has of one task: each step, with its token. */
  steps(steps: readonly Applied[]): void {
    const told = steps.map(({ effect, fencingToken }) => `${effect} (${fencingToken ?? 'no token'})`);
    this.#write(`   task ${steps[0]?.taskId ?? 'none'}  ${told.join(', ')}`);
  }

  /** One line of the lessons journal, without its time. */
  lesson(line: string): void {
    this.#write(`   ${line.slice(line.indexOf(' ') + 1)}`);
  }

  promise({ text, broken }: { text: string; broken: readonly string[] }): void {
    this.#line(broken.length === 0 ? this.#colors.green('kept  ') : this.#colors.red('BROKEN'), text);
    for (const how of broken) this.#write(`         ${this.#colors.red(how)}`);
  }

  #line(label: string, text: string): void {
    this.#write(`   ${label}  ${text}`);
  }
}
