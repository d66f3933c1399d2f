/** An expected failure. The message is for the user and is printed without a stack trace. */
export class CommandFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
  }
}

/** The exit code of `cueline test` if an example could not be run: 1 is a failed one. */
export const couldNotRunCode = 2;

/** The command did its work, and its result is an exit code other than 0. Nothing more is printed. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`Exit code ${code}.`);
    this.name = 'Exit';
    this.code = code;
  }
}

/** The reader of standard output closed the pipe, as `head` does. Nothing is printed. */
export class OutputClosed extends CommandFailure {
  constructor(cause: Error) {
    super('Standard output is closed.', { cause });
    this.name = 'OutputClosed';
  }
}
