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

/** The database was written by a version that this one cannot upgrade. Nothing has been changed. */
export class UnsupportedSchema extends StartupFailure {
  readonly #reason: string;

  /** @param place which database, and how to start with an empty one */
  constructor(reason: string, place?: { readonly database: string; readonly remedy: string }) {
    const { database, remedy } = place ?? {
      database: 'The database',
      remedy: 'use an empty database',
    };
    super(
      `${database} cannot be upgraded because ${reason}, and only databases of Cueline 0.2.0 and later, or of development versions from commit 0793ab16 (28 November 2026) on, can: ${remedy}.`,
    );
    this.#reason = reason;
  }

  at(database: string, remedy: string): UnsupportedSchema {
    return new UnsupportedSchema(this.#reason, { database, remedy });
  }
}
