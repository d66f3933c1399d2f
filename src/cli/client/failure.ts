/** Why a command did not do what was asked. The message is written for the user and shown alone, without a stack. */
export class CommandFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
  }
}

/** Whoever read standard output has gone, as `head` does: nothing is left to say to anyone. */
export class OutputClosed extends CommandFailure {
  constructor(cause: Error) {
    super('Standard output is closed.', { cause });
    this.name = 'OutputClosed';
  }
}
