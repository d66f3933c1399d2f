/**
 * A failure that prevents a command from starting. The message is written for the user and shown without a stack trace.
 */
export class StartupFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupFailure';
  }
}

/** The database can be read but not written to, temporarily or permanently. */
export class ReadOnlyFailure extends StartupFailure {
  constructor(options?: ErrorOptions) {
    super(
      'The database is read-only: a standby, or one with default_transaction_read_only. Cueline must be able to write to it.',
      options,
    );
  }
}
